// The log sink: the one global of the library. Rooms below apps/ speak through it and never print.
#pragma once

#include <functional>
#include <string_view>

#include <fmt/core.h>

namespace lope {

enum class LogLevel { Debug, Info, Warning };

using LogSink = std::function<void(LogLevel, std::string_view)>;

// Replaces the sink (none by default: messages are dropped). Not safe while other threads log.
void set_log_sink(LogSink sink);
void log_message(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::Warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lope
