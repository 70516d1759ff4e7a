// Matter that consists of the same nodes from step to step (solids; whatever else is a mesh or a chain): positions and
// velocities, an objective over them (step_objective.h), handles that script some of them, loads, and the time schemes. A
// kind of such matter gives its objective and, where it has them, a surface for contact, further state, fields, and what
// happens at the end of a step.
#pragma once

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/matter/loads.h>
#include <lope/matter/matter.h>
#include <lope/matter/step_objective.h>
#include <lope/matter/time_scheme.h>

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace lope::matter {

// A set of vertices that follows a script instead of the equations of motion, from `begin` until `end`
// (released).
struct Handle {
  std::vector<int> vertices;
  geometry::Motion motion;
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
  std::string name = {};
  // In place of `motion`, if given: writes where the vertices are so many seconds after `begin`, from where they were when it took
  // hold (3 numbers per vertex). A function of these alone: a step may be taken in parts, or again.
  std::function<void(double time, std::span<const double> anchor, std::span<double> places)> script = {};

  // Where its vertices are at a time: 3 numbers per vertex.
  std::vector<double> places(std::span<const double> anchor, double time) const;
};

class NodalBody : public Body {
 public:
  std::vector<Vec3> initial_positions;   // empty: the rest shape
  std::vector<Vec3> initial_velocities;  // empty: at rest
  std::vector<Handle> handles;           // a vertex belongs to at most one at any time
  std::vector<Load> loads;
  // Further forces, which are taken as loads that follow the body are: with its nodes at x, newtons to be added to `force` (both
  // interleaved). Functions of these alone.
  using Force = std::function<void(double time, std::span<const double> x, std::span<double> force)>;
  std::vector<Force> forces;
  // Further energies of its nodes, minimised with its own; each is made once, for the number of its first node in the island.
  using MakeTerm = std::function<std::unique_ptr<ContactTerm>(std::size_t first_node)>;
  std::vector<MakeTerm> energies;
  double mass_damping = 0;       // 1/s
  double stiffness_damping = 0;  // s, lagged Rayleigh (OPT §4.2)
  bool touches_others = true;    // touches every other body that says so
  bool self_contact = false;     // touches itself

  virtual const std::vector<Vec3>& rest_positions() const = 0;
  // What contact between bodies sees; without a mesh it meets obstacles only.
  virtual SelfContactBody contact_body() const { return {nullptr, 0, false}; }
  geometry::Bounds region() const override { return geometry::bounds(rest_positions()); }
  std::size_t unknowns() const override { return rest_positions().size() * static_cast<std::size_t>(dimension); }
  // Whether anything acts from outside, and all that does (loads.h), added to `force`.
  bool has_outside() const { return !loads.empty() || !forces.empty(); }
  void add_outside(std::span<const double> x, double time, std::span<double> force, double slack = 0) const;
};

struct NodalState : BodyState, NodalMotion {
  // Per handle: where its vertices were when it took hold (3 per vertex; empty: it has not).
  std::vector<std::vector<double>> anchors;

  std::vector<ArrayView> arrays() const override;
  void read(ArrayReader& reader) override;
};

// The coordinates of a node; z = 0 in 2D.
inline Vec3 node(std::span<const double> x, std::size_t i, int dimension) {
  Vec3 result = Vec3::Zero();
  for (int k = 0; k < dimension; ++k)
    result[k] = x[i * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(k)];
  return result;
}

class NodalMatter : public Matter {
 public:
  NodalMatter(const NodalBody& body, const World& world, std::unique_ptr<StepObjective> objective);

  const NodalBody& body() const { return body_; }
  int dimension() const { return body_.dimension; }
  StepObjective& objective() { return *objective_; }
  const StepObjective& objective() const { return *objective_; }

  NodalMatter* nodal() final { return this; }
  // Vertices that start inside a constraint are moved to its surface, unless a handle holds them.
  Polymorphic<BodyState> start() override { return first_state(); }
  Expected<void> fits(const BodyState& saved) const override;
  void commit(BodyState& state) override;
  void take_back(BodyState& state) override;
  void forget() override { led_to_state_ = false; }
  BodyReport report(const BodyState& state, const StepTimes& last) override;
  // Those of the objective, displacements from the rest shape where the model placed it, velocities, and the norms of the
  // remaining force and the contact force at the vertices in the step that led to the state (0 where that has been
  // forgotten).
  std::vector<Field> fields(const BodyState& state, const FieldFilter& wanted) override;
  // Positions and fields of a surface whose triangles, and elements, draw_once() gives.
  void draw(const BodyState& state, double time, const FieldFilter& wanted, geometry::Drawable& drawable) override;

  // A step from `from`, which lives until the step is over: which nodes are scripted and where they go, x̂ and damping,
  // loads. With `falls_back` by backward Euler, whatever the scheme.
  virtual void begin_step(const NodalState& from, const StepTimes& step, bool falls_back);
  // Equilibria: holds the nodes at x and takes the loads from there. False: it went too far to be held by anything.
  bool hold_at(std::span<const double> x);
  // Positions, velocities and accelerations at the end of the step; plastic flow has its place here.
  virtual void end_step(std::span<const double> x);

  // The step that is being taken.
  const NodalState& from() const { return *from_; }
  const StepTimes& times() const { return step_; }
  const SchemeTerms& terms() const { return terms_; }
  const std::vector<std::uint8_t>& fixed() const { return fixed_; }
  const std::vector<double>& scripted() const { return scripted_; }  // positions at the end where fixed
  const std::vector<double>& unforced() const { return unforced_; }  // xₙ + h vₙ
  const std::vector<double>& outside() const { return outside_; }    // loads; with Static gravity too; empty: none
  StepEnd& end() { return end_; }
  const StepEnd& end() const { return end_; }
  // Interleaved: forces of contact, newtons; velocities of the obstacles where they touch.
  std::vector<double>& contact_force() { return contact_force_; }
  std::vector<double>& carried() { return carried_; }

  // Whether the same nodes are scripted in two steps.
  bool same_handles(const StepTimes& a, const StepTimes& b) const;
  // The rest shape where it is nearest to the positions x.
  std::vector<double> fitted_rest_shape(std::span<const double> x) const;
  // Puts scripted nodes to the end of their way.
  void put_scripted(std::span<double> x) const;

 protected:
  NodalState first_state();

 private:
  void leave_obstacles(NodalState& state) const;
  void apply_loads(std::span<const double> x);
  void begin_objective();
  std::span<const double> anchor_of(std::size_t handle);
  std::span<const double> start_accelerations();
  void free_acceleration(std::span<const double> x, double time, std::vector<double>& a);
  void swap_anchors(NodalState& state);
  void report_handles(const NodalState& state, const StepTimes& last, BodyReport& result);

  const NodalBody& body_;
  const World& world_;
  std::unique_ptr<StepObjective> objective_;
  const NodalState* from_ = nullptr;
  StepTimes step_;
  SchemeTerms terms_;
  Scheme scheme_ = Scheme::BackwardEuler;
  std::vector<std::uint8_t> fixed_;
  std::vector<double> scripted_, unforced_, outside_;
  std::span<const double> start_a_;  // accelerations at its beginning: the state's, or released_a_
  std::vector<double> released_a_;
  std::vector<std::pair<std::size_t, std::vector<double>>> taken_;  // handles that take hold, and their anchors
  StepEnd end_;                                                     // becomes the state when the step is accepted
  std::vector<double> contact_force_, carried_;
  bool led_to_state_ = false;  // all of this belongs to the step that led to the state
  std::vector<double> work_;
};

}  // namespace lope::matter
