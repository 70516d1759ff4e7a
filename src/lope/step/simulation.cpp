#include <lope/base/timer.h>
#include <lope/geometry/full_turns.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/rigid_fit.h>
#include <lope/linalg/space.h>
#include <lope/matter/contact/friction.h>
#include <lope/matter/contact/friction_potential.h>
#include <lope/matter/contact/obstacle_penalty.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/matter/island_objective.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/step/loads.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Geometry>

namespace lope::step {
namespace {

// What sticks creeps more slowly than this fraction of the smallest body's size per second.
constexpr double creep_speed = 1e-4;
// … or, while its body slides elsewhere, than this part of the fastest contact's way.
constexpr double creep_of_slide = 0.01;

// Minimisations in which the normal forces of friction, and what follows the body, must settle.
constexpr int most_rounds = 30;

// The round from which on contacts keep their partners: a vertex that changes its partner from round to round would never
// agree with its own result.
constexpr int holding_round = 4;

// Iterations in which the normal forces of friction are renewed; afterwards they are renewed between rounds.
constexpr int most_renewals = 30;

// Of the square of the highest frequency: the weight per mass with which an equilibrium is held where the last round
// left it, so that it is unique although nothing holds a body. Rounds take it away again: each leaves the part w/(ω² + w)
// of the error in a mode of frequency ω.
constexpr double holding = 1e-10;

// Of the energies at hand: less is what a scheme of second order gains and loses by turns.
constexpr double least_gain = 0.02;

// A body that goes farther than this many times its size in search of an equilibrium has none.
constexpr double too_far = 100;

// Times are compared with this slack (a fraction of the step), so that "release at 1 s" is not decided by
// rounding.
constexpr double time_slack = 1e-6;

std::vector<double> interleave(const std::vector<Vec3>& points, int dimension) {
  std::vector<double> result;
  result.reserve(points.size() * static_cast<std::size_t>(dimension));
  for (const Vec3& p : points) result.insert(result.end(), p.data(), p.data() + dimension);
  return result;
}

Vec3 node(std::span<const double> x, std::size_t i, int dimension) {
  Vec3 result = Vec3::Zero();
  for (int k = 0; k < dimension; ++k)
    result[k] = x[i * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(k)];
  return result;
}

BodyState initial_state(const SolidBody& solid) {
  BodyState body;
  body.x = interleave(solid.initial_positions.empty() ? solid.mesh.vertices : solid.initial_positions,
                      solid.dimension);
  body.v = solid.initial_velocities.empty() ? std::vector<double>(body.x.size(), 0.0)
                                            : interleave(solid.initial_velocities, solid.dimension);
  body.previous_x = body.x;
  body.previous_v = body.v;
  body.a.assign(body.x.size(), 0.0);
  body.anchors.resize(solid.handles.size());
  return body;
}

// A handle guides the steps that end after `begin` and not after `end`.
bool holds(const Handle& handle, double end_of_step, double h) {
  const double slack = time_slack * h;
  return end_of_step > handle.begin + slack && end_of_step <= handle.end + slack;
}

std::unique_ptr<matter::StepObjective> make_objective(const SolidBody& solid) {
  matter::SolidDescription description;
  description.dimension = solid.dimension;
  description.mesh = &solid.mesh;
  description.materials = solid.materials;
  description.material_of_element = solid.material_of_element;
  description.density_of_material = solid.density_of_material;
  description.mass_damping = solid.mass_damping;
  description.stiffness_damping = solid.stiffness_damping;
  return matter::make_solid_objective(description);
}

// About the square of the highest frequency of a body, 1/s²: a node with its one-ring clamped, K ~ ξℓ/r with r the
// distance of nodes.
double squared_frequency(const matter::StepObjective& objective) {
  const optimize::CharacteristicScales& scales = objective.scales();
  const double distance =
      scales.length / std::pow(static_cast<double>(scales.per_block.size()), 1.0 / objective.dimension());
  double largest = 0;
  for (std::size_t i = 0; i < scales.per_block.size(); ++i)
    largest = std::max(largest, scales.per_block[i] / (distance * objective.masses()[i]));
  return largest;
}

}  // namespace

// How far forces go from round to round towards those that the last one found. Forces that come and go settle when they do so
// by small enough parts; while they settle, the parts grow.
class Simulation::Renewal {
 public:
  // `distance`: how far the last round's result is from being settled.
  double part(double distance) {
    part_ = distance < distance_ ? std::min(1.0, 1.5 * part_) : std::max(smallest, 0.5 * part_);
    distance_ = distance;
    return part_;
  }

 private:
  static constexpr double smallest = 1.0 / 16;
  double part_ = 0.5, distance_ = std::numeric_limits<double>::infinity();
};

// A body in the step that is being taken.
struct Simulation::Body {
  std::unique_ptr<matter::StepObjective> objective;
  SchemeTerms terms;
  Scheme scheme = Scheme::BackwardEuler;
  std::vector<std::uint8_t> fixed;
  std::vector<double> scripted_x;     // positions at the end of the step where fixed
  std::vector<double> unforced;       // xₙ + h vₙ
  std::vector<double> outside;        // forces from outside, but for gravity unless Static; empty: none
  std::span<const double> start_a;    // accelerations at its beginning: the state's, or released_a
  std::vector<double> released_a;
  std::vector<std::pair<std::size_t, std::vector<double>>>
      taken;                          // handles that take hold, and their anchors
  StepEnd end;                        // becomes the state when the step is accepted
  std::vector<double> contact_force;  // of the last step, interleaved, newtons
  std::vector<double> carried;        // velocities of the obstacles where they touch, in the last step
  bool led_to_state = false;          // all of this belongs to the step that led to the state
  std::vector<double> work;

  void swap_anchors(BodyState& state) {
    for (auto& [handle, anchor] : taken) state.anchors[handle].swap(anchor);
  }
};

struct Simulation::Island {
  std::vector<std::size_t> bodies;
  std::unique_ptr<matter::ObstaclePenalty> penalty;
  std::unique_ptr<matter::SelfContact> self_contact;
  std::unique_ptr<matter::FrictionPotential> friction;  // none: nothing rubs, or OPT's rules do
  std::vector<matter::Contact> contacts;                // with friction: at the end of the step that is being taken
  int renewals = 0;      // of its forces, in the step that is being taken
  bool renewed = false;  // at the last iterate
  std::unique_ptr<matter::IslandObjective> joint;  // none: a single body that touches nothing
  optimize::Objective* objective = nullptr;        // the joint one, or that of the single body
  std::unique_ptr<optimize::Minimizer> minimizer;

