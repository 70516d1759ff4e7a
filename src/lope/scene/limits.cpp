#include <lope/base/memory.h>
#include <lope/scene/limits.h>

#include <algorithm>
#include <limits>

namespace lope::scene {

double affordable_bytes() {
  const double total = total_memory();
  return total > 0 ? 2 * total : std::numeric_limits<double>::infinity();
}

// Five and a half elements and seven edges per vertex (2D: two and three), as in estimate_memory (kinds/solid_check.h). Vertices and
// elements are counted by ints, with the corners of elements in one list.
double most_vertices(int dimension) {
  const double bytes_each = dimension == 3 ? 3400 : 1000;
  return std::min(3e7, affordable_bytes() / bytes_each);
}

double most_voxels() {
  constexpr double bytes_each = 16;  // a float in the grid, and what is needed to fill the inside
  return std::min(5e8, affordable_bytes() / bytes_each);
}

}  // namespace lope::scene
