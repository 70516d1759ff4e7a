#include <lope/base/memory.h>

#include <cstdio>
#include <cstring>

#include <sys/resource.h>

namespace lope {
namespace {

// The value of a line "KEY: 1234 kB" of a file of the Linux kernel, in bytes; 0 where there is none.
double kernel_figure(const char* path, const char* key) {
  double kilobytes = 0;
  if (std::FILE* file = std::fopen(path, "r")) {
    char line[256];
    const std::size_t length = std::strlen(key);
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::strncmp(line, key, length) == 0 && std::sscanf(line + length, "%lf", &kilobytes) == 1) break;
    }
    std::fclose(file);
  }
  return kilobytes * 1024;
}

}  // namespace

double total_memory() { return kernel_figure("/proc/meminfo", "MemTotal:"); }

double available_memory() { return kernel_figure("/proc/meminfo", "MemAvailable:"); }

// getrusage() of a program started by another counts what its parent used before the start; the kernel's
// statistics of this address space do not.
double peak_memory() {
  if (const double bytes = kernel_figure("/proc/self/status", "VmHWM:"); bytes > 0) return bytes;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss);
#else
  return static_cast<double>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace lope
