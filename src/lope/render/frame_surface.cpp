#include <lope/base/errors.h>
#include <lope/render/frame_surface.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::render {

ValueRange finite_range(std::span<const double> values) {
  ValueRange range = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range.low <= range.high ? range : ValueRange{};
}

Expected<SurfaceField> field_on(const std::string& name, std::size_t vertices, std::size_t triangles,
                                std::span<const double> values, const FieldStyle& style) {
  SurfaceField field;
  if (values.size() == vertices) {
    field.on = SurfaceField::On::Vertices;
  } else if (values.size() == triangles) {
    field.on = SurfaceField::On::Faces;
  } else {
    return input_error("field '{}' has {} values, which fits neither the {} vertices nor the {} triangles",
                       name, values.size(), vertices, triangles);
  }
  field.map = style.map;
  field.values.assign(values.begin(), values.end());
  ValueRange range = finite_range(values);
  if (style.map == ColourMap::Diverging) {
    range.high = std::max(std::abs(range.low), std::abs(range.high));
    range.low = -range.high;
  }
  field.low = style.low.value_or(range.low);
  field.high = style.high.value_or(range.high);
  return field;
}

Surface body_surface(std::span<const Vec3> positions, std::span<const geometry::Triangle> triangles,
                     Colour colour) {
  Surface surface;
  surface.positions.assign(positions.begin(), positions.end());
  surface.triangles.assign(triangles.begin(), triangles.end());
  surface.colour = colour;
  return surface;
}

}  // namespace lope::render
