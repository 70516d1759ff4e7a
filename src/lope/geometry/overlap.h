// Do two bodies occupy the same space?
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <cstddef>

namespace lope::geometry {

struct OverlapReport {
  std::size_t pairs = 0;                  // of elements, one of each body, that interpenetrate
  std::array<int, 2> deepest = {-1, -1};  // the pair that would have to move farthest
  // Metres. Of the vertices of either body inside the other, the largest distance to the surface; where no
  // vertex is inside, the shortest way to separate the deepest pair.
  double depth = 0;
};

// Elements are the tetrahedra or, where a mesh has none, the triangles, which must then lie in the plane z =
// 0 (both meshes alike: asserted). Elements that only touch, to within 10⁻⁹ of the larger body's extent, do
// not count.
OverlapReport find_overlap(const Mesh& a, const Mesh& b);

}  // namespace lope::geometry
