#include <lope/base/paths.h>

#include <system_error>

namespace lope {

std::filesystem::path executable_path() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);  // Linux
  return failed ? std::filesystem::current_path() / "lope" : path;
}

}  // namespace lope
