// Words for a user who waits for something that gives no sign of itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lope::program {

// While it lives: "WHAT … 2 s" to standard error after two seconds, and again every half minute.
class Patience {
 public:
  explicit Patience(std::string what);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  void tell();
  std::string what_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread teller_;  // none where the system gives no thread
};

}  // namespace lope::program
