// What pictures and files that hold surfaces show as points.
#pragma once

#include <lope/geometry/drawable.h>

#include <cstddef>
#include <vector>

namespace lope::geometry {

// The points that the surface does not show: all where there is none, otherwise those of parts (the field "part") that no triangle
// belongs to. Where triangles do not know their parts, they are the surface of everything.
std::vector<std::size_t> points_beside_surface(const Drawable& drawable);

}  // namespace lope::geometry
