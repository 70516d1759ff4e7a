// How thick a body is: whether a mesh of it has enough cells across, and how fine one must be.
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <vector>

namespace lope::geometry {

struct ThinPart {
  double extent = 0;               // across it; 0 if nothing is found
  Vec3 direction = Vec3::UnitX();  // in which it is thin
};

// The way through the body from points of its surface straight inwards, such that a twentieth of the sampled points
// has a shorter one: sharp edges and corners do not count as thin parts. The mesh is a closed surface, oriented
// outwards, or has tetrahedra or, in the plane z = 0, triangles whose border is taken (`planar`). A few hundred points
// at most, the same for the same mesh.
ThinPart thin_part(const Mesh& mesh, bool planar);
// The same for a closed line in the plane z = 0, the body to the left of its sides.
ThinPart thin_part(const std::vector<std::array<Vec3, 2>>& sides);

}  // namespace lope::geometry
