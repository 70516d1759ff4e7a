#include <lope/base/errors.h>
#include <lope/base/timer.h>
#include <lope/optimize/methods.h>
#include <lope/step/island.h>
#include <lope/step/past.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <utility>

namespace lope::step {

Simulation::Simulation(Model model) : model_(std::move(model)) {
  for (const auto& body : model_.bodies) {
    matter_.push_back(body->make(model_));
    state_.bodies.push_back(matter_.back()->start());
  }
  make_islands();
}

Simulation::~Simulation() = default;

void Simulation::make_islands() {
  std::vector<std::vector<std::size_t>> groups;
  const auto touches = [](const matter::NodalBody& body) { return body.touches_others && body.contact_body().mesh; };
  const auto nodal = [&](std::size_t i) -> const matter::NodalBody& { return matter_[i]->nodal()->body(); };
  for (std::size_t i = 0; i < matter_.size(); ++i) {
    if (!matter_[i]->nodal()) continue;
    const auto belongs = [&](const std::vector<std::size_t>& group) {
      const matter::NodalBody &body = nodal(i), &other = nodal(group.front());
      return touches(body) && touches(other) && body.dimension == other.dimension;
    };
    auto group = std::find_if(groups.begin(), groups.end(), belongs);
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(i);
  }
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<matter::NodalMatter*> parts;
    for (const std::size_t i : group) parts.push_back(matter_[i]->nodal());
    islands_.push_back(std::make_unique<Island>(model_, group, std::move(parts)));
  }
  state_.kept.resize(islands_.size());
  state_.contacts.resize(islands_.size());
  state_.barriers.resize(islands_.size());
  use_method(model_.solver.method);
}

void Simulation::use_method(optimize::Method method) {
  use_minimizer([&](const optimize::Objective& objective) {
    return optimize::make_minimizer(method, objective.size());
  });
}

void Simulation::use_minimizer(const MakeMinimizer& make) {
  for (auto& island : islands_) island->use(make(island->objective()));
}

const std::vector<std::size_t>& Simulation::bodies_of(std::size_t island) const { return islands_[island]->bodies(); }

