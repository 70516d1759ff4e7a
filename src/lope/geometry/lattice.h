// Structured meshes of boxes and rectangles, from node counts. Node (i, j, k) is vertex i + nx (j + ny k);
// the outermost nodes lie exactly on the box. Counts of at least 2, products within int: asserted.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/geometry/shapes.h>

#include <array>

namespace lope::geometry {

Mesh box_lattice(const Vec3& min, const Vec3& max, const std::array<int, 3>& nodes, LatticePattern pattern);

// Triangles in the plane z = 0, counter-clockwise.
Mesh rectangle_lattice(const Vec2& min, const Vec2& max, const std::array<int, 2>& nodes, bool alternating);

}  // namespace lope::geometry