  bool fits(std::span<const double> choices) const {
    return joint ? joint->constraints().fits(choices) : choices.empty();
  }
};

// What the last step replaced in the state, but for what bodies and the other liquid hold.
struct Simulation::Past {
  double time = 0;
  std::int64_t step = 0;
  double previous_h = 0;
  std::vector<optimize::KeptModelPtr> kept;
  std::vector<std::vector<matter::Contact>> contacts;
};

// The obstacles of the step that is being taken, by kind; `number`: their places in the model.
struct Simulation::MovedObstacles {
  struct Kind {
    std::vector<matter::Obstacle> obstacles;
    std::vector<std::size_t> number;
  };
  Kind constraints, penalties;
};

bool StepReport::converged() const {
  return accepted && (!liquid || liquid->converged) &&
         std::all_of(islands.begin(), islands.end(),
                     [](const IslandReport& island) { return island.solve.converged(); });
}

const IslandReport* StepReport::culprit() const {
  const auto did_not = [this](const IslandReport& island) {
    return accepted ? !island.solve.converged()
                    : island.solve.outcome == optimize::Outcome::Failed ||
                          island.solve.outcome == optimize::Outcome::Interrupted;
  };
  const auto found = std::find_if(islands.begin(), islands.end(), did_not);
  return found == islands.end() ? nullptr : &*found;
}

Simulation::Simulation(const Model& model) : model_(model), obstacles_(std::make_unique<MovedObstacles>()) {
  for (const SolidBody& solid : model.solids) {
    auto body = std::make_unique<Body>();
    body->objective = make_objective(solid);
    body->fixed.resize(solid.mesh.vertices.size());
    body->work.resize(body->objective->size());
    body->contact_force.assign(body->objective->size(), 0.0);
    bodies_.push_back(std::move(body));
    state_.bodies.push_back(initial_state(solid));
    BodyState& start = state_.bodies.back();
    leave_obstacles(start, solid);
    if (model.scheme == Scheme::Trapezoid) free_acceleration(bodies_.size() - 1, start.x, start.a);
  }
  make_islands();
  if (model.liquid) make_liquid();
}

Simulation::~Simulation() = default;

void Simulation::make_liquid() {
  matter::liquid::Description description = model_.liquid->description;
  description.gravity = model_.gravity;
  for (const Obstacle& obstacle : model_.obstacles) {
    description.solids.push_back({obstacle.shape, [&obstacle](double time) { return obstacle.pose(time); }});
  }
  liquid_ = matter::liquid::make_liquid(description);
  state_.liquid = liquid_->start(&liquid_covered_);
}

matter::liquid::GridFields Simulation::liquid_fields() {
  return liquid_ ? liquid_->fields(*state_.liquid, state_.time) : matter::liquid::GridFields();
}

void Simulation::leave_obstacles(BodyState& body, const SolidBody& solid) const {
  std::vector<const geometry::LevelSet*> constraints;
  for (const Obstacle& obstacle : model_.obstacles) {
    if (obstacle.contact == ContactKind::Constraint) constraints.push_back(obstacle.shape.get());
  }
  if (constraints.empty()) return;
  std::vector<bool> held(solid.mesh.vertices.size(), false);
  for (const Handle& handle : solid.handles) {
    if (handle.begin > 0) continue;
    for (const int i : handle.vertices) held[static_cast<std::size_t>(i)] = true;
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i]) continue;
    const Vec3 free = geometry::project_to_free_side(constraints, node(body.x, i, solid.dimension)).x;
    std::copy_n(free.data(), solid.dimension, body.x.data() + i * static_cast<std::size_t>(solid.dimension));
  }
  body.previous_x = body.x;
}

void Simulation::make_islands() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const SolidBody& solid = model_.solids[i];
    const auto touches = [&](const auto& island) {
      const SolidBody& other = model_.solids[island->bodies.front()];
      return solid.touches_others && other.touches_others && solid.dimension == other.dimension;
    };
    auto island = std::find_if(islands_.begin(), islands_.end(), touches);
    if (island == islands_.end()) island = islands_.insert(island, std::make_unique<Island>());
    (*island)->bodies.push_back(i);
  }
  for (auto& island : islands_) {
    island->objective = bodies_[island->bodies.front()]->objective.get();
    const bool touching = island->bodies.size() > 1 || model_.solids[island->bodies.front()].self_contact;
    if (!touching && model_.obstacles.empty()) continue;
    std::vector<matter::StepObjective*> parts;
    std::vector<double> stiffness;
    for (const std::size_t i : island->bodies) {
      const matter::StepObjective& objective = *parts.emplace_back(bodies_[i]->objective.get());
      for (std::size_t k = 0; k < objective.masses().size(); ++k) {
        stiffness.push_back(matter::penalty_stiffness(objective.scales().per_block[k],
                                                      objective.masses()[k] * model_.gravity.norm(),
                                                      objective.scales().length));
      }
    }
    island->joint = std::make_unique<matter::IslandObjective>(parts);
    island->objective = island->joint.get();
    const auto is_penalty = [](const Obstacle& o) { return o.contact == ContactKind::Penalty; };
    if (std::any_of(model_.obstacles.begin(), model_.obstacles.end(), is_penalty)) {
      island->penalty =
          std::make_unique<matter::ObstaclePenalty>(island->objective->block_size(), std::move(stiffness));
      island->joint->add(*island->penalty);
    }
    if (touching) {
      island->self_contact = make_self_contact(island->bodies);
      island->joint->add(*island->self_contact);
    }
    const auto rubs = [](const Obstacle& o) { return o.friction > 0; };
    if (model_.friction_model == FrictionModel::Implicit &&
        ((touching && model_.body_contact.friction > 0) ||
         std::any_of(model_.obstacles.begin(), model_.obstacles.end(), rubs))) {
      island->friction = std::make_unique<matter::FrictionPotential>(island->objective->block_size());
      island->joint->add(*island->friction);
    }
  }
  state_.kept.resize(islands_.size());
  state_.contacts.resize(islands_.size());
  use_method(model_.solver.method);
}

std::unique_ptr<matter::SelfContact> Simulation::make_self_contact(
    const std::vector<std::size_t>& members) const {
  std::vector<matter::SelfContactBody> parts;
  double length = std::numeric_limits<double>::infinity();
  for (const std::size_t i : members) {
    const SolidBody& solid = model_.solids[i];
    double stiffness = model_.body_contact.stiffness;
    for (const material::Parameters& m : solid.materials) {
      if (model_.body_contact.stiffness > 0) break;
      const double young = m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu);
      stiffness = std::max(stiffness, matter::default_self_contact_stiffness(young));
    }
    parts.push_back({&solid.mesh, stiffness, solid.self_contact});
    length = std::min(length, bodies_[i]->objective->scales().length);
  }
  return matter::make_self_contact(model_.solids[members.front()].dimension, parts, length);
}

// To their places at the end of a step of length h.
void Simulation::move_obstacles(double h) {
  for (auto* kind : {&obstacles_->constraints, &obstacles_->penalties}) *kind = {};
  for (std::size_t k = 0; k < model_.obstacles.size(); ++k) {
    const Obstacle& obstacle = model_.obstacles[k];
    auto& kind =
        obstacle.contact == ContactKind::Constraint ? obstacles_->constraints : obstacles_->penalties;
    matter::Obstacle& now = kind.obstacles.emplace_back();
    kind.number.push_back(k);
    now.before = obstacle.pose(state_.time);
    now.after = obstacle.pose(state_.time + h);
    now.shape = geometry::moved(obstacle.shape, now.after);
    now.friction = obstacle.friction;
    now.stiffness = obstacle.stiffness;
  }
}

