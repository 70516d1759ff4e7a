#include <lope/base/memory.h>

#include <cstdio>
#include <cstring>

#include <sys/resource.h>

namespace lope {
namespace {

// Linux: getrusage() of a program started by another counts what its parent used before the start; the
// kernel's statistics of this address space do not. 0 where there are none.
double peak_of_address_space() {
  double kilobytes = 0;
  if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      if (std::strncmp(line, "VmHWM:", 6) == 0 && std::sscanf(line + 6, "%lf", &kilobytes) == 1) break;
    }
    std::fclose(status);
  }
  return kilobytes * 1024;
}

}  // namespace

double peak_memory() {
  if (const double bytes = peak_of_address_space(); bytes > 0) return bytes;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss);
#else
  return static_cast<double>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace lope
