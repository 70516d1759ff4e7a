// How much memory this process has used, and how much is left.
#pragma once

#include <filesystem>
#include <limits>

namespace lope {

// Largest resident size so far, in bytes (0 where the system does not tell).
double peak_memory();

// What the machine has, or the container that the process is in, in bytes (0 where the system does not tell).
double total_memory();

// What can be taken without pushing others out or passing the limit of a container, in bytes (0 where the system does not
// tell).
double available_memory();

// What control groups of Linux (containers, batch systems) allow to this process and what they have left, in bytes: the
// least over its own group and all groups around it.
struct GroupMemory {
  double limit = std::numeric_limits<double>::infinity();
  double available = std::numeric_limits<double>::infinity();
};

// Version 2 and version 1 at their usual places below `root`: proc/self/cgroup names the group, sys/fs/cgroup has the
// figures. A group that is not below sys/fs/cgroup, as in a container that sees the path of its host, is read where the
// hierarchy is mounted. What files only cache counts as left.
GroupMemory group_memory(const std::filesystem::path& root);

}  // namespace lope