void Simulation::use_method(optimize::Method method) {
  use_minimizer([&](const optimize::Objective& objective) {
    return optimize::make_minimizer(method, objective.size());
  });
}

void Simulation::use_minimizer(const MakeMinimizer& make) {
  for (auto& island : islands_) island->minimizer = make(*island->objective);
}

const std::vector<std::size_t>& Simulation::bodies_of(std::size_t island) const {
  return islands_[island]->bodies;
}

// a = M⁻¹f(x) + g; damping is left out, so a damped trapezoid run should start at rest.
void Simulation::free_acceleration(std::size_t body, std::span<const double> x, std::vector<double>& a) {
  matter::StepObjective& objective = *bodies_[body]->objective;
  std::vector<double>& force = bodies_[body]->work;
  const auto d = static_cast<std::size_t>(objective.dimension());
  objective.move_to(x);
  objective.potential_gradient(force);
  std::vector<double> outside(a.size(), 0.0);
  add_loads(model_.solids[body], x, state_.time, outside);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = model_.gravity[static_cast<Eigen::Index>(k % d)] + (outside[k] - force[k]) / objective.masses()[k / d];
  }
}

Expected<void> Simulation::check_fit(const State& state) const {
  if (state.bodies.size() != state_.bodies.size()) {
    return input_error("the saved state has {} bodies, the scene {}", state.bodies.size(),
                       state_.bodies.size());
  }
  if (state.liquid.has_value() != state_.liquid.has_value() ||
      (state.liquid && state.liquid->particles.index() != state_.liquid->particles.index())) {
    return input_error("the saved state {} a liquid of this scene's dimension, the scene {}",
                       state.liquid ? "has" : "has not", state_.liquid ? "has one" : "has none");
  }
  for (std::size_t i = 0; i < state.bodies.size(); ++i) {
    if (const auto fits = check_fit(i, state.bodies[i]); !fits) return fits;
  }
  for (std::size_t k = 0; k < std::min(state.kept.size(), islands_.size()); ++k) {
    const optimize::KeptModel* kept = state.kept[k].get();
    if (kept && !kept->point.empty() &&
        (kept->point.size() != islands_[k]->objective->size() || !islands_[k]->fits(kept->choices))) {
      return input_error("the solver's model of the bodies from '{}' on has another size in the saved state",
                         model_.solids[islands_[k]->bodies.front()].name);
    }
  }
  for (std::size_t k = 0; k < std::min(state.contacts.size(), islands_.size()); ++k) {
    const optimize::Objective& objective = *islands_[k]->objective;
    if (!matter::fits(state.contacts[k], objective.size() / static_cast<std::size_t>(objective.block_size()),
                      model_.obstacles.size())) {
      return input_error("the saved state has contacts of vertices or obstacles that the scene does not have");
    }
  }
  return {};
}

Expected<void> Simulation::check_fit(std::size_t index, const BodyState& saved) const {
  const BodyState& mine = state_.bodies[index];
  const SolidBody& solid = model_.solids[index];
  for (const auto* values : {&saved.x, &saved.v, &saved.previous_x, &saved.previous_v, &saved.a}) {
    if (values->size() != mine.x.size()) {
      return input_error("body '{}' has {} vertices in the saved state, not the scene's {}", solid.name,
                         values->size() / static_cast<std::size_t>(solid.dimension),
                         solid.mesh.vertices.size());
    }
  }
  if (saved.anchors.size() != mine.anchors.size()) {
    return input_error("body '{}' has {} handles in the saved state, not the scene's {}", solid.name,
                       saved.anchors.size(), mine.anchors.size());
  }
  for (std::size_t j = 0; j < saved.anchors.size(); ++j) {
    const std::size_t held = saved.anchors[j].size() / 3, expected = solid.handles[j].vertices.size();
    if (!saved.anchors[j].empty() && saved.anchors[j].size() != 3 * expected) {
      return input_error("handle {} of body '{}' holds {} vertices in the saved state, not the scene's {}", j,
                         solid.name, held, expected);
    }
  }
  return {};
}

// What minimisers remember belongs to the state; where bodies were divided into other islands, it is of no
// use.
Expected<void> Simulation::restore(State state) {
  if (const auto fits = check_fit(state); !fits) return fits;
  state_ = std::move(state);
  if (state_.kept.size() != islands_.size()) state_.kept.assign(islands_.size(), nullptr);
  if (state_.contacts.size() != islands_.size()) state_.contacts.assign(islands_.size(), {});
  forget_last_step();
  return {};
}

// What objects hold of the last step does not belong to the state any more.
void Simulation::forget_last_step() {
  past_.reset();
  for (auto& body : bodies_) body->led_to_state = false;
  if (liquid_) liquid_->forget();
}

bool Simulation::take_back() {
  if (!past_) return false;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    step::take_back(state_.bodies[i], bodies_[i]->end);
    bodies_[i]->swap_anchors(state_.bodies[i]);
  }
  state_.time = past_->time;
  state_.step = past_->step;
  state_.previous_h = past_->previous_h;
  state_.kept = std::move(past_->kept);
  state_.contacts = std::move(past_->contacts);
  state_.liquid.swap(other_liquid_);
  forget_last_step();
  return true;
}

// Sets the fixed mask, the scripted positions, x̂ and the damping targets for a step of length h. State stays
// as it is.
void Simulation::prepare(std::size_t index, double h, bool falls_back) {
  const SolidBody& solid = model_.solids[index];
  const BodyState& now = state_.bodies[index];
  Body& body = *bodies_[index];
  const int d = solid.dimension;
  const double end = state_.time + h;
  body.led_to_state = false;
  body.taken.clear();
  std::fill(body.fixed.begin(), body.fixed.end(), std::uint8_t{0});
  body.scripted_x.resize(now.x.size());
  for (std::size_t j = 0; j < solid.handles.size(); ++j) {
    const Handle& handle = solid.handles[j];
    if (!holds(handle, end, h)) continue;
    const std::span<const double> anchor = anchor_of(index, j);
    for (std::size_t k = 0; k < handle.vertices.size(); ++k) {
      const auto i = static_cast<std::size_t>(handle.vertices[k]);
      const Vec3 p =
          handle.motion.position(Eigen::Map<const Vec3>(anchor.data() + 3 * k), end - handle.begin);
      body.fixed[i] = 1;
      for (int c = 0; c < d; ++c)
        body.scripted_x[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] = p[c];
    }
  }
  const bool same_h = state_.step > 0 && std::abs(h - state_.previous_h) <= 1e-12 * h;
  body.scheme = falls_back ? Scheme::BackwardEuler : effective_scheme(model_.scheme, same_h);
  body.start_a = start_accelerations(index);
  body.unforced.resize(now.x.size());
  linalg::add_scaled(now.x, h, now.v, body.unforced);
  const std::span<const double> gravity(model_.gravity.data(), static_cast<std::size_t>(d));
  scheme_terms(body.scheme, h, now, body.start_a, gravity, body.terms, model_.dissipation);
  if (body.scheme == Scheme::Static) body.terms.inertia = holding * squared_frequency(*body.objective);
  apply_loads(index, now.x, end);
  begin_objective(index);
}

