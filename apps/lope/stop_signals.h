// Ctrl-C and its kin: the first signal asks for a stop, a second one ends the program at once. SIGUSR1 asks for a checkpoint.
#pragma once

#include <string_view>

namespace lope::program {

// While it lives, SIGINT, SIGTERM, SIGHUP (of a terminal that is closed) and SIGUSR1 are requests. SIGHUP stays ignored where it was, as
// nohup wants. One at a time.
class StopSignals {
 public:
  // `promise`: what the user is told when the first signal comes. A literal.
  explicit StopSignals(std::string_view promise);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

// Whether a stop was asked for, by now or in a StopSignals that is no more.
bool stop_requested();
// Whether a checkpoint was asked for since this was asked last.
bool checkpoint_requested();
// What a shell gives for a program that the signal ended.
int stop_status();

}  // namespace lope::program
