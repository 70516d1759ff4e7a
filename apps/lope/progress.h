// How far something is, for whoever waits for it.
#pragma once

#include <lope/base/timer.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace lope::program {

// Words on the way of a run. A terminal that was closed must not end it before its checkpoint: failures are ignored.
void tell(std::FILE* file, const std::string& words);

// "42 s", "3:07 min", "1:02 h".
std::string duration_text(double seconds);

// One line on standard output that updates itself on a terminal; elsewhere, as in a log, plain lines.
class ProgressLine {
 public:
  ProgressLine();
  bool on_terminal() const { return terminal_; }
  // Whether as many seconds have passed since the last line.
  bool due(double pause) const { return since_last_.seconds() >= pause; }
  // `done` of `all`: the filled part of the bar on a terminal.
  void show(const std::string& line, std::int64_t done, std::int64_t all);
  // Takes the line off a terminal.
  void clear() const;

 private:
  bool terminal_;
  Stopwatch since_last_;
};

}  // namespace lope::program
