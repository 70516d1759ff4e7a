#include <lope/geometry/points_beside_surface.h>

#include <set>

namespace lope::geometry {

std::vector<std::size_t> points_beside_surface(const Drawable& drawable) {
  const bool surface = !drawable.surface.triangles.empty();
  const DrawnField *skins = find_field(drawable.surface.element_fields, "part"),
                   *part = find_field(drawable.points.fields, "part");
  std::vector<std::size_t> beside;
  if (surface && !(skins && part)) return beside;
  std::set<float> covered;
  if (surface) covered.insert(skins->values.begin(), skins->values.end());
  for (std::size_t p = 0; p < drawable.points.count(); ++p) {
    if (covered.empty() || !covered.contains(part->values[p])) beside.push_back(p);
  }
  return beside;
}

}  // namespace lope::geometry
