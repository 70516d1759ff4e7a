#include <lope/base/errors.h>
#include <lope/base/memory.h>
#include <lope/io/file.h>
#include <lope/io/json_lines.h>
#include <lope/linalg/space.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>
#include <lope/scene/state_file.h>
#include <lope/scene/trajectory.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The solves of a step, added up.
ReplayStep sum_of_solves(const step::StepReport& report) {
  ReplayStep sum;
  sum.converged = report.converged();
  for (const step::IslandReport& island : report.islands) {
    const optimize::MinimizerSummary& solve = island.solve;
    if (!solve.converged() && sum.reason.empty()) sum.reason = solve.reason;
    sum.seconds += solve.timings.total;
    sum.iterations += solve.iterations;
    sum.linear_solves += solve.linear_solves;
    sum.linear_iterations += solve.linear_iterations;
    sum.value += solve.value;
    sum.timings.evaluate += solve.timings.evaluate;
    sum.timings.hessian += solve.timings.hessian;
    sum.timings.factorize += solve.timings.factorize;
    sum.timings.solve += solve.timings.solve;
    sum.timings.total += solve.timings.total;
  }
  return sum;
}

double largest_difference(const step::Model& model, const step::State& a, const step::State& b) {
  double largest = 0;
  std::vector<double> difference;
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    const auto *mine = dynamic_cast<const matter::NodalState*>(a.bodies[i].get()),
               *other = dynamic_cast<const matter::NodalState*>(b.bodies[i].get());
    if (!mine || !other) continue;
    difference.resize(mine->x.size());
    linalg::add_scaled(mine->x, -1, other->x, difference);
    largest = std::max(largest, linalg::local_space().max_block_norm(difference, model.bodies[i]->dimension));
  }
  return largest;
}

Expected<void> write_json(json tree, const fs::path& file) {
  io::name_non_finite(tree);
  return io::write_file(file, tree.dump());
}

json to_json(const ReplayStep& s) {
  return {{"converged", s.converged},
          {"reason", s.reason},
          {"seconds", s.seconds},
          {"iterations", s.iterations},
          {"linear_solves", s.linear_solves},
          {"linear_iterations", s.linear_iterations},
          {"value", s.value},
          {"difference", s.difference},
          {"timings",
           {s.timings.evaluate, s.timings.hessian, s.timings.factorize, s.timings.solve, s.timings.total}}};
}

ReplayStep step_from_json(const json& j) {
  ReplayStep s;
  s.converged = j.at("converged");
  s.reason = j.at("reason");
  s.seconds = j.at("seconds");
  s.iterations = j.at("iterations");
  s.linear_solves = j.at("linear_solves");
  s.linear_iterations = j.at("linear_iterations");
  s.value = io::number_from(j.at("value"));
  s.difference = io::number_from(j.at("difference"));
  const json& t = j.at("timings");
  s.timings = {t.at(0), t.at(1), t.at(2), t.at(3), t.at(4)};
  return s;
}

json to_json(const optimize::Iteration& i) {
  return {{"number", i.number},
          {"value", i.value},
          {"gradient_norm", i.gradient_norm},
          {"measure", i.measure},
          {"tolerance", i.tolerance},
          {"step_length", i.step_length},
          {"line_search_steps", i.line_search_steps},
          {"linear_iterations", i.linear_iterations},
          {"seconds", i.seconds}};
}

optimize::Iteration iteration_from_json(const json& j) {
  return {j.at("number"),
          io::number_from(j.at("value")),
          io::number_from(j.at("gradient_norm")),
          io::number_from(j.at("measure")),
          io::number_from(j.at("tolerance")),
          io::number_from(j.at("step_length")),
          j.at("line_search_steps"),
          j.at("linear_iterations"),
          j.at("seconds")};
}

// The JSON of a file through `parse`; an input error when it is not what it should be.
template <class Parse>
auto read_json(const fs::path& file, const char* what, const Parse& parse)
    -> Expected<decltype(parse(json()))> {
  const auto text = io::read_file(file);
  if (!text) return forward_error(text);
  try {
    return parse(json::parse(*text));
  } catch (const json::exception& error) {
    return input_error("{}: not {} of Lope: {}", file.string(), what, error.what());
  }
}

}  // namespace

fs::path Trajectory::state_file(std::int64_t step) const {
  return folder / fmt::format("state_{:06}.h5", step);
}

std::int64_t Trajectory::hardest_step() const {
  const auto hardest = std::max_element(
      steps.begin(), steps.end(),
      [](const TrajectoryStep& a, const TrajectoryStep& b) { return a.iterations < b.iterations; });
  return hardest - steps.begin() + 1;
}

bool anything_to_solve(const step::Model& model, std::int64_t steps) {
  const double end = static_cast<double>(steps) * model.step;
  const auto bodies = each<matter::NodalBody>(model.bodies);
  return std::any_of(bodies.begin(), bodies.end(), [end](const matter::NodalBody& body) {
    std::set<int> held;
    for (const matter::Handle& handle : body.handles) {
      if (handle.begin <= 0 && handle.end >= end) held.insert(handle.vertices.begin(), handle.vertices.end());
    }
    return held.size() < body.rest_positions().size();
  });
}

