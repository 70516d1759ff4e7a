// The surface of a body on its own, as the surface formats want it.
#pragma once

#include <lope/geometry/mesh.h>

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

}  // namespace lope::io