// The forces from outside at a time, with the body's nodes at x.
void Simulation::apply_loads(std::size_t index, std::span<const double> x, double time) {
  const SolidBody& solid = model_.solids[index];
  Body& body = *bodies_[index];
  const bool equilibrium = model_.scheme == Scheme::Static;
  if (solid.loads.empty() && !equilibrium) return;
  body.outside.assign(x.size(), 0.0);
  add_loads(solid, x, time, body.outside);
  const auto d = static_cast<std::size_t>(solid.dimension);
  for (std::size_t k = 0; k < x.size() && equilibrium; ++k)
    body.outside[k] += body.objective->masses()[k / d] * model_.gravity[static_cast<Eigen::Index>(k % d)];
}

void Simulation::begin_objective(std::size_t index) {
  Body& body = *bodies_[index];
  const bool equilibrium = model_.scheme == Scheme::Static;
  body.objective->begin_step({body.terms.inertia, body.terms.target, equilibrium ? 0 : body.terms.damping,
                              body.terms.damping_target, state_.bodies[index].x, body.fixed, body.outside,
                              body.unforced});
}

// Where the vertices of a handle were when it took hold: now, if it does so in this step.
std::span<const double> Simulation::anchor_of(std::size_t index, std::size_t handle) {
  const BodyState& now = state_.bodies[index];
  if (!now.anchors[handle].empty()) return now.anchors[handle];
  auto& [number, anchor] = bodies_[index]->taken.emplace_back(handle, std::vector<double>());
  for (const int i : model_.solids[index].handles[handle].vertices) {
    const Vec3 p = node(now.x, static_cast<std::size_t>(i), model_.solids[index].dimension);
    anchor.insert(anchor.end(), p.data(), p.data() + 3);
  }
  return anchor;
}

// The acceleration of a scripted node says nothing about the forces on it. When a handle lets go, its nodes
// begin with what the forces give them.
std::span<const double> Simulation::start_accelerations(std::size_t index) {
  const SolidBody& solid = model_.solids[index];
  const BodyState& now = state_.bodies[index];
  Body& body = *bodies_[index];
  if (body.scheme != Scheme::Trapezoid || state_.step == 0) return now.a;
  const auto d = static_cast<std::size_t>(solid.dimension);
  std::vector<double> free;
  for (const Handle& handle : solid.handles) {
    if (!holds(handle, state_.time, state_.previous_h)) continue;
    for (const int vertex : handle.vertices) {
      const auto i = static_cast<std::size_t>(vertex);
      if (body.fixed[i]) continue;
      if (free.empty()) {
        free.resize(now.a.size());
        free_acceleration(index, now.x, free);
        body.released_a = now.a;
      }
      std::copy_n(free.data() + i * d, d, body.released_a.data() + i * d);
    }
  }
  return free.empty() ? now.a : body.released_a;
}

