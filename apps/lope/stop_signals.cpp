#include "stop_signals.h"

#include <array>
#include <csignal>

#include <unistd.h>

namespace lope::program {
namespace {

constexpr std::array stopping{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t checkpoint_wanted = 0;
std::string_view told;

// Only calls that are safe in a signal handler; what cannot be told is not told.
void request_stop(int signal) {
  stop_signal = signal;
  std::signal(signal, SIG_DFL);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, told.data(), told.size());
}

void request_checkpoint(int) { checkpoint_wanted = 1; }

void handle(void (*on_stop)(int)) {
  for (const int signal : stopping) {
    const auto before = std::signal(signal, on_stop);
    if (signal == SIGHUP && before == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace

StopSignals::StopSignals(std::string_view promise) {
  told = promise;
  handle(request_stop);
  struct sigaction asked {};
  asked.sa_handler = request_checkpoint;
  asked.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &asked, nullptr);
}

StopSignals::~StopSignals() {
  handle(SIG_DFL);
  // A wish that comes too late does no harm.
  std::signal(SIGUSR1, SIG_IGN);
}

bool stop_requested() { return stop_signal != 0; }
bool checkpoint_requested() {
  const bool wanted = checkpoint_wanted != 0;
  checkpoint_wanted = 0;
  return wanted;
}
int stop_status() { return 128 + stop_signal; }

}  // namespace lope::program
