// Runs a scene in memory (no files) and sums up what the tables need.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <lope/base/expected.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>
#include <papers/benchmarks.h>

namespace lope::bench {

struct LoadedScene {
  scene::Scene scene;
  std::unique_ptr<step::Model> model;
  std::size_t unknowns = 0;
};

inline Expected<LoadedScene> load(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  auto scene = scene::load_scene(file.string(), overrides);
  if (!scene) return forward_error(scene);
  auto model = scene::build_model(*scene);
  if (!model) return forward_error(model);
  LoadedScene result{std::move(*scene), std::make_unique<step::Model>(std::move(*model)), 0};
  for (const auto& body : result.model->bodies) result.unknowns += body->unknowns();
  return result;
}

struct RunTotals {
  int steps = 0;
  int failed = 0;      // steps that did not converge
  int first_failed = 0;  // number of the first of them (0: none)
  int iterations = 0, max_iterations = 0;
  int linear_solves = 0;
  double seconds = 0, slowest = 0;
  std::int64_t inverted = 0;  // elements, at the end
  std::vector<step::StepReport> reports;
  double per_step(double total) const { return steps == 0 ? 0 : total / steps; }
};

// Shows while the simulation runs how far it is.
inline void show_progress(step::Simulation& simulation, std::string name, const BenchOptions& options) {
  simulation.set_observer([&simulation, name = std::move(name), progress = options.progress](
                              std::size_t, const optimize::Iteration& iteration, std::span<const double>) {
    progress(fmt::format("{}: step {}, iteration {}, measure {:.2g}", name, simulation.state().step + 1,
                         iteration.number, iteration.measure));
  });
}

// Stops early when a step cannot be taken at all, at the first failure if asked, or when `on_step` returns false. h: length
// of the steps, the model's if 0.
inline RunTotals run_in_memory(step::Simulation& simulation, std::int64_t steps, bool stop_at_failure = false,
                               const std::function<bool(const step::StepReport&)>& on_step = {},
                               double h = 0) {
  RunTotals totals;
  for (std::int64_t i = 0; i < steps; ++i) {
    step::StepReport report = h > 0 ? simulation.advance(h) : simulation.advance();
    ++totals.steps;
    totals.seconds += report.seconds;
    totals.slowest = std::max(totals.slowest, report.seconds);
    if (!report.converged()) {
      ++totals.failed;
      if (totals.first_failed == 0) totals.first_failed = static_cast<int>(report.step);
    }
    totals.inverted = 0;
    int iterations = 0;
    for (const auto& island : report.islands) {
      iterations += island.solve.iterations;
      totals.linear_solves += island.solve.linear_solves;
    }
    for (const auto& body : report.bodies) totals.inverted += body.count("inverted_elements");
    totals.iterations += iterations;
    totals.max_iterations = std::max(totals.max_iterations, iterations);
    const bool enough = on_step && !on_step(report);
    const bool accepted = report.accepted;
    totals.reports.push_back(std::move(report));
    if (!accepted || enough || (stop_at_failure && totals.failed > 0)) break;
  }
  return totals;
}

}  // namespace lope::bench