// The rest shape where it is nearest to the positions at the beginning of the step.
std::vector<double> Simulation::fitted_rest_shape(std::size_t index) const {
  const SolidBody& solid = model_.solids[index];
  const std::vector<double>& now = state_.bodies[index].x;
  std::vector<Vec3> shape = solid.mesh.vertices, places(shape.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = node(now, i, solid.dimension);
  const geometry::RigidPose pose =
      geometry::rigid_fit(solid.dimension, shape, places, bodies_[index]->objective->masses());
  for (Vec3& p : shape) p = pose.place(p);
  return interleave(shape, solid.dimension);
}

// OPT §3.1: the candidate of smallest energy; scripted nodes are at their scripted positions in all of them.
// OPT compares inertia with explicit Euler; the current positions, which win at rest, and x̂ are further ones.
// A rescue adds the bodies' rest shapes.
std::vector<double> Simulation::initial_guess(Island& island, double h) {
  enum Candidate { Target, Current, Inertia, Explicit, Rest };
  const auto value_at = [](optimize::Objective& objective, std::span<const double> x) {
    objective.move_to(x);
    return objective.value();
  };
  const auto put_scripted_nodes = [](const Body& body, std::vector<double>& x) {
    const std::size_t d = x.size() / body.fixed.size();
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (body.fixed[k / d]) x[k] = body.scripted_x[k];
    }
  };
  const auto gather = [&](Candidate candidate) {
    std::vector<double> all;
    for (const std::size_t i : island.bodies) {
      Body& body = *bodies_[i];
      const auto d = static_cast<std::size_t>(model_.solids[i].dimension);
      const BodyState& now = state_.bodies[i];
      std::vector<double> x = candidate == Target || candidate == Explicit ? body.terms.target : now.x;
      if (candidate == Inertia) linalg::combine(h, now.v, 1, x);
      if (candidate == Explicit) {
        body.objective->move_to(now.x);
        body.objective->potential_gradient(body.work);
        for (std::size_t k = 0; k < x.size(); ++k)
          x[k] -= body.work[k] / (body.terms.inertia * body.objective->masses()[k / d]);
      }
      put_scripted_nodes(body, x);
      if (candidate == Rest) {
        std::vector<double> shape = fitted_rest_shape(i);
        put_scripted_nodes(body, shape);
        if (value_at(*body.objective, shape) < value_at(*body.objective, x)) x.swap(shape);
      }
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  };
  optimize::Objective& objective = *island.objective;
  std::vector<double> best = gather(Target);
  objective.project(best);
  if (model_.solver.initial_guess == InitialGuess::Inertia) return best;

  double smallest = value_at(objective, best);
  for (const Candidate candidate : {Current, Inertia, Explicit, Rest}) {
    if (candidate == Rest && model_.solver.initial_guess != InitialGuess::Rescue) continue;
    std::vector<double> x = gather(candidate);
    objective.project(x);
    const double value = value_at(objective, x);
    if (std::isfinite(value) && !(smallest <= value)) {
      smallest = value;
      best.swap(x);
    }
  }
  return best;
}

Simulation::StepProblem Simulation::step_problem(std::size_t index, double h, bool falls_back) {
  Island& island = *islands_[index];
  past_.reset();
  for (const std::size_t i : island.bodies) prepare(i, h, falls_back);
  move_obstacles(h);
  if (island.joint) island.joint->begin_step(obstacles_->constraints.obstacles);
  if (island.penalty)
    island.penalty->begin_step(obstacles_->penalties.obstacles, island.joint->fixed_blocks());
  std::vector<double> reference;
  for (const std::size_t i : island.bodies) {
    reference.insert(reference.end(), state_.bodies[i].x.begin(), state_.bodies[i].x.end());
  }
  if (island.friction) {
    std::vector<double> expected;
    for (const std::size_t i : island.bodies)
      expected.insert(expected.end(), bodies_[i]->unforced.begin(), bodies_[i]->unforced.end());
    take_friction(island, state_.contacts[index], expected, h);
  }
  return {*island.objective, initial_guess(island, h), std::move(reference)};
}

// Whether a step of length h has the weights and the fixed nodes of the last one: only then is a model of the
// Hessian that was kept of use.
bool Simulation::keeps_weights(const Island& island, double h) const {
  if (state_.step == 0 || h != state_.previous_h || model_.scheme == Scheme::Bdf2) return false;
  for (const std::size_t i : island.bodies) {
    for (const Handle& handle : model_.solids[i].handles) {
      if (holds(handle, state_.time, h) != holds(handle, state_.time + h, h)) return false;
    }
  }
  return true;
}

StepReport Simulation::advance() { return advance(model_.step); }

StepReport Simulation::advance(double h) {
  const Stopwatch watch;
  StepReport step;
  step.step = state_.step + 1;
  step.time = state_.time + h;
  step.h = h;
  step.accepted = true;

  optimize::MinimizerOptions options;
  options.stopping = model_.solver.stopping;
  options.max_iterations = model_.solver.max_iterations;
  options.observer = observer_;
  options.stop_requested = stop_requested_;

  for (std::size_t k = 0; k < islands_.size() && step.accepted; ++k) {
    step.accepted = solve(k, h, options, step.islands.emplace_back());
  }
  step.interrupted =
      !step.islands.empty() && step.islands.back().solve.outcome == optimize::Outcome::Interrupted;
  if (liquid_ && step.accepted) {
    other_liquid_ = state_.liquid;
    step.liquid = liquid_->advance(*other_liquid_, state_.time, h);
    step.accepted = step.liquid->accepted;
  }
  if (step.accepted) {
    commit(step);
    for (std::size_t i = 0; i < bodies_.size(); ++i) step.bodies.push_back(report(i));
    for (std::size_t k = 0; k < islands_.size(); ++k) {
      for (const std::size_t i : islands_[k]->bodies) step.bodies[i].island = k;
    }
  } else {
    forget_last_step();
  }
  step.seconds = watch.seconds();
  return step;
}

// Where one island goes in a step of length h; false: nowhere, and the step is over. The schemes of second order can gain
// energy where a body is stopped within a step; such a step is taken again with backward Euler, which never does.
bool Simulation::solve(std::size_t index, double h, optimize::MinimizerOptions& options,
                       IslandReport& result) {
  if (!solve_once(index, h, options, result)) return false;
  const bool second_order = model_.scheme == Scheme::Bdf2 || model_.scheme == Scheme::Trapezoid;
  if (!second_order || !islands_[index]->joint || !gained_energy(*islands_[index], h)) return true;
  optimize::MinimizerSummary first = std::move(result.solve);
  result = {};
  result.fell_back = true;
  const bool solved = solve_once(index, h, options, result);
  first.append(result.solve);
  result.solve = std::move(first);
  return solved;
}

// Whether the island has more energy at the end of the step than at its beginning, but for what moving obstacles, handles
// and loads did. The nodes that handles lead count as outside: they have no kinetic energy and no weight here.
bool Simulation::gained_energy(const Island& island, double h) {
  double before = 0, after = 0, scale = 0, work = 0;
  for (const std::size_t i : island.bodies) {
    Body& body = *bodies_[i];
    const BodyState& now = state_.bodies[i];
    const int d = model_.solids[i].dimension;
    const auto masses = body.objective->masses();
    double lifted = 0;
    for (std::size_t k = 0; k < masses.size(); ++k) {
      work += h * node(body.contact_force, k, d).dot(node(body.carried, k, d));
      if (body.fixed[k]) continue;
      before += 0.5 * masses[k] * node(now.v, k, d).squaredNorm();
      after += 0.5 * masses[k] * node(body.end.v, k, d).squaredNorm();
      lifted -= masses[k] * model_.gravity.dot(node(body.end.x, k, d) - node(now.x, k, d));
    }
    body.objective->move_to(body.end.x);
    const double strained = body.objective->potential();
    body.objective->move_to(now.x);
    before += body.objective->potential();
    after += lifted + strained;
    scale += std::abs(lifted) + strained;
    work += work_from_outside(i, h);
  }
  return after > before + work + least_gain * (before + scale + std::abs(work));
}

// What loads did to a body in the step that is being taken, and what the nodes that handles lead did to its other nodes
// and to the bodies it touches: displacement times the mean of the forces at both ends of the step, which is exact for
// the trapezoid rule and a linear body. Stiffness damping is that of the difference of the elastic forces.
double Simulation::work_from_outside(std::size_t index, double h) {
  Body& body = *bodies_[index];
  const SolidBody& solid = model_.solids[index];
  const BodyState& now = state_.bodies[index];
  const auto d = static_cast<std::size_t>(solid.dimension);
  const bool led = std::find(body.fixed.begin(), body.fixed.end(), 1) != body.fixed.end();
  if (!led && solid.loads.empty()) return 0;
  std::vector<double> elastic(now.x.size()), elastic_before(now.x.size()), load_before(now.x.size(), 0.0);
  body.objective->move_to(body.end.x);
  body.objective->potential_gradient(elastic);
  body.objective->move_to(now.x);
  body.objective->potential_gradient(elastic_before);
  add_loads(solid, now.x, state_.time, load_before);
  const double damped = solid.stiffness_damping / h;
  double work = 0;
  for (std::size_t k = 0; k < now.x.size(); ++k) {
    const double load = body.outside.empty() ? 0 : 0.5 * (load_before[k] + body.outside[k]);
    const double handed_on = 0.5 * (elastic[k] + elastic_before[k]) + damped * (elastic[k] - elastic_before[k]) -
                             body.contact_force[k];
    work += (body.fixed[k / d] ? handed_on : load) * (body.end.x[k] - now.x[k]);
  }
  return work;
}

bool Simulation::solve_once(std::size_t index, double h, optimize::MinimizerOptions& options,
                            IslandReport& result) {
  Island& island = *islands_[index];
  StepProblem problem = step_problem(index, h, result.fell_back);
  result.bodies = island.bodies;
  options.reference = problem.reference;
  island.minimizer->recall(problem.objective, keeps_weights(island, h) ? state_.kept[index] : optimize::without_model(state_.kept[index]));
  optimize::MinimizerSummary& summary = result.solve;
  summary = minimize(index, problem, h, options, result.contact);
  if (summary.outcome == optimize::Outcome::Failed || summary.outcome == optimize::Outcome::Interrupted)
    return false;
  if (!linalg::all_finite(problem.start)) {
    summary.outcome = optimize::Outcome::Failed;
    summary.reason = "the positions that were found are not finite";
    return false;
  }
  std::span<const double> rest = problem.start;
  for (const std::size_t i : island.bodies) {
    Body& body = *bodies_[i];
    const std::size_t size = body.objective->size();
    finish_step(body.scheme, h, rest.first(size), body.fixed, body.terms, state_.bodies[i], body.start_a,
                body.end);
    rest = rest.subspan(size);
  }
  if (island.joint) finish_contacts(island, problem.start, h, result.contact);
  return true;
}

// What the islands and the liquid found becomes the state, and the state what take_back() returns to.
void Simulation::commit(const StepReport& step) {
  past_ = std::make_unique<Past>(
      Past{state_.time, state_.step, state_.previous_h, std::move(state_.kept), std::move(state_.contacts)});
  state_.kept.clear();
  state_.contacts.clear();
  for (const auto& island : islands_) {
    state_.kept.push_back(island->minimizer->kept());
    state_.contacts.push_back(std::move(island->contacts));
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    step::commit(state_.bodies[i], bodies_[i]->end);
    bodies_[i]->swap_anchors(state_.bodies[i]);
    bodies_[i]->led_to_state = true;
  }
  state_.liquid.swap(other_liquid_);
  state_.time = step.time;
  state_.step = step.step;
  state_.previous_h = step.h;
}

// The minimisation of one island's step. The normal forces of implicit friction are renewed in every iteration, so that
// the stopping test is made with those of the very point. Where that has not converged in most_renewals iterations they are
// held fixed, and further rounds follow. What an equilibrium takes from where the bodies are is renewed between rounds.
optimize::MinimizerSummary Simulation::minimize(std::size_t index, StepProblem& problem, double h,
                                                const optimize::MinimizerOptions& options, ContactReport& report) {
  Island& island = *islands_[index];
  const bool equilibrium = model_.scheme == Scheme::Static;
  if (island.friction) {
    island.renewals = 0;
    island.renewed = false;
    island.joint->set_renewal([&] { return renew_friction(island, h); });
  }
  optimize::MinimizerSummary all = island.minimizer->minimize(problem.objective, problem.start, options);
  if (island.friction) island.joint->set_renewal({});
  bool settled = (!island.friction || island.renewed) && !equilibrium;
  Renewal renewal;
  for (report.rounds = 1; all.converged() && !settled;) {
    if (report.rounds++ == most_rounds) {
      all.outcome = optimize::Outcome::IterationLimit;
      all.reason = fmt::format("the forces of friction or loads that follow the body have not settled in {} rounds",
                               most_rounds);
      break;
    }
    if (equilibrium && !renew_equilibrium(island, problem.start, state_.time + h)) {
      all.outcome = optimize::Outcome::Failed;
      all.reason = "there is no equilibrium: nothing holds the body";
      break;
    }
    if (island.friction && report.rounds == holding_round) {
      island.joint->move_to(problem.start);
      island.joint->settle();
    }
    settled = another_round(island, problem, h, options, renewal, all);
  }
  return all;
}

// Goes on with what the last round left. True: that passed the stopping test, with the forces of friction renewed in full.
bool Simulation::another_round(Island& island, StepProblem& problem, double h, const optimize::MinimizerOptions& options,
                               Renewal& renewal, optimize::MinimizerSummary& all) {
  if (island.friction) {
    const std::vector<matter::Contact> old = island.contacts;
    take_friction(island, contacts_at(island, problem.start), problem.start, h);
    optimize::MinimizerOptions test = options;
    test.max_iterations = 0;
    all.append(island.minimizer->minimize(problem.objective, problem.start, test));
    if (all.converged()) return true;
    take_friction(island, matter::between(old, island.contacts, renewal.part(all.measure / all.tolerance)), problem.start, h);
  }
  const optimize::MinimizerSummary next = island.minimizer->minimize(problem.objective, problem.start, options);
  const bool passed = !next.history.empty() && next.history.front().measure <= next.history.front().tolerance;
  all.append(next);
  return passed && !island.friction;
}

// Friction with the normal forces at the current point; true if something rubs, or did. The first iterate of a step is a
// guess, at which last step's forces are better than its own.
bool Simulation::renew_friction(Island& island, double h) const {
  const bool guessed = island.renewals == 0 && !island.friction->contacts().empty();
  island.renewed = !guessed && island.renewals < most_renewals;
  ++island.renewals;
  return island.renewed && take_friction(island, contacts_of(island), island.joint->point(), h);
}

// False: nothing rubs, and nothing did.
bool Simulation::take_friction(Island& island, std::vector<matter::Contact> contacts, std::span<const double> x,
                               double h) const {
  island.contacts = std::move(contacts);
  const bool rubbed = !island.friction->contacts().empty();
  set_friction(island, island.contacts, x, h);
  return rubbed || !island.friction->contacts().empty();
}

// Loads that follow the bodies to x, and inertia that holds them there. False: a body went too far to be held by
// anything.
bool Simulation::renew_equilibrium(Island& island, std::span<const double> x, double time) {
  for (const std::size_t i : island.bodies) {
    Body& body = *bodies_[i];
    const std::span<const double> own = x.first(body.objective->size());
    x = x.subspan(own.size());
    std::vector<double> moved(own.size());
    linalg::add_scaled(own, -1, state_.bodies[i].x, moved);
    if (linalg::max_block_norm(moved, body.objective->block_size()) > too_far * body.objective->scales().length)
      return false;
    body.terms.target.assign(own.begin(), own.end());
    apply_loads(i, own, time);
    begin_objective(i);
  }
  return true;
}

std::vector<matter::Contact> Simulation::contacts_at(Island& island, std::span<const double> x) const {
  island.joint->move_to(x);
  island.joint->begin_iteration();
  return contacts_of(island);
}

// What touches at the current point of the island's objective, in a fixed order.
std::vector<matter::Contact> Simulation::contacts_of(Island& island) const {
  std::vector<matter::Contact> result;
  const matter::IslandObjective& joint = *island.joint;
  for (const matter::ActivePair& pair : joint.constraints().active()) {
    const std::size_t number = obstacles_->constraints.number[static_cast<std::size_t>(pair.obstacle)];
    result.push_back({{pair.node, 0, 0, 0}, {1, 0, 0, 0}, static_cast<int>(number), pair.normal, pair.force});
  }
  if (island.self_contact) {
    for (const matter::SelfContactPair& pair : island.self_contact->pairs()) {
      matter::Contact& contact = result.emplace_back();
      contact.node = pair.node;
      for (std::size_t k = 0; k < 4; ++k) contact.weight[k] = -pair.weight[k];
      contact.normal = pair.normal;
      contact.force = pair.force;
    }
  }
  if (!island.penalty) return result;
  for (const matter::ObstaclePenalty::Pair& pair : island.penalty->pairs()) {
    const std::size_t number = obstacles_->penalties.number[static_cast<std::size_t>(pair.obstacle)];
    const Vec3 force = pair.force();
    const double size = force.norm();
    if (size > 0) result.push_back({{pair.node, 0, 0, 0}, {1, 0, 0, 0}, static_cast<int>(number), force / size, size});
  }
  return result;
}

double Simulation::friction_of(const matter::Contact& contact) const {
  return contact.obstacle < 0 ? model_.body_contact.friction
                              : model_.obstacles[static_cast<std::size_t>(contact.obstacle)].friction;
}

// Friction for the contacts as they were at x. What sticks while other contacts of its body slide may creep by a part of
// their way: a sharper kink would cost many iterations at impacts and tell no more.
void Simulation::set_friction(Island& island, std::span<const matter::Contact> contacts, std::span<const double> x,
                              double h) const {
  std::vector<matter::FrictionContact> rubbing;
  std::vector<double> longest(island.bodies.size(), 0.0);
  const auto body_of = [&](const matter::FrictionContact& contact) {
    return island.joint->body_of(static_cast<std::size_t>(contact.node[0]));
  };
  for (const matter::Contact& contact : contacts) {
    if (!(friction_of(contact) * contact.force > 0)) continue;
    const matter::FrictionContact& made = rubbing.emplace_back(sliding(island, contact, x, h));
    double& way = longest[body_of(made)];
    way = std::max(way, island.friction->slide(x, made).norm());
  }
  const double w = bodies_[island.bodies.front()]->terms.damping;  // the same for all
  const double least = creep_speed * island.objective->scales().length / w;
  for (matter::FrictionContact& contact : rubbing)
    contact.creep = std::max(least, creep_of_slide * longest[body_of(contact)]);
  island.friction->set(std::move(rubbing));
}

matter::FrictionContact Simulation::sliding(const Island& island, const matter::Contact& contact,
                                            std::span<const double> x, double h) const {
  const int d = island.objective->block_size();
  matter::FrictionContact result{contact.node, contact.weight, contact.normal,
                                 friction_of(contact) * contact.force, Vec3::Zero(), 0};
  for (std::size_t k = 0; k < 4; ++k) {
    if (contact.weight[k] == 0) continue;
    const auto number = static_cast<std::size_t>(contact.node[k]);
    const std::size_t b = island.joint->body_of(number), i = number - island.joint->first_node(b);
    const Body& body = *bodies_[island.bodies[b]];
    Vec3 still = node(body.terms.damping_target, i, d);
    if (body.fixed[i]) {  // its velocity is that of its script
      const Vec3 end = node(body.scripted_x, i, d);
      still = end - (end - node(state_.bodies[island.bodies[b]].x, i, d)) / (h * body.terms.damping);
    }
    if (contact.obstacle >= 0) still += carried_by(contact, h, node(x, number, d)) / body.terms.damping;
    result.rest += contact.weight[k] * still;
  }
  return result;
}

// What the contacts did, at the solution x.
void Simulation::finish_contacts(Island& island, std::span<const double> x, double h, ContactReport& report) {
  matter::IslandObjective& joint = *island.joint;
  const auto d = static_cast<std::size_t>(joint.block_size());
  for (const std::size_t i : island.bodies) {
    std::fill(bodies_[i]->contact_force.begin(), bodies_[i]->contact_force.end(), 0.0);
    bodies_[i]->carried.assign(bodies_[i]->contact_force.size(), 0.0);
  }
  report.obstacle_force.assign(model_.obstacles.size(), Vec3::Zero());
  const auto push = [&](const std::array<int, 4>& nodes, const std::array<double, 4>& weight, const Vec3& force) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (weight[k] == 0) continue;
      const auto number = static_cast<std::size_t>(nodes[k]);
      const std::size_t b = joint.body_of(number), i = number - joint.first_node(b);
      for (std::size_t c = 0; c < d; ++c)
        bodies_[island.bodies[b]]->contact_force[i * d + c] += weight[k] * force[static_cast<Eigen::Index>(c)];
    }
  };
  const std::vector<matter::Contact> contacts = contacts_at(island, x);
  for (const matter::Contact& contact : contacts) {
    push(contact.node, contact.weight, contact.force * contact.normal);
    if (contact.obstacle >= 0)
      report.obstacle_force[static_cast<std::size_t>(contact.obstacle)] += contact.force * contact.normal;
    ++(contact.obstacle < 0 ? report.body_pairs : report.obstacle_pairs);
    if (contact.obstacle >= 0) note_carried(island, contact, h);
    if (model_.friction_model == FrictionModel::Gast15) slide(island, contact, h);
  }
  if (island.friction) {
    // Its contacts are those of island.contacts that rub, in their order.
    std::size_t next = 0;
    for (const matter::Contact& contact : island.contacts) {
      if (!(friction_of(contact) * contact.force > 0)) continue;
      const matter::FrictionContact& rubbing = island.friction->contacts()[next++];
      const Vec3 force = island.friction->force(rubbing);
      push(contact.node, contact.weight, force);
      if (contact.obstacle >= 0) report.obstacle_force[static_cast<std::size_t>(contact.obstacle)] += force;
    }
    report.friction_loss = island.friction->loss() * h * bodies_[island.bodies.front()]->terms.damping;
  }
  if (model_.scheme == Scheme::Bdf2 || model_.scheme == Scheme::Trapezoid) {
    for (const matter::Contact& contact : contacts) come_to_rest(island, contact, h);
  }
  joint.let_go();  // depths are those of everything inside, whatever the solution looked at
  if (island.self_contact) report.deepest = island.self_contact->deepest();
  report.deepest = std::max(report.deepest, joint.constraints().deepest(x).depth);
  if (!island.penalty) return;
  for (const matter::ObstaclePenalty::Pair& pair : island.penalty->pairs())
    report.deepest = std::max(report.deepest, -pair.at.value);
}

