// Is a triangle surface the boundary of a solid?
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

namespace lope::geometry {

// The surface, ready for meshing: triangles outward (those of cavities point into the cavity), unused
// vertices dropped; where it would be open, vertices at exactly the same place are joined first (files often
// repeat them). Fails, naming the triangle, edge or vertex (numbers count from 0 in the order given) and what
// to do, when coordinates are not finite, an index is out of range, a triangle has no area, an edge has one
// or more than two triangles, two triangles at an edge are oriented against each other, a vertex joins
// separate fans, or triangles cross. Cost: n log n.
Expected<Mesh> check_surface(const Mesh& surface);

// By the divergence theorem; negative for a surface that points inward.
double enclosed_volume(const Mesh& surface);

}  // namespace lope::geometry
