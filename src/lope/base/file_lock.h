// A lock on a file, which the operating system takes back from a process that ends, however it ends.
#pragma once

#include <lope/base/expected.h>

#include <filesystem>
#include <optional>

namespace lope {

class FileLock {
 public:
  // Locks `path`, an empty file that is made where there is none and stays afterwards. Nothing if somebody else holds the
  // lock, in this process or another. A file that cannot be made is an Environment error; on a disk that knows no locks
  // everybody gets one.
  static Expected<std::optional<FileLock>> take(const std::filesystem::path& path);

  // Whether somebody holds the lock now. Nothing is made where there is no file.
  static bool is_held(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

}  // namespace lope
