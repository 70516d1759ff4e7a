#include <lope/base/timer.h>
#include <lope/linalg/space.h>
#include <lope/optimize/methods.h>
#include <lope/step/simulation.h>

#include <algorithm>
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

}  // namespace

struct Simulation::Island {
  std::unique_ptr<matter::StepObjective> objective;
  std::unique_ptr<optimize::Minimizer> minimizer;
  SchemeTerms terms;
  Scheme scheme = Scheme::BackwardEuler;
  std::vector<std::uint8_t> fixed;
  std::vector<double> scripted_x;  // positions at the end of the step where fixed
  std::vector<double> work;
};

bool StepReport::converged() const {
  return accepted && std::all_of(bodies.begin(), bodies.end(),
                                 [](const BodyReport& body) { return body.solve.converged(); });
}

Simulation::Simulation(const Model& model) : model_(model) {
  for (const SolidBody& solid : model.solids) {
    auto island = std::make_unique<Island>();
    matter::SolidDescription description;
    description.dimension = solid.dimension;
    description.mesh = &solid.mesh;
    description.materials = solid.materials;
    description.material_of_element = solid.material_of_element;
    description.density_of_material = solid.density_of_material;
    description.mass_damping = solid.mass_damping;
    description.stiffness_damping = solid.stiffness_damping;
    island->objective = matter::make_solid_objective(description);
    island->minimizer = optimize::make_minimizer(model.solver.method, island->objective->size());
    island->fixed.resize(solid.mesh.vertices.size());
    island->work.resize(island->objective->size());
    state_.bodies.push_back(initial_state(solid));
    if (model.scheme == Scheme::Trapezoid) initial_acceleration(*island, state_.bodies.back());
    islands_.push_back(std::move(island));
  }
}

Simulation::~Simulation() = default;

void Simulation::use_method(optimize::Method method) {
  for (auto& island : islands_)
    island->minimizer = optimize::make_minimizer(method, island->objective->size());
}

// a₀ = M⁻¹f(x₀) + g; damping is left out, so a damped trapezoid run should start at rest.
void Simulation::initial_acceleration(Island& island, BodyState& body) {
  const auto d = static_cast<std::size_t>(island.objective->dimension());
  island.objective->move_to(body.x);
  island.objective->potential_gradient(island.work);
  for (std::size_t k = 0; k < body.a.size(); ++k) {
    body.a[k] =
        model_.gravity[static_cast<Eigen::Index>(k % d)] - island.work[k] / island.objective->masses()[k / d];
  }
}

Expected<void> Simulation::restore(State state) {
  if (state.bodies.size() != state_.bodies.size()) {
    return input_error("the saved state has {} bodies, the scene {}", state.bodies.size(),
                       state_.bodies.size());
  }
  for (std::size_t i = 0; i < state.bodies.size(); ++i) {
    const BodyState &saved = state.bodies[i], &mine = state_.bodies[i];
    for (const auto* values : {&saved.x, &saved.v, &saved.previous_x, &saved.previous_v, &saved.a}) {
      if (values->size() != mine.x.size()) {
        return input_error("body '{}' has {} vertices in the saved state, not the scene's {}",
                           model_.solids[i].name,
                           values->size() / static_cast<std::size_t>(model_.solids[i].dimension),
                           model_.solids[i].mesh.vertices.size());
      }
    }
    if (saved.anchors.size() != mine.anchors.size()) {
      return input_error("body '{}' has {} handles in the saved state, not the scene's {}",
                         model_.solids[i].name, saved.anchors.size(), mine.anchors.size());
    }
    for (std::size_t j = 0; j < saved.anchors.size(); ++j) {
      const std::size_t held = saved.anchors[j].size() / 3,
                        expected = model_.solids[i].handles[j].vertices.size();
      if (!saved.anchors[j].empty() && saved.anchors[j].size() != 3 * expected) {
        return input_error("handle {} of body '{}' holds {} vertices in the saved state, not the scene's {}",
                           j, model_.solids[i].name, held, expected);
      }
    }
  }
  state_ = std::move(state);
  return {};
}

// Sets the fixed mask, the scripted positions, x̂ and the damping targets for a step of length h.
void Simulation::prepare(Island& island, BodyState& body, const SolidBody& solid, double h) {
  const int d = solid.dimension;
  const double end = state_.time + h;
  std::fill(island.fixed.begin(), island.fixed.end(), std::uint8_t{0});
  island.scripted_x = body.x;
  for (std::size_t j = 0; j < solid.handles.size(); ++j) {
    const Handle& handle = solid.handles[j];
    if (!holds(handle, end, h)) continue;
    std::vector<double>& anchor = body.anchors[j];
    if (anchor.empty()) {
      for (const int i : handle.vertices) {
        const Vec3 p = node(body.x, static_cast<std::size_t>(i), d);
        anchor.insert(anchor.end(), p.data(), p.data() + 3);
      }
    }
    for (std::size_t k = 0; k < handle.vertices.size(); ++k) {
      const auto i = static_cast<std::size_t>(handle.vertices[k]);
      const Vec3 p =
          handle.motion.position(Eigen::Map<const Vec3>(anchor.data() + 3 * k), end - handle.begin);
      island.fixed[i] = 1;
      for (int c = 0; c < d; ++c)
        island.scripted_x[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] = p[c];
    }
  }
  const bool same_h = state_.step > 0 && std::abs(h - state_.previous_h) <= 1e-12 * h;
  island.scheme = effective_scheme(model_.scheme, same_h);
  const std::span<const double> gravity(model_.gravity.data(), static_cast<std::size_t>(d));
  scheme_terms(island.scheme, h, body, gravity, island.terms);
  island.objective->begin_step({island.terms.inertia, island.terms.target, island.terms.damping,
                                island.terms.damping_target, body.x, island.fixed});
}

