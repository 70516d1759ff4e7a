// Elastic bodies of linear simplices.
#pragma once

#include <lope/material/parameters.h>
#include <lope/matter/nodal_matter.h>

namespace lope::matter {

// dimension 3: the mesh's tetrahedra are the elements; 2: its triangles (z = 0), per metre of depth.
class SolidBody final : public NodalBody {
 public:
  geometry::Mesh mesh;                          // the rest shape
  std::vector<material::Parameters> materials;  // one, or one per distinct region
  std::vector<int> material_of_element;         // empty: materials[0] everywhere
  std::vector<double> density_of_material;      // kg/m³ (2D: kg/m² per metre of depth), parallel to materials

  std::string_view kind() const override { return "solid"; }
  std::unique_ptr<Matter> make(const World& world) const override;
  const std::vector<Vec3>& rest_positions() const override { return mesh.vertices; }
  SelfContactBody contact_body() const override;
};

// The outer faces; in 2D the outer edges, with −1 as the third vertex.
std::vector<std::array<int, 3>> surface_faces(const SolidBody& body);

class SolidMatter final : public NodalMatter {
 public:
  SolidMatter(const SolidBody& body, const World& world);
  std::vector<std::string> closing_remarks(const BodyState& state) override;
  // Elements and the outer surface; with "partition" a division of the elements.
  void draw_once(const FieldFilter& wanted, geometry::Drawable& drawable) const override;

  // What keeps a body at rest away from its shape. Costs about as much as an iteration of a step.
  struct Tangle {
    std::vector<int> vertices;  // geometry/full_turns.h; empty: the body is not tangled
    // From rest, longer steps than this have less energy in the rest shape placed nearest than where the body is
    // (seconds): with InitialGuess::Rescue they start there.
    double rescue_step = 0;
  };
  Tangle tangle(const NodalState& state);

 private:
  const SolidBody& solid_;
};

}  // namespace lope::matter
