#include <lope/base/identity.h>

#include <atomic>

namespace lope {

std::uint64_t new_identity() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

}  // namespace lope
