#include <lope/base/memory.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>

namespace lope {
namespace {

namespace fs = std::filesystem;

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

// One version of control groups: where it is mounted, and the names of its files.
struct GroupFiles {
  fs::path mount;
  const char *limit, *usage;
  const char* cached;  // key of memory.stat: what can be dropped
};

// The number in a file, or `otherwise` where there is none ("max").
double number_in(const fs::path& path, double otherwise) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : otherwise;
}

double figure_in(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  double value = 0;
  while (file >> word >> value) {
    if (word == key) return value;
  }
  return 0;
}

void apply_group(const GroupFiles& files, const fs::path& folder, GroupMemory& memory) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const double limit = number_in(folder / files.limit, unlimited);
  if (limit == unlimited) return;
  const double used = number_in(folder / files.usage, 0) - figure_in(folder / "memory.stat", files.cached);
  memory.limit = std::min(memory.limit, limit);
  memory.available = std::min(memory.available, limit - std::max(used, 0.0));
}

// The group `path` of a hierarchy and those around it. One above the mounted hierarchy ("/../x") cannot be seen.
void apply_groups(const GroupFiles& files, const fs::path& path, GroupMemory& memory) {
  fs::path group = path.relative_path();
  if (std::find(group.begin(), group.end(), "..") != group.end()) group.clear();
  for (; !group.empty(); group = group.parent_path()) apply_group(files, files.mount / group, memory);
  apply_group(files, files.mount, memory);
}

// `machine` bytes of the machine, 0 if it does not tell; 0 means nothing else.
double within_groups(double machine, double GroupMemory::*figure) {
  return machine > 0 ? std::clamp(group_memory("/").*figure, 1.0, machine) : 0;
}

}  // namespace

double total_memory() { return within_groups(kernel_figure("/proc/meminfo", "MemTotal:"), &GroupMemory::limit); }

double available_memory() {
  return within_groups(kernel_figure("/proc/meminfo", "MemAvailable:"), &GroupMemory::available);
}

// Lines "NUMBER:CONTROLLERS:PATH"; version 2 has the number 0 and no controllers. Beside version 1 it is mounted at unified.
GroupMemory group_memory(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  GroupMemory memory;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::istringstream parts(line);
    std::string number, controllers, path;
    if (!std::getline(parts, number, ':') || !std::getline(parts, controllers, ':') || !std::getline(parts, path)) continue;
    if (controllers.empty()) {
      for (const fs::path& mount : {mounts, mounts / "unified"})
        apply_groups({mount, "memory.max", "memory.current", "inactive_file"}, path, memory);
    } else if ((',' + controllers + ',').find(",memory,") != std::string::npos) {
      apply_groups({mounts / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, path,
                   memory);
    }
  }
  return memory;
}

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
