// Bodies that may touch, as one objective: E(x) = E′(P(x)), E′(x) = Σ_b E_b(x_b) + Σ_t Φ_t(x), over the
// concatenated unknowns of the bodies with their contact terms and obstacles. One Hessian whose pattern is
// that of the bodies one after another; every body fills its own part of it in place.
//
// P projects onto the outside of the obstacles that are constraints (obstacle_constraints.h); points given to
// move_to() are feasible already: call project() first. The contact terms come last in value(): when the
// others alone exceed `give_up_above`, they are not evaluated (OPT §3.3, "practical considerations").
#pragma once

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/contact/obstacle_constraints.h>
#include <lope/matter/step_objective.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lope::matter {

class IslandObjective final : public optimize::Objective {
 public:
  // The bodies have one dimension and outlive the island.
  explicit IslandObjective(std::vector<StepObjective*> bodies);
  // The term outlives the island.
  void add(ContactTerm& term) { terms_.push_back(&term); }
  // Asked at the end of every begin_iteration(), until another one takes its place (empty: none). It may change the
  // contact terms, for what was found at the current point; true if it did.
  void set_renewal(std::function<bool()> renewal) { renewal_ = std::move(renewal); }
  // The same at the end of revise(), for what was found there; true if it changed so much that a direction has to be found anew.
  void set_revision(std::function<bool()> revision) { revision_ = std::move(revision); }
  // Told when what was foreseen is forgotten.
  void set_forgetting(std::function<void()> forgetting) { forgetting_ = std::move(forgetting); }
  std::span<const double> point() const { return point_; }

  // After begin_step() of every body: takes over which nodes are fixed. The obstacles are those that are
  // constraints; they live as long as the step.
  void begin_step(std::span<const PlacedObstacle> obstacles);
  const ObstacleConstraints& constraints() const { return constraints_; }
  // ∇E′ at the current point: what the constraints have to hold.
  void unconstrained_gradient(std::span<double> g);
  // The nodes of body b are first_node(b) … first_node(b + 1) − 1.
  std::size_t first_node(std::size_t body) const { return first_node_[body]; }
  std::size_t body_of(std::size_t node) const;

  std::size_t size() const override { return first_node_.back() * block(); }
  int block_size() const override { return dimension_; }
  std::span<const std::uint8_t> fixed_blocks() const override { return fixed_; }
  const optimize::CharacteristicScales& scales() const override { return scales_; }
  // Every body by itself: one that moves a lot must not excuse another.
  optimize::ErrorBudget budget(std::span<const double> d, double accuracy) const override;
  // Not with penalties, whose obstacles move from step to step, nor with contact between bodies.
  bool has_kinks() const override { return !terms_.empty() || constraints_.any(); }
  // Body by body, against the normal forces of obstacles that are constraints.
  bool is_balanced() override;
  bool has_constraints() const override { return constraints_.any(); }
  bool frees_more_than(std::span<const double> choices) const override {
    return constraints_.frees_more_than(choices);
  }
  bool keeps_its_hessian() const override;
  std::vector<double> choices() const override { return constraints_.choices(); }
  void choose(std::span<const double> choices) override { constraints_.choose(choices); }

  bool begin_iteration() override;
  // Until it gets stuck.
  bool revises() const override { return constraints_.any() && !settled_; }
  optimize::Revision revise(optimize::HessianKind kind, std::span<double> d, std::span<double> g) override;
  void forget() override;
  void project_to_tangents(std::span<double> d) const override { constraints_.project_to_tangents(d); }
  bool settle() override;
  // Forgets what settle() kept.
  void let_go();
  void move_to(std::span<const double> x) override;
  double value(double give_up_above) override;
  double value_noise() override;
  void gradient(std::span<double> g) override;
  const linalg::BlockMatrix& hessian(optimize::HessianKind kind) override;
  bool buckles() const override;
  void project_partly(double part) override;
  void hessian_diagonal(optimize::HessianKind kind, std::span<double> blocks) override;
  void hessian_times(optimize::HessianKind kind, std::span<const double> direction,
                     std::span<double> y) override;
  void project(std::span<double> x) const override { constraints_.project(x); }
  void project_direction(std::span<const double> x, std::span<double> d) const override {
    constraints_.project_direction(x, d);
  }
  // That of the bodies and of the contact terms.
  double largest_step(std::span<const double> direction) const override;
  // Those of the bodies, one after another: contact does not enter.
  std::vector<std::vector<int>> cover(int parts) const override;
  linalg::Prolongation coarse_space(int functions) const override;
  // Side by side; bodies without one are smoothed only.
  linalg::HierarchyPtr hierarchy() override;
  // Of the bodies, and the tangent spaces of the obstacles that nodes touch.
  std::vector<linalg::RowProjector> projectors() const override;
  ScalarModel scalar_model() override;
  // Of a body that touches nothing.
  optimize::SplitObjective* split() override {
    return bodies_.size() == 1 && terms_.empty() ? bodies_[0]->split() : nullptr;
  }

 private:
  std::size_t block() const { return static_cast<std::size_t>(dimension_); }
  // The part of a vector of the island that belongs to a body.
  template <class T>
  std::span<T> part(std::span<T> whole, std::size_t body) const {
    return whole.subspan(first_node_[body] * block(), (first_node_[body + 1] - first_node_[body]) * block());
  }
  void clear_fixed(std::span<double> g) const;
  // What the active constraints exert on every body, newtons.
  std::vector<double> forces() const;
  // Whether what is left of a gradient is small beside forces, body by body.
  bool is_small_beside(const std::vector<double>& forces, std::span<const double> left,
                       double part_of_forces) const;
  // g ← ∇E′ + H′d.
  void gradient_after(optimize::HessianKind kind, std::span<const double> d, std::span<double> g);
  void finish_hessian(optimize::HessianKind kind, linalg::BlockMatrix& hessian);

  std::vector<StepObjective*> bodies_;
  std::vector<ContactTerm*> terms_;
  std::function<bool()> renewal_, revision_;
  std::function<void()> forgetting_;
  int dimension_;
  std::vector<std::size_t> first_node_;  // one more than bodies
  std::vector<std::int64_t> first_slot_;
  optimize::CharacteristicScales scales_;
  std::vector<std::uint8_t> fixed_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::optional<linalg::BlockMatrix> hessian_, diagonal_;  // made when first asked for
  ObstacleConstraints constraints_;
  std::vector<double> point_, direction_;
  std::vector<double> gradient_;  // ∇E′ at the current point, if known
  bool gradient_known_ = false;
  std::vector<double> forces_before_;  // of the constraints that were active until the last begin_iteration()
  bool settled_ = false;
  std::optional<linalg::BlockMatrix> scalar_;
  std::vector<std::uint64_t> scalar_versions_;  // of the bodies' models that scalar_ is made of
  std::uint64_t scalar_version_ = 0;
  linalg::HierarchyPtr hierarchy_;
  std::vector<linalg::HierarchyPtr> hierarchy_parts_;  // of the bodies, that hierarchy_ is made of
};

}  // namespace lope::matter
