// The membrane energy Φ(x) = Σ_t A_t ψ(F_t(x)) of linear triangles in space and its derivatives (material/membrane.h). Built
// like the elements of solids, by batched_elements.h; volumes() are areas.
#pragma once

#include <lope/geometry/sheet.h>
#include <lope/matter/batched_elements.h>
#include <lope/matter/cloth/membrane_kernels.h>

#include <memory>
#include <vector>

namespace lope::matter {

class Membrane : public BatchedElements<material::MembraneModel, membrane::Layout, 3> {
 public:
  // grain: angle of the warp from the first material coordinate, radians. The pattern holds the pairs of every triangle.
  Membrane(const geometry::Sheet& sheet, const material::MembraneParameters& material, double grain,
           std::shared_ptr<const linalg::BlockPattern> pattern, Isa isa = selected_isa());

  // Frobenius norm of ∂²ψ/∂F² at rest, N/m.
  double rest_stiffness() const;
  // L += scale·Σ A w GᵀG, w the larger stiffness of warp and weft (block size 1).
  void add_laplacian(double scale, linalg::BlockAssembler& L) const;

  // The inverse of a triangle's rest edges, along warp and weft, whose columns are its first edges; flat until it is set. What is
  // set counts from the next move on.
  Mat2 rest_inverse(int triangle) const;
  void set_rest_inverse(int triangle, const Mat2& inverse);
  // U of F = R U, along warp and weft, its stretches no smaller than `least`.
  Mat2 stretch(int triangle, double least) const;

  // Read-outs, in the order of the sheet's triangles.
  std::vector<double> largest_stretch() const;   // λ₁
  std::vector<double> smallest_stretch() const;  // λ₂
  std::vector<double> energy_density() const;    // ψ, J/m²
  // Von Mises stress of the Cauchy stress per length, N/m.
  std::vector<double> von_mises() const;

 private:
  using Layout = membrane::Layout;
  double fill_lane(Row* rows, int lane, int triangle, const geometry::Sheet& sheet, const Mat2& turn, bool padding) const;
  material::MembraneStress<double> stress(int triangle) const;

  material::MembraneParameters material_;
};

extern template class BatchedElements<material::MembraneModel, membrane::Layout, 3>;

}  // namespace lope::matter
