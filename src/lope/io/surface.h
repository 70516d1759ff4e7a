// The surface of a body on its own, as the surface formats want it.
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <span>
#include <vector>

namespace lope::io {

struct Surface {
  std::vector<int> vertices;                  // those of the body that the surface uses, ascending
  std::vector<geometry::Triangle> triangles;  // numbered by `vertices`
};

// The given triangles or, if there are none, the boundary of the tetrahedra.
Surface surface_of(std::size_t vertex_count, std::span<const geometry::Triangle> triangles,
                   std::span<const geometry::Tetrahedron> tetrahedra);

// Its vertices, once for each place that they have in the texture: formats have one list of corners with all that they carry.
struct Corners {
  std::vector<int> vertices;                  // which of the surface each one is
  std::vector<std::array<float, 2>> texture;  // empty where there is none
  std::vector<geometry::Triangle> triangles;  // numbered by `vertices`
};

// `texture`: two numbers for each corner of each triangle, or nothing; then the corners are the vertices.
Corners corners_of(const Surface& surface, std::span<const float> texture);

}  // namespace lope::io