// The velocity of the obstacle that a node touches.
void Simulation::note_carried(Island& island, const matter::Contact& contact, double h) {
  const auto number = static_cast<std::size_t>(contact.node[0]);
  const std::size_t b = island.joint->body_of(number), i = number - island.joint->first_node(b);
  const int d = island.objective->block_size();
  Body& body = *bodies_[island.bodies[b]];
  const Vec3 carried = carried_by(contact, h, node(body.end.x, i, d));
  std::copy_n(carried.data(), d, body.carried.data() + i * static_cast<std::size_t>(d));
}

Vec3 Simulation::carried_by(const matter::Contact& contact, double h, const Vec3& x) const {
  const Obstacle& obstacle = model_.obstacles[static_cast<std::size_t>(contact.obstacle)];
  return geometry::carried_velocity(obstacle.pose(state_.time), obstacle.pose(state_.time + h), h, x);
}

// A node that a constraint holds ends the step with the obstacle's normal velocity, as backward Euler gives it. The
// second-order schemes extrapolate the way it came: they would throw it back.
void Simulation::come_to_rest(Island& island, const matter::Contact& contact, double h) {
  if (contact.obstacle < 0) return;
  if (model_.obstacles[static_cast<std::size_t>(contact.obstacle)].contact != ContactKind::Constraint) return;
  const auto number = static_cast<std::size_t>(contact.node[0]);
  const std::size_t b = island.joint->body_of(number), i = number - island.joint->first_node(b);
  const int d = island.objective->block_size();
  StepEnd& end = bodies_[island.bodies[b]]->end;
  const Vec3 carried = carried_by(contact, h, node(end.x, i, d));
  const Vec3 v = contact.normal.dot(node(end.v, i, d) - carried) * contact.normal;
  const Vec3 a = contact.normal.dot(node(end.a, i, d)) * contact.normal;
  for (int c = 0; c < d; ++c) {
    end.v[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] -= v[c];
    end.a[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] -= a[c];
  }
}

