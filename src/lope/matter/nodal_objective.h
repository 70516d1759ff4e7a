// What the step objectives of all bodies of nodes with lumped masses have in common: inertia, mass and lagged Rayleigh
// damping, forces from outside, scripted nodes, stopping scales, the budget of errors, the scalar model. A kind derives from
// this and gives its potential Φ with its derivatives (the protected functions).
#pragma once

#include <lope/matter/step_objective.h>

#include <optional>

namespace lope::matter {

template <int d>
class NodalObjective : public StepObjective {
 public:
  std::size_t size() const final { return masses_.size() * d; }
  int block_size() const final { return d; }
  int dimension() const final { return d; }
  std::span<const double> masses() const final { return masses_; }
  std::shared_ptr<const linalg::BlockPattern> pattern() const final { return pattern_; }
  std::span<const std::uint8_t> fixed_blocks() const final { return setup_.fixed; }
  const optimize::CharacteristicScales& scales() const final { return scales_; }
  optimize::ErrorBudget budget(std::span<const double> displacement, double accuracy) const override;
  // Lagged damping takes its matrix from the beginning of the step.
  bool keeps_its_hessian() const override { return stiffness_damping_ == 0; }

  void begin_step(const StepSetup& setup) override;
  void move_to(std::span<const double> x) override;
  double value(double give_up_above) override;
  double value_noise() override;
  void gradient(std::span<double> g) override;
  const linalg::BlockMatrix& hessian(optimize::HessianKind kind) override;
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& H) const override;
  void add_hessian_diagonal(optimize::HessianKind kind, double* blocks) const override;
  void hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                     std::span<double> y) override;
  // Mass and Laplacian; stiffness damping enters with the weights of the Laplacian. Renewed when the inertia, the damping or
  // the fixed nodes change.
  ScalarModel scalar_model() override;

  void potential_gradient(std::span<double> g) const override;
  void add_damping_gradient(std::span<double> g) const override {
    if (damped()) add_damping_force(point_, g);
  }

 protected:
  struct Common {
    std::shared_ptr<const linalg::BlockPattern> pattern;
    std::vector<double> masses;
    optimize::CharacteristicScales scales;
    double mass_damping = 0, stiffness_damping = 0;
  };
  explicit NodalObjective(Common common);

  // The potential at the point that was given last; it stays where it is until the next one.
  virtual void move_potential(std::span<const double> x) = 0;
  virtual void add_potential_gradient(std::span<double> g) const = 0;
  virtual void add_potential_hessian(optimize::HessianKind kind, double scale, linalg::BlockAssembler& H) const = 0;
  // Its diagonal blocks alone, one after another. By default they are taken out of the whole.
  virtual void add_potential_hessian_diagonal(optimize::HessianKind kind, double scale, double* blocks) const;
  virtual void add_potential_hessian_times(optimize::HessianKind kind, double scale, std::span<const double> p,
                                           std::span<double> y) const = 0;
  // The size of what is added up in Φ, joules.
  virtual double potential_magnitude() const = 0;
  // What positions that are rounded by `delta` do to Φ.
  virtual double potential_noise(double delta) const = 0;
  // L += scale · a scalar Laplacian for which L ⊗ I is a rough model of the Hessian of Φ (block size 1).
  virtual void add_laplacian(double scale, linalg::BlockAssembler& L) const = 0;

  std::span<const double> point() const { return point_; }
  // Of inertia, damping and forces from outside, at any x.
  void quadratic_gradient_at(std::span<const double> x, std::span<double> g) const;
  void clear_fixed(std::span<double> g) const;

 private:
  double inertia_energy() const;
  double damping_energy() const;
  double outside_work() const;
  double damping_magnitude() const;
  bool damped() const { return mass_damping_ > 0 || stiffness_damping_ > 0; }
  double diagonal_weight() const { return setup_.inertia + setup_.damping * mass_damping_; }
  void add_damping_force(std::span<const double> x, std::span<double> g) const;

  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<double> masses_;
  optimize::CharacteristicScales scales_;
  double mass_damping_, stiffness_damping_;
  StepSetup setup_;
  std::optional<linalg::BlockMatrix> hessian_;           // made when first asked for
  std::optional<linalg::BlockMatrix> lagged_stiffness_;  // D
  // The scalar model and what it was made of.
  struct Scalar {
    linalg::BlockMatrix matrix;
    double mass_weight, stiffness_weight;
    std::vector<std::uint8_t> fixed;
    std::uint64_t version;
  };
  std::optional<Scalar> scalar_;
  std::vector<double> point_;                             // the current point
  bool potential_moved_ = false;                          // the potential is where point_ says
  mutable std::vector<double> offset_, product_, force_;  // work
};

extern template class NodalObjective<2>;
extern template class NodalObjective<3>;

}  // namespace lope::matter
