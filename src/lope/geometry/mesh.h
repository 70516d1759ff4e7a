// Meshes as files and users know them: points in space with triangles and tetrahedra. A flat (2D) body is a
// mesh of triangles with all z = 0.
#pragma once

#include <lope/math/types.h>

#include <array>
#include <string>
#include <vector>

namespace lope::geometry {

using Edge = std::array<int, 2>;
using Triangle = std::array<int, 3>;
using Tetrahedron = std::array<int, 4>;

// Tetrahedra are positively oriented when det(x1−x0, x2−x0, x3−x0) > 0; surface triangles are
// counter-clockwise seen from outside.
struct Mesh {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  std::vector<Tetrahedron> tetrahedra;
  // Optional, one per tetrahedron (or per triangle where there are no tetrahedra): region number from the
  // file.
  std::vector<int> region;
};

// Axis-aligned bounding box; empty (min > max) for no points.
struct Bounds {
  Vec3 min = Vec3::Constant(1e300);
  Vec3 max = Vec3::Constant(-1e300);
  void add(const Vec3& point) {
    min = min.cwiseMin(point);
    max = max.cwiseMax(point);
  }
  Vec3 extent() const { return max - min; }
  Vec3 center() const { return 0.5 * (min + max); }
};

Bounds bounds(const std::vector<Vec3>& points);

// The triangles that belong to exactly one tetrahedron, outward oriented, in a fixed order.
std::vector<Triangle> boundary_triangles(const std::vector<Tetrahedron>& tetrahedra);

}  // namespace lope::geometry