// OPT §5.1–5.3: every contact in turn changes the velocities that the one before left. A force f of the step changed
// the velocity by w c h² f/m, which is h f/m in backward Euler.
void Simulation::slide(Island& island, const matter::Contact& contact, double h) {
  const auto d = static_cast<std::size_t>(island.objective->block_size());
  std::array<Vec3, 4> v;
  std::array<double, 4> mass;
  std::array<double*, 4> velocity{};
  double duration = h;
  for (std::size_t k = 0; k < 4; ++k) {
    v[k].setZero();
    mass[k] = 1;
    if (contact.weight[k] == 0) continue;
    const auto number = static_cast<std::size_t>(contact.node[k]);
    const std::size_t b = island.joint->body_of(number), i = number - island.joint->first_node(b);
    Body& body = *bodies_[island.bodies[b]];
    duration = body.terms.damping / body.terms.inertia;
    v[k] = node(body.end.v, i, static_cast<int>(d));
    mass[k] = body.fixed[i] ? std::numeric_limits<double>::infinity() : body.objective->masses()[i];
    velocity[k] = body.end.v.data() + i * d;
    if (contact.obstacle >= 0) {
      const Vec3 carried = carried_by(contact, h, node(body.end.x, i, static_cast<int>(d)));
      v[k] = matter::slide(v[k], carried, contact.normal, contact.force, mass[k], friction_of(contact), duration);
    }
  }
  if (contact.obstacle < 0)
    matter::slide(v, mass, contact.weight, contact.normal, contact.force, friction_of(contact), duration);
  for (std::size_t k = 0; k < 4; ++k) {
    if (velocity[k]) std::copy_n(v[k].data(), d, velocity[k]);
  }
}

