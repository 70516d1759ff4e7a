// Coulomb friction as a potential of the positions, minimised with everything else (NUMERICS §10; the family of
// incremental potential contact, Li et al. 2020). For a contact whose normal force λ and normal n are held fixed,
//
//   Φ(x) = μλ f₀(s),   s = ‖(I − nnᵀ)(Σ_k w_k x_k − r)‖,
//   f₀(s) = s − ε/3 for s ≥ ε,   s²/ε − s³/(3ε²) below,
//
// r is where the touching points would be if they did not slide, so that s is the way they slide in the step, in
// the measure of the time scheme: with its velocities v = w (x − y), r = Σ w_k y_k plus what the obstacle moves. f₀′ is
// 1 where the contact slides, and grows from 0 to 1 where it sticks, which therefore is a creep slower than v_ε = w ε.
// Φ is convex. Whoever sets λ and n renews them from iteration to iteration, until that changes nothing.
//
// Φ has all but a kink at s = 0, and a Newton step over it goes far too far: along the direction of sliding the exact second
// derivative is 0 beyond ε. Since f₀ is concave as a function of s², μλ f₀′(s)/s is the curvature of a quadratic that touches Φ
// and lies above it everywhere; the projected Hessian takes that one, and steps with it never go too far. (Raw stays exact,
// for estimates and the last steps.)
//
// Deviation from Li et al.: any time scheme, through w and y; the normal is a projector, not a basis, which serves
// two and three dimensions alike.
#pragma once

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/contact/pair_blocks.h>
#include <lope/math/types.h>

#include <array>
#include <vector>

namespace lope::matter {

struct FrictionContact {
  std::array<int, 4> node = {0, 0, 0, 0};
  std::array<double, 4> weight = {1, 0, 0, 0};  // 0 where unused
  Vec3 normal = Vec3::Zero();                   // unit
  double limit = 0;                             // μλ, newtons
  Vec3 rest = Vec3::Zero();                     // r
  double creep = 0;                             // ε, metres
};

class FrictionPotential final : public ContactTerm {
 public:
  explicit FrictionPotential(int dimension) : dimension_(dimension) {}

  // Until the next call. The current point stays.
  void set(std::vector<FrictionContact> contacts) { contacts_ = std::move(contacts); }
  const std::vector<FrictionContact>& contacts() const { return contacts_; }

  void move_to(std::span<const double> x) override { point_.assign(x.begin(), x.end()); }
  double value() override;
  double value_noise() override;
  void add_gradient(std::span<double> g) override;
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) override;
  void add_hessian_times(optimize::HessianKind kind, std::span<const double> p, std::span<double> y) override;

  // At the current point: the friction on node 0 (on node k: weight_k times it), and Σ μλ f₀′ s, which is what
  // friction takes in the step but for the factor w h, joules.
  Vec3 force(const FrictionContact& contact) const;
  double loss() const;
  // With the nodes at x: the way that the contact slides.
  Vec3 slide(std::span<const double> x, const FrictionContact& contact) const;

 private:
  Vec3 sum(std::span<const double> x, const FrictionContact& contact) const;
  Mat3 second_derivative(optimize::HessianKind kind, const FrictionContact& contact) const;

  int dimension_;
  std::vector<FrictionContact> contacts_;
  std::vector<double> point_;
  PairBlocks blocks_;
};

}  // namespace lope::matter
