// Level sets of shapes that only say what is inside: for filling, not for contact. Their values have the
// right sign everywhere and are distances near the surface at best (is_exact() is false, except for
// polygons); they have no surface to draw.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/shapes.h>

namespace lope::geometry {

LevelSetPtr level_set(const ImplicitShape& shape);

// The inside of a polygon (2D, without end along z): the exact distance to its edges. Points inside an odd
// number of loops are inside. Fails where a loop has fewer than three points or one that is not finite.
Expected<LevelSetPtr> level_set(const Polygon& polygon);

// Scaled about the origin; the factor is positive (asserted).
LevelSetPtr scaled(LevelSetPtr set, double factor);

}  // namespace lope::geometry