BodyReport Simulation::report(std::size_t index) {
  const BodyState& body = state_.bodies[index];
  const int d = model_.solids[index].dimension;
  matter::StepObjective& objective = *bodies_[index]->objective;
  BodyReport result;
  result.name = model_.solids[index].name;
  objective.move_to(body.x);
  result.energy.elastic = objective.potential();
  result.inverted_elements = objective.inverted_elements();
  const auto masses = objective.masses();
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 x = node(body.x, i, d), v = node(body.v, i, d);
    result.energy.kinetic += 0.5 * masses[i] * v.squaredNorm();
    result.energy.gravity -= masses[i] * model_.gravity.dot(x);
    result.momentum += masses[i] * v;
    result.angular_momentum +=
        masses[i] * Vec3(x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]);
  }
  if (bodies_[index]->led_to_state) report_handles(index, result);
  return result;
}

// What the handles did to their vertices in the step that led to the state: mass times acceleration, less the other
// forces.
void Simulation::report_handles(std::size_t index, BodyReport& result) {
  const SolidBody& solid = model_.solids[index];
  const BodyState& now = state_.bodies[index];
  Body& body = *bodies_[index];
  const int d = solid.dimension;
  const Vec3 gravity = model_.scheme == Scheme::Static ? Vec3(Vec3::Zero()) : model_.gravity;  // then in `outside`
  body.objective->potential_gradient(body.work);
  body.objective->add_damping_gradient(body.work);
  for (const Handle& handle : solid.handles) {
    if (!holds(handle, state_.time, state_.previous_h)) continue;
    HandleReport& reaction = result.handles.emplace_back();
    reaction.name = handle.name;
    Vec3 center = Vec3::Zero();
    for (const int i : handle.vertices) center += node(now.x, static_cast<std::size_t>(i), d);
    center /= static_cast<double>(handle.vertices.size());
    for (const int vertex : handle.vertices) {
      const auto i = static_cast<std::size_t>(vertex);
      Vec3 force = body.objective->masses()[i] * (node(now.a, i, d) - gravity) + node(body.work, i, d) -
                   node(body.contact_force, i, d);
      if (d == 2) force[2] = 0;
      if (!body.outside.empty()) force -= node(body.outside, i, d);
      reaction.force += force;
      reaction.torque += (node(now.x, i, d) - center).cross(force);
    }
  }
}

Energies Simulation::energies(std::size_t body) { return report(body).energy; }

Simulation::Tangle Simulation::tangle(std::size_t index) {
  const SolidBody& solid = model_.solids[index];
  const std::vector<double>& x = state_.bodies[index].x;
  Tangle result{geometry::vertices_in_full_turns(solid.mesh, solid.dimension, x), 0};
  if (result.vertices.empty()) return result;
  matter::StepObjective& objective = *bodies_[index]->objective;
  const std::vector<double> shape = fitted_rest_shape(index);
  const auto d = static_cast<std::size_t>(solid.dimension);
  double distance = 0;  // Σ m |s − x|²
  for (std::size_t k = 0; k < x.size(); ++k)
    distance += objective.masses()[k / d] * std::pow(shape[k] - x[k], 2);
  objective.move_to(x);
  result.rescue_step = std::sqrt(distance / (2 * objective.potential()));
  return result;
}

std::vector<matter::Field> Simulation::fields(std::size_t index, const matter::FieldFilter& wanted) {
  Body& body = *bodies_[index];
  const BodyState& now = state_.bodies[index];
  const SolidBody& solid = model_.solids[index];
  const auto velocity = [&](std::size_t i) { return node(now.v, i, solid.dimension); };
  const auto contact = [&](std::size_t i) -> Vec3 {
    return body.led_to_state ? node(body.contact_force, i, solid.dimension) : Vec3(Vec3::Zero());
  };
  body.objective->move_to(now.x);
  std::vector<matter::Field> result = body.objective->fields(wanted);
  const auto add = [&](const char* name, const char* unit, int components, const auto& value_at) {
    if (!wanted(name)) return;
    matter::Field& field = result.emplace_back(matter::Field{name, unit, matter::Field::Place::Vertex, {}, components});
    field.values.reserve(body.fixed.size() * static_cast<std::size_t>(components));
    for (std::size_t i = 0; i < body.fixed.size(); ++i) {
      const Vec3 value = value_at(i);
      if (components == 1) {
        field.values.push_back(value.norm());
      } else {
        field.values.insert(field.values.end(), value.data(), value.data() + 3);
      }
    }
  };
  add("displacement", "m", 3,
      [&](std::size_t i) -> Vec3 { return node(now.x, i, solid.dimension) - solid.mesh.vertices[i]; });
  add("velocity", "m/s", 3, velocity);
  add("speed", "m/s", 1, velocity);
  add("contact_force", "N", 1, contact);
  if (body.led_to_state && wanted("residual")) body.objective->gradient(body.work);
  add("residual", "N", 1, [&](std::size_t i) -> Vec3 {
    return body.led_to_state ? Vec3(node(body.work, i, solid.dimension) - contact(i)) : Vec3(Vec3::Zero());
  });
  return result;
}

}  // namespace lope::step
