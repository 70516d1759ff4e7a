// Whole files: read at once, written atomically. A reader of `path` sees the old bytes or the new ones, never
// a half-written file: the bytes go to `path` + ".part" beside it, reach the disk, then take the name by a
// rename. Failures: a full disk, a missing folder or a missing permission is Trouble::Environment when
// writing; a file that is missing, a folder or too large is Trouble::Input when reading. Both name the path.
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace lope::io {

// All bytes of a regular file. Refuses one larger than `largest` bytes before allocating anything.
Expected<std::string> read_file(const std::filesystem::path& path, std::uint64_t largest = std::uint64_t(1)
                                                                                           << 37);

// Replaces the file by these bytes, or leaves it as it was.
Expected<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// write_file for bytes that come in portions. Without commit() the destination stays as it was.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Failures are remembered and reported by commit().
  void write(std::string_view bytes);
  Expected<void> commit();

 private:
  void remember_failure();
  void discard();

  std::filesystem::path path_;
  std::filesystem::path part_;
  std::FILE* file_ = nullptr;
  int failure_ = 0;  // errno of the first failure
};

// Creates a folder and its parents if they are not there.
Expected<void> make_directory(const std::filesystem::path& path);

// Removes a file, or a folder with all that is in it. Nothing there is no failure; what cannot be removed is
// Trouble::Environment.
Expected<void> remove_path(const std::filesystem::path& path);

// The Environment error for `path` and an errno: the sentence that a user sees, with advice for a full disk.
tl::unexpected<Error> writing_error(const std::filesystem::path& path, int error_number);

}  // namespace lope::io
