// Cloth: sheets of triangles that resist stretching and bending.
#pragma once

#include <lope/matter/cloth/cloth_objective.h>
#include <lope/matter/nodal_matter.h>

namespace lope::matter {

// A sheet in space (dimension 3), flat at rest. It meets obstacles; itself and other bodies by barriers only (contact/barrier.h),
// because the penalties between bodies need volumes.
class ClothBody final : public NodalBody {
 public:
  geometry::Sheet sheet;  // valid (geometry::check_sheet)
  ClothMaterial material;
  Air air;
  double sewing = 0;       // seams that start open close within this time, seconds; 0: there are none
  double thickness = 0;    // of the cloth for barriers, metres; 0: the model's
  geometry::Mesh surface;  // vertices and triangles of the sheet, where the model has barriers; empty: it meets obstacles only

  SelfContactBody contact_body() const override;
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
