// From the arrays of a frame to surfaces that can be drawn.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/render/picture.h>

#include <optional>
#include <span>
#include <string>

namespace lope::render {

// How numbers become colours. Without limits they are taken from the values that are finite (symmetric about
// zero for Diverging).
struct FieldStyle {
  ColourMap map = ColourMap::Tide;
  std::optional<double> low = {}, high = {};
};

// `values` lie on the vertices or on the triangles, told by their number; anything else is an Input error
// that names the field. Where both numbers are equal they are taken as on the vertices.
Expected<SurfaceField> field_on(const std::string& name, std::size_t vertices, std::size_t triangles,
                                std::span<const double> values, const FieldStyle& style);

// Smallest and largest finite value, for a common scale over a sequence; {0, 1} when there is none.
struct ValueRange {
  double low = 0, high = 1;
};
ValueRange finite_range(std::span<const double> values);

// A coloured body; `positions` holds every vertex of the body, `triangles` those of its boundary.
Surface body_surface(std::span<const Vec3> positions, std::span<const geometry::Triangle> triangles,
                     Colour colour);

}  // namespace lope::render
