#include <lope/base/memory.h>
#include <lope/scene/limits.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::scene {
namespace {

// Twice what there is: the figures below are good to a factor of two or so.
double affordable_bytes() {
  const double total = total_memory();
  return total > 0 ? 2 * total : std::numeric_limits<double>::infinity();
}

}  // namespace

// Five and a half elements and seven edges per vertex (2D: two and three), as in estimate_memory (check.h). Vertices and
// elements are counted by ints, with the corners of elements in one list.
double most_vertices(int dimension) {
  const double bytes_each = dimension == 3 ? 3400 : 1000;
  return std::min(3e7, affordable_bytes() / bytes_each);
}

double most_voxels() {
  constexpr double bytes_each = 16;  // a float in the grid, and what is needed to fill the inside
  return std::min(5e8, affordable_bytes() / bytes_each);
}

// The figures of check.cpp, and particles and cells are counted by ints.
double most_liquid_cells(int dimension, int particles_per_axis) {
  const double d = dimension, particles = std::pow(particles_per_axis, d);
  const double bytes_each = 5 * particles * (2 * d + d * d) * sizeof(double) + (dimension == 3 ? 5000 : 2000);
  return std::min(2e9 / particles, affordable_bytes() / bytes_each);
}

}  // namespace lope::scene