// OPT §3.1: the candidate of smallest energy; scripted nodes are at their scripted positions in all of them.
// OPT compares inertia with explicit Euler; the current positions, which win at rest, and x̂ are further ones.
std::vector<double> Simulation::initial_guess(Island& island, const BodyState& body, double h) {
  const auto d = static_cast<std::size_t>(island.objective->dimension());
  const auto place_handles = [&](std::vector<double>& x) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (island.fixed[k / d]) x[k] = island.scripted_x[k];
    }
  };
  std::vector<double> best = island.terms.target;
  place_handles(best);
  if (model_.solver.initial_guess == InitialGuess::Inertia) return best;

  matter::StepObjective& objective = *island.objective;
  std::vector<std::vector<double>> others(3, body.x);
  linalg::combine(h, body.v, 1, others[1]);
  objective.move_to(body.x);
  objective.potential_gradient(island.work);
  for (std::size_t k = 0; k < best.size(); ++k) {
    others[2][k] = best[k] - island.work[k] / (island.terms.inertia * objective.masses()[k / d]);
  }
  objective.move_to(best);
  double smallest = objective.value();
  for (std::vector<double>& candidate : others) {
    place_handles(candidate);
    objective.move_to(candidate);
    const double value = objective.value();
    if (std::isfinite(value) && !(smallest <= value)) {
      smallest = value;
      best.swap(candidate);
    }
  }
  return best;
}

Simulation::StepProblem Simulation::step_problem(std::size_t body, double h) {
  Island& island = *islands_[body];
  prepare(island, state_.bodies[body], model_.solids[body], h);
  return {*island.objective, initial_guess(island, state_.bodies[body], h)};
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

  std::vector<std::vector<double>> solutions;
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    StepProblem problem = step_problem(i, h);
    step.bodies.emplace_back();
    step.bodies.back().name = model_.solids[i].name;
    step.bodies.back().solve = islands_[i]->minimizer->minimize(problem.objective, problem.start, options);
    const bool failed = step.bodies.back().solve.outcome == optimize::Outcome::Failed;
    step.accepted = step.accepted && !failed && linalg::all_finite(problem.start);
    solutions.push_back(std::move(problem.start));
  }
  if (step.accepted) {
    for (std::size_t i = 0; i < islands_.size(); ++i) {
      Island& island = *islands_[i];
      finish_step(island.scheme, h, solutions[i], island.fixed, island.terms, state_.bodies[i]);
      optimize::MinimizerSummary solve = std::move(step.bodies[i].solve);
      step.bodies[i] = report(island, state_.bodies[i], model_.solids[i]);
      step.bodies[i].solve = std::move(solve);
    }
    state_.time = step.time;
    state_.step = step.step;
    state_.previous_h = h;
  }
  step.seconds = watch.seconds();
  return step;
}

BodyReport Simulation::report(Island& island, const BodyState& body, const SolidBody& solid) {
  BodyReport result;
  result.name = solid.name;
  island.objective->move_to(body.x);
  result.energy.elastic = island.objective->potential();
  result.inverted_elements = island.objective->inverted_elements();
  const auto masses = island.objective->masses();
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 x = node(body.x, i, solid.dimension), v = node(body.v, i, solid.dimension);
    result.energy.kinetic += 0.5 * masses[i] * v.squaredNorm();
    result.energy.gravity -= masses[i] * model_.gravity.dot(x);
    result.momentum += masses[i] * v;
    result.angular_momentum +=
        masses[i] * Vec3(x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]);
  }
  return result;
}

Energies Simulation::energies(std::size_t body) {
  return report(*islands_[body], state_.bodies[body], model_.solids[body]).energy;
}

std::vector<matter::Field> Simulation::fields(std::size_t body) {
  using Place = matter::Field::Place;
  Island& island = *islands_[body];
  const int d = model_.solids[body].dimension;
  const std::size_t n = island.fixed.size();
  matter::Field speed{"speed", "m/s", Place::Vertex, std::vector<double>(n, 0.0)};
  matter::Field residual{"residual", "N", Place::Vertex, std::vector<double>(n, 0.0)};
  island.objective->move_to(state_.bodies[body].x);
  if (!island.terms.target.empty()) island.objective->gradient(island.work);
  for (std::size_t i = 0; i < n; ++i) {
    speed.values[i] = node(state_.bodies[body].v, i, d).norm();
    if (!island.terms.target.empty()) residual.values[i] = node(island.work, i, d).norm();
  }
  std::vector<matter::Field> result = island.objective->fields();
  result.push_back(std::move(speed));
  result.push_back(std::move(residual));
  return result;
}

}  // namespace lope::step
