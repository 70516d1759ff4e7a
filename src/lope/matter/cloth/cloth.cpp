#include <lope/geometry/drawable.h>
#include <lope/matter/cloth/cloth.h>

namespace lope::matter {

std::unique_ptr<Matter> ClothBody::make(const World& world) const {
  return std::make_unique<ClothMatter>(*this, world);
}

// Penalties never see it: they need no stiffness.
SelfContactBody ClothBody::contact_body() const {
  if (surface.triangles.empty()) return {nullptr, 0, false};
  return {&surface, 0, self_contact, thickness};
}

ClothMatter::ClothMatter(const ClothBody& body, const World& world)
    : NodalMatter(body, world,
                  std::make_unique<ClothObjective>(body.sheet, body.material, body.air, body.mass_damping,
                                                   body.stiffness_damping)),
      cloth_(body) {}

void ClothMatter::draw_once(const FieldFilter& /*wanted*/, geometry::Drawable& drawable) const {
  std::vector<std::int32_t>& corners = drawable.surface.triangles;
  corners.reserve(3 * cloth_.sheet.triangles.size());
  for (const geometry::Triangle& t : cloth_.sheet.triangles) corners.insert(corners.end(), t.begin(), t.end());
}

}  // namespace lope::matter
