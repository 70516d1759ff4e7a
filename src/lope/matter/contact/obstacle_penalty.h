// Collisions with obstacles as a penalty (OPT §5.2): Φ = Σ k_i(−φ_b(x_i))³ over the pairs with φ_b(x_i) < 0.
// The energy is positive inside (the paper's printed sign is lost), its gradient and Hessian are continuous
// at the surface, and every level set will do: derivatives are those of φ as it is interpolated.
//
//   ∇Φ = −3kφ²∇φ,   ∇²Φ = 6k|φ|∇φ∇φᵀ − 3kφ²∇²φ        (φ < 0)
//
// k_i [N/m²] is the obstacle's stiffness if it gives one. Otherwise it is chosen per node so that at a depth
// of one hundredth of the body's size L the obstacle pushes with 10⁻² ξ_iℓ_i + 100 m_i|g|: a force that
// strains the node's surroundings by about one per cent, plus a hundred times its weight.
#pragma once

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/contact/obstacle.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter {

// The automatic stiffness of a node: `scale` ξ_iℓ_i in newtons, `weight` m_i|g|, `length` L in metres.
double penalty_stiffness(double scale, double weight, double length);

class ObstaclePenalty final : public ContactTerm {
 public:
  // `stiffness`: the automatic one per node.
  ObstaclePenalty(int dimension, std::vector<double> stiffness);

  // `fixed` nodes are left alone. Both spans live as long as the step.
  void begin_step(std::span<const PlacedObstacle> obstacles, std::span<const std::uint8_t> fixed);

  void move_to(std::span<const double> x) override;
  double value() override;
  double value_noise() override;
  void add_gradient(std::span<double> g) override;
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) override;
  void add_hessian_times(optimize::HessianKind kind, std::span<const double> p, std::span<double> y) override;

  // A node inside an obstacle at the current point.
  struct Pair {
    int node = 0;
    int obstacle = 0;
    double stiffness = 0;
    geometry::LevelSetSample at;
    Vec3 force() const { return 3 * stiffness * at.value * at.value * at.gradient; }  // on the node, newtons
  };
  const std::vector<Pair>& pairs();

 private:
  void detect();
  Mat3 second_derivative(optimize::HessianKind kind, const Pair& pair) const;

  int dimension_;
  std::vector<double> stiffness_;
  std::span<const PlacedObstacle> obstacles_;
  std::span<const std::uint8_t> fixed_;
  std::vector<double> point_;
  bool detected_ = false;
  std::vector<Pair> pairs_;
};

}  // namespace lope::matter
