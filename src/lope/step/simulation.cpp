#include <lope/base/timer.h>
#include <lope/geometry/full_turns.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/rigid_fit.h>
#include <lope/linalg/space.h>
#include <lope/matter/contact/friction.h>
#include <lope/matter/contact/obstacle_penalty.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/matter/island_objective.h>
#include <lope/optimize/methods.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lope::step {
namespace {

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

}  // namespace

// A body in the step that is being taken.
struct Simulation::Body {
  std::unique_ptr<matter::StepObjective> objective;
  SchemeTerms terms;
  Scheme scheme = Scheme::BackwardEuler;
  std::vector<std::uint8_t> fixed;
  std::vector<double> scripted_x;     // positions at the end of the step where fixed
  std::span<const double> start_a;    // accelerations at its beginning: the state's, or released_a
  std::vector<double> released_a;
  std::vector<std::pair<std::size_t, std::vector<double>>>
      taken;                          // handles that take hold, and their anchors
  StepEnd end;                        // becomes the state when the step is accepted
  std::vector<double> contact_force;  // of the last step, interleaved, newtons
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
      return solid.self_contact && other.self_contact && solid.dimension == other.dimension;
    };
    auto island = std::find_if(islands_.begin(), islands_.end(), touches);
    if (island == islands_.end()) island = islands_.insert(island, std::make_unique<Island>());
    (*island)->bodies.push_back(i);
  }
  for (auto& island : islands_) {
    island->objective = bodies_[island->bodies.front()]->objective.get();
    const bool touching = model_.solids[island->bodies.front()].self_contact;
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
  }
  state_.kept.resize(islands_.size());
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
    parts.push_back({&solid.mesh, stiffness, true});
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
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = model_.gravity[static_cast<Eigen::Index>(k % d)] - force[k] / objective.masses()[k / d];
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
    if (kept && (kept->point.size() != islands_[k]->objective->size() || !islands_[k]->fits(kept->choices))) {
      return input_error("the solver's model of the bodies from '{}' on has another size in the saved state",
                         model_.solids[islands_[k]->bodies.front()].name);
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
  state_.liquid.swap(other_liquid_);
  forget_last_step();
  return true;
}