Expected<void> Simulation::check_fit(const State& state) const {
  if (state.bodies.size() != matter_.size()) {
    return input_error("the saved state has {} bodies, the scene {}", state.bodies.size(), matter_.size());
  }
  for (std::size_t i = 0; i < matter_.size(); ++i) {
    if (const auto fits = matter_[i]->fits(*state.bodies[i]); !fits) return fits;
  }
  for (std::size_t k = 0; k < std::min(state.kept.size(), islands_.size()); ++k) {
    const optimize::KeptModel* kept = state.kept[k].get();
    if (kept && !kept->point.empty() &&
        (kept->point.size() != islands_[k]->objective().size() || !islands_[k]->fits(kept->choices))) {
      return input_error("the solver's model of the bodies from '{}' on has another size in the saved state",
                         model_.bodies[islands_[k]->bodies().front()]->name);
    }
  }
  for (std::size_t k = 0; k < std::min(state.contacts.size(), islands_.size()); ++k) {
    const optimize::Objective& objective = islands_[k]->objective();
    if (!matter::fits(state.contacts[k], objective.size() / static_cast<std::size_t>(objective.block_size()),
                      model_.obstacles.size())) {
      return input_error("the saved state has contacts of vertices or obstacles that the scene does not have");
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
  if (state_.barriers.size() != islands_.size()) state_.barriers.assign(islands_.size(), {});
  forget_last_step();
  return {};
}

// What objects hold of the last step does not belong to the state any more.
void Simulation::forget_last_step() {
  past_.reset();
  for (auto& matter : matter_) matter->forget();
}

Polymorphic<matter::BodyState> Simulation::hand_over(std::size_t body) {
  return std::exchange(state_.bodies[body], Polymorphic<matter::BodyState>(state_.bodies[body]));
}

bool Simulation::take_back() {
  if (!past_) return false;
  if (!past_->bodies.empty()) {
    state_.bodies = std::move(past_->bodies);
  } else {
    for (std::size_t i = 0; i < matter_.size(); ++i) matter_[i]->take_back(*state_.bodies[i]);
  }
  state_.time = past_->time;
  state_.step = past_->step;
  state_.previous_h = past_->previous_h;
  state_.kept = std::move(past_->kept);
  state_.contacts = std::move(past_->contacts);
  state_.barriers = std::move(past_->barriers);
  forget_last_step();
  return true;
}

matter::StepTimes Simulation::times(double h) const { return {state_.time, h, state_.step, state_.previous_h}; }

// Of the step that led to the state.
matter::StepTimes Simulation::last_times() const {
  return {state_.time - state_.previous_h, state_.previous_h, state_.step - 1, 0};
}

Simulation::StepProblem Simulation::step_problem(std::size_t index, double h) {
  Island& island = *islands_[index];
  forget_last_step();
  const IslandStart from = start_of(index);
  StepProblem problem{island.objective(), island.begin_step(from, times(h), false), {}};
  for (const matter::NodalState* body : from.bodies)
    problem.reference.insert(problem.reference.end(), body->x.begin(), body->x.end());
  return problem;
}

IslandStart Simulation::start_of(std::size_t index) const {
  IslandStart from;
  for (const std::size_t i : islands_[index]->bodies()) from.bodies.push_back(&state_.nodes(i));
  from.contacts = state_.contacts[index];
  from.barrier = state_.barriers[index];
  return from;
}

// Whether a step has the weights and the fixed nodes of the last one: only then is a model of the Hessian that was kept
// of use.
bool Simulation::keeps_weights(const Island& island, const matter::StepTimes& step) const {
  if (state_.step == 0 || step.h != state_.previous_h || model_.scheme == Scheme::Bdf2) return false;
  return std::all_of(island.parts().begin(), island.parts().end(), [&](const matter::NodalMatter* part) {
    return part->same_handles(last_times(), step);
  });
}

StepReport Simulation::advance() { return advance(model_.step); }

StepReport Simulation::advance(double h) {
  const Stopwatch watch;
  StepReport report = take_step(h);
  const auto impact = [](const IslandReport& island) { return island.impact; };
  if (report.accepted && std::any_of(report.islands.begin(), report.islands.end(), impact)) {
    take_back();
    report = take_parts(h, std::move(report));
  }
  report.seconds = watch.seconds();
  return report;
}

StepReport Simulation::take_step(double h) {
  StepReport report;
  report.step = state_.step + 1;
  report.time = state_.time + h;
  report.h = h;
  past_.reset();
  report.accepted = solve_islands(times(h), report) && solve_alone(times(h), report);
  report.interrupted =
      !report.islands.empty() && report.islands.back().solve.outcome == optimize::Outcome::Interrupted;
  if (report.accepted) {
    commit(report);
    for (std::size_t i = 0; i < matter_.size(); ++i) report.bodies.push_back(this->report(i));
    for (std::size_t k = 0; k < report.islands.size(); ++k) {
      for (const std::size_t i : report.islands[k].bodies) report.bodies[i].island = k;
    }
  } else {
    forget_last_step();
  }
  return report;
}

optimize::MinimizerOptions Simulation::options_for(std::size_t island) const {
  optimize::MinimizerOptions options;
  options.stopping = model_.solver.stopping;
  options.max_iterations = model_.solver.max_iterations;
  if (observer_) {
    options.observer = [this, island](const optimize::Iteration& iteration, std::span<const double> x) {
      observer_(island, iteration, x);
    };
  }
  options.stop_requested = stop_requested_;
  return options;
}

bool Simulation::solve_islands(const matter::StepTimes& step, StepReport& report) {
  for (std::size_t k = 0; k < islands_.size(); ++k) {
    IslandStart from = start_of(k);
    from.kept = keeps_weights(*islands_[k], step) ? state_.kept[k] : optimize::without_model(state_.kept[k]);
    if (!islands_[k]->solve(from, step, options_for(k), report.islands.emplace_back())) return false;
  }
  return true;
}

bool Simulation::solve_alone(const matter::StepTimes& step, StepReport& report) {
  for (std::size_t i = 0; i < matter_.size(); ++i) {
    matter::LoneMatter* lone = matter_[i]->lone();
    if (!lone) continue;
    IslandReport& result = report.islands.emplace_back();
    result.bodies = {i};
    result.measures = lone->measures();
    result.solve = lone->solve(*state_.bodies[i], step, options_for(report.islands.size() - 1));
    if (!result.solve.has_result()) return false;
  }
  return true;
}

// What the islands and lone matter found becomes the state, and the state what take_back() returns to.
void Simulation::commit(const StepReport& step) {
  past_ = std::make_unique<Past>(
      Past{state_.time, state_.step, state_.previous_h, std::move(state_.kept), std::move(state_.contacts),
           {},
           std::move(state_.barriers)});
  state_.kept.clear();
  state_.contacts.clear();
  state_.barriers.clear();
  for (std::size_t k = 0; k < islands_.size(); ++k) {
    const auto& island = islands_[k];
    const optimize::KeptModelPtr kept = island->minimizer().kept();
    state_.kept.push_back(step.islands[k].fell_back ? optimize::without_model(kept) : kept);
    state_.contacts.push_back(island->take_contacts());
    state_.barriers.push_back(island->barrier_memory());
  }
  for (std::size_t i = 0; i < matter_.size(); ++i) matter_[i]->commit(*state_.bodies[i]);
  state_.time = step.time;
  state_.step = step.step;
  state_.previous_h = step.h;
}

matter::BodyReport Simulation::report(std::size_t body) {
  return matter_[body]->report(*state_.bodies[body], last_times());
}

}  // namespace lope::step
