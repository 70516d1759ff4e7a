#include <lope/base/log.h>

#include <mutex>
#include <utility>

namespace lope {
namespace {
LogSink& sink() {
  static LogSink the_sink;
  return the_sink;
}
std::mutex& sink_mutex() {
  static std::mutex mutex;
  return mutex;
}
}  // namespace

void set_log_sink(LogSink new_sink) {
  const std::scoped_lock lock(sink_mutex());
  sink() = std::move(new_sink);
}

void log_message(LogLevel level, std::string_view message) {
  const std::scoped_lock lock(sink_mutex());
  if (sink()) sink()(level, message);
}

}  // namespace lope
