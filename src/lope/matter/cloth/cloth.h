// Cloth: sheets of triangles that resist stretching and bending.
#pragma once

#include <lope/matter/cloth/cloth_objective.h>
#include <lope/matter/nodal_matter.h>

namespace lope::matter {

// A sheet in space (dimension 3), flat at rest. It meets obstacles; contact between bodies needs volumes, so cloth has none
// with itself or with other bodies.
class ClothBody final : public NodalBody {
 public:
  geometry::Sheet sheet;  // valid (geometry::check_sheet)
  ClothMaterial material;
  Air air;

  std::string_view kind() const override { return "cloth"; }
  std::unique_ptr<Matter> make(const World& world) const override;
  const std::vector<Vec3>& rest_positions() const override { return sheet.vertices; }
};

class ClothMatter final : public NodalMatter {
 public:
  ClothMatter(const ClothBody& body, const World& world);
  // Triangles.
  void draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const override;

 private:
  const ClothBody& cloth_;
};

}  // namespace lope::matter
