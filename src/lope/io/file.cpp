#include <lope/base/durable.h>
#include <lope/base/errors.h>
#include <lope/io/file.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace lope::io {
namespace fs = std::filesystem;

Expected<std::string> read_file(const fs::path& path, std::uint64_t largest) {
  const std::string name = path.string();
  std::error_code trouble;
  const fs::file_status status = fs::status(path, trouble);
  if (!fs::exists(status)) return input_error("{}: no such file; check the path", name);
  if (fs::is_directory(status)) return input_error("{}: is a folder; name a file in it", name);
  if (!fs::is_regular_file(status)) return input_error("{}: is not an ordinary file", name);
  const std::uint64_t size = fs::file_size(path, trouble);
  if (trouble) return input_error("{}: cannot be read: {}", name, trouble.message());
  if (size > largest) {
    return input_error("{}: has {} bytes, more than the {} accepted here", name, size, largest);
  }
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (!file) return input_error("{}: cannot be opened: {}", name, std::strerror(errno));
  std::string bytes;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    std::fclose(file);
    return environment_error("{}: not enough memory for its {} bytes", name, size);
  }
  const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return environment_error("{}: reading failed at byte {}", name, count);
  bytes.resize(count);  // shorter if the file shrank meanwhile
  return bytes;
}

tl::unexpected<Error> writing_error(const fs::path& path, int error_number) {
  const char* advice = "";
  if (error_number == ENOSPC) advice = "; free some space or choose another disk";
  if (error_number == EACCES || error_number == EROFS) advice = "; choose a folder you may write to";
  if (error_number == ENOENT) advice = "; create its folder first";
  return environment_error("{}: cannot be written: {}{}", path.string(), std::strerror(error_number), advice);
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), part_(path_) {
  part_ += ".part";
  file_ = std::fopen(part_.string().c_str(), "wb");
  if (!file_) remember_failure();
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::remember_failure() {
  if (failure_ == 0) failure_ = errno != 0 ? errno : EIO;
}

void AtomicFile::discard() {
  if (!file_) return;
  std::fclose(std::exchange(file_, nullptr));
  std::error_code ignored;
  fs::remove(part_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  if (failure_ != 0) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) remember_failure();
}

Expected<void> AtomicFile::commit() {
  if (failure_ == 0) {
    errno = 0;
    if (!flush_to_disk(file_)) remember_failure();
  }
  if (failure_ != 0) {
    discard();
    return writing_error(path_, failure_);
  }
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  std::error_code trouble(closed ? 0 : errno, std::generic_category());
  if (!trouble) fs::rename(part_, path_, trouble);
  if (trouble) {
    failure_ = trouble.value();
    std::error_code ignored;
    fs::remove(part_, ignored);
    return writing_error(path_, failure_);
  }
  return {};
}

Expected<void> write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  return file.commit();
}

Expected<void> make_directory(const fs::path& path) {
  std::error_code trouble;
  fs::create_directories(path, trouble);
  if (!trouble && !fs::is_directory(path, trouble))
    trouble = std::make_error_code(std::errc::not_a_directory);
  if (trouble) return writing_error(path, trouble.value());
  return {};
}

Expected<void> remove_path(const fs::path& path) {
  std::error_code trouble;
  fs::remove_all(path, trouble);
  if (trouble)
    return environment_error("{}: cannot be removed: {}; remove it yourself, or choose another folder",
                             path.string(), trouble.message());
  return {};
}

}  // namespace lope::io