// Sets the fixed mask, the scripted positions, x̂ and the damping targets for a step of length h. State stays
// as it is.
void Simulation::prepare(std::size_t index, double h) {
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
  body.scheme = effective_scheme(model_.scheme, same_h);
  body.start_a = start_accelerations(index);
  const std::span<const double> gravity(model_.gravity.data(), static_cast<std::size_t>(d));
  scheme_terms(body.scheme, h, now, body.start_a, gravity, body.terms);
  body.objective->begin_step({body.terms.inertia, body.terms.target, body.terms.damping,
                              body.terms.damping_target, now.x, body.fixed});
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

Simulation::StepProblem Simulation::step_problem(std::size_t index, double h) {
  Island& island = *islands_[index];
  past_.reset();
  for (const std::size_t i : island.bodies) prepare(i, h);
  move_obstacles(h);
  if (island.joint) island.joint->begin_step(obstacles_->constraints.obstacles);
  if (island.penalty)
    island.penalty->begin_step(obstacles_->penalties.obstacles, island.joint->fixed_blocks());
  std::vector<double> reference;
  for (const std::size_t i : island.bodies) {
    reference.insert(reference.end(), state_.bodies[i].x.begin(), state_.bodies[i].x.end());
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

// Where one island goes in a step of length h; false: nowhere, and the step is over.
bool Simulation::solve(std::size_t index, double h, optimize::MinimizerOptions& options,
                       IslandReport& result) {
  Island& island = *islands_[index];
  StepProblem problem = step_problem(index, h);
  result.bodies = island.bodies;
  options.reference = problem.reference;
  island.minimizer->recall(problem.objective, keeps_weights(island, h) ? state_.kept[index] : nullptr);
  optimize::MinimizerSummary& summary = result.solve;
  summary = island.minimizer->minimize(problem.objective, problem.start, options);
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
  past_ = std::make_unique<Past>(Past{state_.time, state_.step, state_.previous_h, std::move(state_.kept)});
  state_.kept.clear();
  for (const auto& island : islands_) state_.kept.push_back(island->minimizer->kept());
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

// Friction and what the contacts did, at the solution x (OPT §5.1–5.3): every contact in turn changes the
// velocities that the one before left.
void Simulation::finish_contacts(Island& island, std::span<const double> x, double h, ContactReport& report) {
  matter::IslandObjective& joint = *island.joint;
  const int d = joint.block_size();
  for (const std::size_t i : island.bodies) {
    std::fill(bodies_[i]->contact_force.begin(), bodies_[i]->contact_force.end(), 0.0);
  }
  report.obstacle_force.assign(model_.obstacles.size(), Vec3::Zero());
  const auto press = [&](int node_of_island, const matter::Obstacle& obstacle, std::size_t number,
                         const Vec3& n, double force) {
    const std::size_t b = joint.body_of(static_cast<std::size_t>(node_of_island));
    Body& body = *bodies_[island.bodies[b]];
    const std::size_t i = static_cast<std::size_t>(node_of_island) - joint.first_node(b);
    const Vec3 carried =
        geometry::carried_velocity(obstacle.before, obstacle.after, h, node(body.end.x, i, d));
    const Vec3 v = matter::slide(node(body.end.v, i, d), carried, n, force, body.objective->masses()[i],
                                 obstacle.friction, h);
    for (int c = 0; c < d; ++c) {
      const std::size_t k = i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c);
      body.end.v[k] = v[c];
      body.contact_force[k] += force * n[c];
    }
    report.obstacle_force[number] += force * n;
    ++report.obstacle_pairs;
  };

  joint.move_to(x);
  joint.begin_iteration();
  for (const matter::ActivePair& pair : joint.constraints().active()) {
    const auto k = static_cast<std::size_t>(pair.obstacle);
    press(pair.node, obstacles_->constraints.obstacles[k], obstacles_->constraints.number[k], pair.normal,
          pair.force);
  }
  if (island.self_contact) finish_self_contact(island, h, report);
  joint.let_go();  // depths are those of everything inside, whatever the solution looked at
  if (island.self_contact) report.deepest = island.self_contact->deepest();
  report.deepest = std::max(report.deepest, joint.constraints().deepest(x).depth);
  if (!island.penalty) return;
  for (const matter::ObstaclePenalty::Pair& pair : island.penalty->pairs()) {
    const auto k = static_cast<std::size_t>(pair.obstacle);
    const Vec3 force = pair.force();
    const double size = force.norm();
    if (size > 0)
      press(pair.node, obstacles_->penalties.obstacles[k], obstacles_->penalties.number[k], force / size,
            size);
    report.deepest = std::max(report.deepest, -pair.at.value);
  }
}

void Simulation::finish_self_contact(Island& island, double h, ContactReport& report) {
  const auto d = static_cast<std::size_t>(island.joint->block_size());
  for (const matter::SelfContactPair& pair : island.self_contact->pairs()) {
    std::array<Vec3, 4> v;
    std::array<double, 4> mass;
    std::array<double*, 4> velocity{}, force{};
    for (std::size_t k = 0; k < 4; ++k) {
      v[k].setZero();
      mass[k] = 1;
      if (pair.weight[k] == 0) continue;
      const auto number = static_cast<std::size_t>(pair.node[k]);
      const std::size_t b = island.joint->body_of(number), i = number - island.joint->first_node(b);
      Body& body = *bodies_[island.bodies[b]];
      v[k] = node(body.end.v, i, static_cast<int>(d));
      mass[k] = body.fixed[i] ? std::numeric_limits<double>::infinity() : body.objective->masses()[i];
      velocity[k] = body.end.v.data() + i * d;
      force[k] = body.contact_force.data() + i * d;
    }
    matter::slide(v, mass, pair.weight, pair.normal, pair.force, model_.body_contact.friction, h);
    for (std::size_t k = 0; k < 4; ++k) {
      if (!velocity[k]) continue;
      std::copy_n(v[k].data(), d, velocity[k]);
      for (std::size_t c = 0; c < d; ++c) {
        force[k][c] -= pair.weight[k] * pair.force * pair.normal[static_cast<Eigen::Index>(c)];
      }
    }
    ++report.body_pairs;
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
  return result;
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

std::vector<matter::Field> Simulation::fields(std::size_t index) {
  using Place = matter::Field::Place;
  Body& body = *bodies_[index];
  const int d = model_.solids[index].dimension;
  const std::size_t n = body.fixed.size();
  matter::Field speed{"speed", "m/s", Place::Vertex, std::vector<double>(n, 0.0)};
  matter::Field residual{"residual", "N", Place::Vertex, std::vector<double>(n, 0.0)};
  matter::Field contact{"contact_force", "N", Place::Vertex, std::vector<double>(n, 0.0)};
  body.objective->move_to(state_.bodies[index].x);
  if (body.led_to_state) body.objective->gradient(body.work);
  for (std::size_t i = 0; i < n; ++i) {
    speed.values[i] = node(state_.bodies[index].v, i, d).norm();
    if (!body.led_to_state) continue;
    const Vec3 pushed = node(body.contact_force, i, d);
    contact.values[i] = pushed.norm();
    residual.values[i] = (node(body.work, i, d) - pushed).norm();
  }
  std::vector<matter::Field> result = body.objective->fields();
  result.push_back(std::move(speed));
  result.push_back(std::move(residual));
  result.push_back(std::move(contact));
  return result;
}

}  // namespace lope::step
