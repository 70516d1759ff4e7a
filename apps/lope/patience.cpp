#include "patience.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace lope::program {

Patience::Patience(std::string what) : what_(std::move(what)) {
  try {
    teller_ = std::thread([this] { tell(); });
  } catch (const std::system_error&) {
  }
}

Patience::~Patience() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
  if (teller_.joinable()) teller_.join();
}

void Patience::tell() {
  using namespace std::chrono;
  const auto begin = steady_clock::now();
  std::unique_lock lock(mutex_);
  for (seconds wait(2);; wait = seconds(30)) {
    if (over_changed_.wait_for(lock, wait, [this] { return over_; })) return;
    const auto elapsed = duration_cast<seconds>(steady_clock::now() - begin).count();
    std::fputs(fmt::format("{} … {} s\n", what_, elapsed).c_str(), stderr);
  }
}

}  // namespace lope::program
