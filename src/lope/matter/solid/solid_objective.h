// The step objective of one elastic body of linear simplices with lumped masses.
#pragma once

#include <lope/matter/solid/elastic_elements.h>
#include <lope/matter/solid/elastic_split.h>
#include <lope/matter/step_objective.h>
#include <lope/optimize/split_objective.h>

#include <optional>

namespace lope::matter {

template <int d>
class SolidObjective final : public StepObjective, private optimize::SplitObjective {
 public:
  explicit SolidObjective(const SolidDescription& description);

  std::size_t size() const override { return masses_.size() * d; }
  int block_size() const override { return d; }
  int dimension() const override { return d; }
  std::span<const double> masses() const override { return masses_; }
  std::shared_ptr<const linalg::BlockPattern> pattern() const override { return elements_.pattern(); }
  std::span<const std::uint8_t> fixed_blocks() const override { return setup_.fixed; }
  const optimize::CharacteristicScales& scales() const override { return scales_; }
  optimize::ErrorBudget budget(std::span<const double> displacement, double accuracy) const override;
  // Lagged damping takes its matrix from the beginning of the step.
  bool keeps_its_hessian() const override { return stiffness_damping_ == 0; }

  void begin_step(const StepSetup& setup) override;
  void move_to(std::span<const double> x) override;
  double value(double give_up_above) override;
  double value_noise() override;
  void gradient(std::span<double> g) override;
  const linalg::BlockMatrix& hessian(optimize::HessianKind kind) override;
  void add_hessian(optimize::HessianKind kind, double* blocks) const override;
  void hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                     std::span<double> y) override;
  double largest_step(std::span<const double> direction) const override;
  std::vector<std::vector<int>> cover(int parts) const override;
  linalg::Prolongation coarse_space(int functions) const override;
  // Vertices in a regular grid with about 2^d times fewer nodes, its nodes in a coarser one, and so on.
  linalg::HierarchyPtr hierarchy() override;
  // Mass and elasticity; stiffness damping enters with the elastic weights. Renewed when the inertia, the damping or the
  // fixed nodes change.
  ScalarModel scalar_model() override;
  // Elastic energy by elements; Q is inertia and damping.
  optimize::SplitObjective* split() override;

  double potential() const override { return elements_.value(); }
  void potential_gradient(std::span<double> g) const override;
  void add_damping_gradient(std::span<double> g) const override {
    if (damped()) add_damping_force(point_, g);
  }
  int inverted_elements() const override { return elements_.inverted_count(); }
  std::vector<Field> fields(const FieldFilter& wanted) const override;

 private:
  double inertia_energy() const;
  double damping_energy() const;
  double outside_work() const;
  double elastic_noise(double delta) const;
  double damping_magnitude() const;
  bool damped() const { return mass_damping_ > 0 || stiffness_damping_ > 0; }
  double diagonal_weight() const { return setup_.inertia + setup_.damping * mass_damping_; }
  void add_damping_force(std::span<const double> x, std::span<double> g) const;
  void clear_fixed(std::span<double> g) const;

  // As SplitObjective; only after split().
  std::size_t reduced_size() const override { return split_->reduced_size(); }
  void reduce(std::span<const double> x, std::span<double> z) const override { split_->reduce(x, z); }
  void minimize_locally(std::span<const double> target, std::span<double> z) const override {
    split_->minimize_locally(target, z);
  }
  void quadratic_gradient(std::span<const double> x, std::span<double> g) const override;
  void add_transposed(std::span<const double> p, std::span<double> g) const override;

  ElasticElements<d> elements_;
  std::vector<double> masses_;
  optimize::CharacteristicScales scales_;
  geometry::Mesh rest_;  // vertices and elements, nothing else
  double mass_damping_, stiffness_damping_;
  double total_stiffness_ = 0;  // Σ V ξ
  double element_size_ = 0;     // mean
  StepSetup setup_;
  std::optional<linalg::BlockMatrix> hessian_;            // made when first asked for
  std::optional<linalg::BlockMatrix> lagged_stiffness_;   // D
  // The scalar model and what it was made of.
  struct Scalar {
    linalg::BlockMatrix matrix;
    double mass_weight, stiffness_weight;
    std::vector<std::uint8_t> fixed;
    std::uint64_t version;
  };
  std::optional<Scalar> scalar_;
  linalg::HierarchyPtr hierarchy_;  // made when first asked for
  std::optional<ElasticSplit<d>> split_;
  std::vector<double> point_;                             // the current point
  mutable std::vector<double> offset_, product_, force_;  // work
};

}  // namespace lope::matter
