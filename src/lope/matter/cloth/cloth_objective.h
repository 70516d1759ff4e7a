// The step objective of one piece of cloth: membrane, bending and air over the nodes of a sheet, lumped masses.
#pragma once

#include <lope/matter/cloth/air.h>
#include <lope/matter/cloth/bending.h>
#include <lope/matter/cloth/membrane.h>
#include <lope/matter/cloth/sewing.h>
#include <lope/matter/nodal_objective.h>

#include <optional>

namespace lope::matter {

struct ClothMaterial {
  material::MembraneParameters membrane;
  BendingParameters bending;
  double area_density = 0;  // kg/m²
  double grain = 0;         // angle of the warp from the first material coordinate, radians
};

class ClothObjective final : public NodalObjective<3> {
 public:
  // The sheet is valid (geometry::check_sheet) and outlives the objective.
  ClothObjective(const geometry::Sheet& sheet, const ClothMaterial& material, const Air& air, double mass_damping,
                 double stiffness_damping, Isa isa = selected_isa());

  // Seams that are open at the sheet's vertices close within this time (sewing.h); seconds.
  void sew(double duration);

  void set_time(double time) override;
  // The air's factors are those of the beginning of the step; what is sewn changes until its seams have closed.
  bool keeps_its_hessian() const override {
    return !air_ && !(sewing_ && sewing_->is_open()) && NodalObjective::keeps_its_hessian();
  }
  void begin_step(const StepSetup& setup) override;
  double value(double give_up_above) override;
  void gradient(std::span<double> g) override;
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const override;
  void hessian_times(optimize::HessianKind kind, std::span<const double> direction, std::span<double> y) override;
  void add_damping_gradient(std::span<double> g) const override;
  std::vector<std::vector<int>> cover(int parts) const override;
  // That of the sheet (geometry/sheet_hierarchy.h).
  linalg::HierarchyPtr hierarchy() override { return levels(); }
  // The vertices of the level of the hierarchy that has about as many.
  linalg::Prolongation coarse_space(int functions) const override;

  bool buckles() const override { return true; }
  void project_partly(double part) override { membrane_.project_partly(part); }

  double potential() const override { return membrane_.value() + bending_.value(); }
  int inverted_elements() const override { return 0; }  // there is no inside
  // About what it bears, across its plane, stretched a lot and curved like a ball of its own size.
  double bearing_pressure() const override { return 0.5 * membrane_.rest_stiffness() / scales().length; }
  std::vector<Field> fields(const FieldFilter& wanted) const override;

 private:
  ClothObjective(const geometry::Sheet& sheet, const ClothMaterial& material, const Air& air, double mass_damping,
                 double stiffness_damping, Membrane membrane);

  void move_potential(std::span<const double> x) override;
  void add_potential_gradient(std::span<double> g) const override;
  void add_potential_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const override;
  void add_potential_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                   std::span<double> y) const override;
  double potential_magnitude() const override { return membrane_.value_magnitude() + bending_.value(); }
  double potential_noise(double delta) const override;
  void add_laplacian(double scale, linalg::BlockAssembler& L) const override;

  linalg::HierarchyPtr levels() const;

  const geometry::Sheet& sheet_;
  Membrane membrane_;
  Bending bending_;
  std::optional<AirDrag> air_;
  std::optional<Sewing> sewing_;
  double total_stiffness_ = 0;  // Σ A ξ
  double triangle_size_ = 0;    // mean
  mutable linalg::HierarchyPtr hierarchy_;  // made when first asked for
  std::vector<double> held_;                // work
};

}  // namespace lope::matter
