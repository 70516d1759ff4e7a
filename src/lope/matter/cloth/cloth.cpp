#include <lope/geometry/drawable.h>
#include <lope/matter/cloth/cloth.h>

#include <cmath>

namespace lope::matter {

std::unique_ptr<Matter> ClothBody::make(const World& world) const {
  return std::make_unique<ClothMatter>(*this, world);
}

// Penalties never see it: they need no stiffness.
SelfContactBody ClothBody::contact_body() const {
  if (surface.triangles.empty()) return {nullptr, 0, false};
  return {&surface, 0, self_contact, thickness};
}

namespace {

std::unique_ptr<ClothObjective> objective_of(const ClothBody& body) {
  auto objective = std::make_unique<ClothObjective>(body.sheet, body.material, body.air, body.mass_damping,
                                                    body.stiffness_damping);
  if (body.sewing > 0) objective->sew(body.sewing);
  return objective;
}

}  // namespace

ClothMatter::ClothMatter(const ClothBody& body, const World& world)
    : NodalMatter(body, world, objective_of(body)), cloth_(body) {}

// Along warp and weft.
void ClothMatter::draw_once(const FieldFilter& /*wanted*/, geometry::Drawable& drawable) const {
  std::vector<std::int32_t>& corners = drawable.surface.triangles;
  corners.reserve(3 * cloth_.sheet.triangles.size());
  for (const geometry::Triangle& t : cloth_.sheet.triangles) corners.insert(corners.end(), t.begin(), t.end());
  const double c = std::cos(cloth_.material.grain), s = std::sin(cloth_.material.grain);
  for (const geometry::Triangle& t : cloth_.sheet.flat_triangles) {
    for (const int i : t) {
      const Vec2& p = cloth_.sheet.flat[static_cast<std::size_t>(i)];
      drawable.surface.material_coordinates.push_back(static_cast<float>(c * p[0] + s * p[1]));
      drawable.surface.material_coordinates.push_back(static_cast<float>(c * p[1] - s * p[0]));
    }
  }
}

}  // namespace lope::matter
