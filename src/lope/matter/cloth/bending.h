// The bending energy of a sheet, hinge by hinge: each inner edge e with its two triangles.
//
//   quadratic:  ½ B/(A₁ + A₂) |Σ_k K_k x_k|²            flat at rest; isometric (Bergou et al. 2006; Wardetzky et al. 2007):
//               constant, positive semi-definite Hessian, right as long as the sheet does not stretch much
//   dihedral:   ½ B |e|²/(A₁ + A₂) (θ − θ₀)²             any rest angles (discrete shells; Grinspun et al. 2003)
// K: cotangents of the flat rest shape, |Σ K x| = |e||θ| to first order; A: rest areas; B: bending stiffness, N·m.
//
// Deviation: Bergou et al. print 3/(A₁ + A₂) for their ∫H². With 1/(A₁ + A₂) a cylinder of curvature κ has the energy
// ½Bκ² per area on meshes of equilateral triangles in every direction (Seung & Nelson 1988), which is what B is measured by;
// the tests look at it. Hinges of irregular meshes make the sheet stiffer in some directions, as in all of these models.
// Orthotropic: B of a hinge is B_warp cos²φ + B_weft sin²φ, φ the angle between warp and the edge's normal in the material.
//
// The projected Hessian of the dihedral energy is that of Gauss–Newton, B(…) ∇θ∇θᵀ; its raw one has ∇²θ too.
#pragma once

#include <lope/geometry/sheet.h>
#include <lope/linalg/block_assembler.h>
#include <lope/optimize/objective.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lope::matter {

enum class BendingModel { Quadratic, Dihedral };

struct BendingParameters {
  BendingModel model = BendingModel::Quadratic;
  double warp = 0, weft = 0;    // B, N·m
  bool curved_at_rest = false;  // Dihedral: θ₀ from the sheet's vertices in space; otherwise 0
};

class Bending {
 public:
  // The pattern holds the pairs of every hinge.
  Bending(const geometry::Sheet& sheet, const BendingParameters& parameters, double grain,
          std::shared_ptr<const linalg::BlockPattern> pattern);

  // x must stay until the next call.
  void move_to(std::span<const double> x) { x_ = x; }

  double value() const;
  void add_gradient(std::span<double> g) const;
  void add_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const;
  void add_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p, std::span<double> y) const;
  // L += scale · the quadratic model's matrix (block size 1).
  void add_laplacian(double scale, linalg::BlockAssembler& L) const;
  // What positions rounded by `delta` do to the value.
  double noise(double delta) const;
  int hinge_count() const { return static_cast<int>(nodes_.size()); }

 private:
  using Gradient = Eigen::Matrix<double, 12, 1>;
  using Hessian = Eigen::Matrix<double, 12, 12>;
  Vec3 place(std::span<const double> x, int node) const;
  double angle(std::span<const double> x, std::size_t hinge) const;
  void angle_gradient(std::size_t hinge, Gradient& g) const;
  void angle_hessian(std::size_t hinge, Hessian& h) const;
  Hessian hinge_hessian(optimize::HessianKind kind, std::size_t hinge) const;
  // y += scale · (matrix ⊗ I) p.
  void add_rows(double scale, std::span<const double> p, std::span<double> y) const;
  template <class Body>
  void for_each_by_colour(const Body& body) const;

  BendingModel model_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<std::array<int, 4>> nodes_;
  std::vector<std::array<double, 4>> weights_;  // K
  std::vector<double> stiffness_;               // B/(A₁ + A₂)
  std::vector<double> angular_stiffness_, rest_angle_;
  std::vector<double> matrix_;  // of the quadratic model, one number per slot of the pattern
  double total_stiffness_ = 0;  // Σ B/(A₁ + A₂) |K|²
  std::vector<std::vector<int>> members_, colours_;  // Dihedral: clusters of hinges
  std::span<const double> x_;
};

}  // namespace lope::matter
