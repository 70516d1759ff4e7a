#include "progress.h"

#include <lope/base/terminal.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::program {

void tell(std::FILE* file, const std::string& words) {
  std::fputs(words.c_str(), file);
  std::fflush(file);
}

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  const auto whole = std::lround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

ProgressLine::ProgressLine() : terminal_(is_terminal(stdout)) {}

void ProgressLine::show(const std::string& line, std::int64_t done, std::int64_t all) {
  since_last_ = {};
  if (!terminal_) {
    tell(stdout, line + "\n");
    return;
  }
  constexpr std::int64_t width = 24;
  const std::int64_t filled = done * width / all;
  tell(stdout, fmt::format("\r[{:=<{}}{:<{}}] {}\x1b[K{}", "", filled, "", width - filled, line, done == all ? "\n" : ""));
}

void ProgressLine::clear() const {
  if (terminal_) tell(stdout, "\r\x1b[K");
}

}  // namespace lope::program
