// Smooth normals that keep sharp edges sharp.
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <span>
#include <vector>

namespace lope::render {

using CornerNormals = std::array<Eigen::Vector3f, 3>;

// For each corner of each triangle the mean of the normals of those triangles at its vertex whose own normal
// is within `crease_degrees` of this triangle's, weighted by their angle at the vertex. Triangles without an
// area have no say; a corner that hears nobody gets its triangle's normal, or +z.
std::vector<CornerNormals> corner_normals(std::span<const Vec3> positions,
                                          std::span<const geometry::Triangle> triangles,
                                          double crease_degrees);

}  // namespace lope::render