Expected<Trajectory> record_trajectory(const step::Model& model, const fs::path& folder,
                                       const TrajectoryOptions& options) {
  if (!anything_to_solve(model, options.steps))
    return input_error(
        "there is nothing to compare: the methods move solid bodies, and no vertex of one is free");
  Trajectory result;
  result.folder = folder;
  result.reference = optimize::name_of(options.reference);
  result.is_length = !optimize::tests_gradient(model.solver.stopping.test);

  step::Model tight = model;
  tight.solver.method = options.reference;
  tight.solver.stopping.tolerance *= options.tightening;
  result.tolerance = model.solver.stopping.tolerance;
  step::Simulation simulation(tight);
  json steps = json::array();
  if (const auto written = write_state(simulation.state(), result.state_file(0)); !written)
    return forward_error(written);
  for (std::int64_t i = 1; i <= options.steps; ++i) {
    const step::StepReport report = simulation.advance();
    if (!report.accepted) {
      if (i > 1) break;
      return input_error("the reference method '{}' cannot take the first step: {}", result.reference,
                         sum_of_solves(report).reason);
    }
    const ReplayStep sum = sum_of_solves(report);
    result.steps.push_back({sum.converged, sum.value, sum.iterations});
    steps.push_back({{"converged", sum.converged}, {"value", sum.value}, {"iterations", sum.iterations}});
    if (const auto written = write_state(simulation.state(), result.state_file(i)); !written)
      return forward_error(written);
    if (options.on_step) options.on_step(i, options.steps);
  }
  const json all = {{"reference", result.reference},
                    {"tolerance", result.tolerance},
                    {"is_length", result.is_length},
                    {"steps", steps}};
  if (const auto written = write_json(all, folder / "trajectory.json"); !written)
    return forward_error(written);
  return result;
}

Expected<Trajectory> read_trajectory(const fs::path& folder) {
  return read_json(folder / "trajectory.json", "a trajectory", [&](const json& j) {
    Trajectory result;
    result.folder = folder;
    result.reference = j.at("reference");
    result.tolerance = j.at("tolerance");
    result.is_length = j.at("is_length");
    for (const json& s : j.at("steps"))
      result.steps.push_back({s.at("converged"), io::number_from(s.at("value")), s.at("iterations")});
    return result;
  });
}

Expected<Replay> replay(const step::Model& model, const Trajectory& trajectory, optimize::Method method,
                        const ReplayOptions& options) {
  Replay result;
  result.method = optimize::name_of(method);
  result.history_step = options.history_step > 0 ? options.history_step : trajectory.hardest_step();
  result.memory_before = peak_memory();
  step::Model mine = model;
  mine.solver.method = method;
  step::Simulation simulation(mine);
  auto before = read_state(trajectory.state_file(0), simulation);
  if (!before) return forward_error(before);
  const auto steps = static_cast<std::int64_t>(trajectory.steps.size());
  for (std::int64_t i = 1; i <= steps; ++i) {
    auto after = read_state(trajectory.state_file(i), simulation);
    if (!after) return forward_error(after);
    before->kept = simulation.state().kept;  // a method goes on with what it remembers itself
    if (const auto fits = simulation.restore(std::move(*before)); !fits) return forward_error(fits);
    const step::StepReport report = simulation.advance();
    result.steps.push_back(sum_of_solves(report));
    result.steps.back().difference = report.accepted ? largest_difference(model, simulation.state(), *after)
                                                     : std::numeric_limits<double>::infinity();
    if (i == result.history_step && !report.islands.empty()) result.history = report.islands[0].solve.history;
    before = std::move(after);
    if (options.on_step) options.on_step(i, steps);
  }
  result.peak_memory = peak_memory();
  return result;
}

Expected<void> write_replay(const Replay& replay, const fs::path& file) {
  json steps = json::array(), history = json::array();
  for (const ReplayStep& s : replay.steps) steps.push_back(to_json(s));
  for (const optimize::Iteration& i : replay.history) history.push_back(to_json(i));
  const json all = {{"method", replay.method},
                    {"memory_before", replay.memory_before},
                    {"peak_memory", replay.peak_memory},
                    {"steps", std::move(steps)},
                    {"history_step", replay.history_step},
                    {"history", std::move(history)}};
  return write_json(all, file);
}

Expected<Replay> read_replay(const fs::path& file) {
  return read_json(file, "a replay", [](const json& j) {
    Replay result;
    result.method = j.at("method");
    result.memory_before = j.at("memory_before");
    result.peak_memory = j.at("peak_memory");
    result.history_step = j.at("history_step");
    for (const json& s : j.at("steps")) result.steps.push_back(step_from_json(s));
    for (const json& i : j.at("history")) result.history.push_back(iteration_from_json(i));
    return result;
  });
}

}  // namespace lope::scene
