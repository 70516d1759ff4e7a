// Do two methods find the same minimiser? From one recorded trajectory (the run of `newton`), every step problem is
// solved by both, from the same state; their solutions should differ by at most three times the accuracy. Steps where
// they differ by more are listed with both energies (a step problem may have several minimisers after buckling).
#include <cmath>

#include <fmt/format.h>

#include <lope/base/memory.h>
#include <lope/optimize/methods.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

double largest_distance(const std::vector<double>& a, const std::vector<double>& b, std::size_t d) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); i += d) {
    double square = 0;
    for (std::size_t k = i; k < i + d; ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
    largest = std::max(largest, square);
  }
  return std::sqrt(largest);
}

}  // namespace

Expected<void> agreement(const BenchOptions& options) {
  std::vector<std::string> overrides = {"solver.method=newton"};
  if (!options.mesh.empty()) overrides.push_back("body.0.shape.mesh=" + options.mesh);
  const auto loaded = load(options.scenes / "twisted_bar.toml", overrides);
  if (!loaded) return forward_error(loaded);
  const step::Model& model = *loaded->model;
  step::Simulation simulation(model);
  const auto pcg = optimize::make_minimizer(optimize::Method::NewtonPcg, loaded->unknowns);
  const std::int64_t steps = options.steps > 0 ? options.steps : scene::step_count(loaded->scene, model);
  options.print(fmt::format("{} vertices, {} steps", model.solids[0].mesh.vertices.size(), steps));

  optimize::MinimizerOptions solve_options;
  solve_options.stopping = model.solver.stopping;
  solve_options.max_iterations = model.solver.max_iterations;
  int agreed = 0, converged = 0;
  double seconds[2] = {0, 0}, worst = 0;
  int iterations[2] = {0, 0};
  for (std::int64_t i = 0; i < steps; ++i) {
    auto problem = simulation.step_problem(0, model.step);
    const optimize::MinimizerSummary b = pcg->minimize(problem.objective, problem.start, solve_options);
    const step::StepReport report = simulation.advance();  // by newton, from the same state and starting point
    if (!report.accepted) return input_error("step {} of the trajectory failed", i + 1);
    const optimize::MinimizerSummary& a = report.islands[0].solve;
    const double difference = largest_distance(simulation.state().bodies[0].x, problem.start,
                                               static_cast<std::size_t>(model.solids[0].dimension));
    worst = std::max(worst, difference);
    converged += a.converged() && b.converged() ? 1 : 0;
    seconds[0] += a.timings.total;
    seconds[1] += b.timings.total;
    iterations[0] += a.iterations;
    iterations[1] += b.iterations;
    if (difference <= 3 * a.tolerance) {
      ++agreed;
    } else {
      options.print(fmt::format("step {:4}: differ by {:.3e} m ({:.1f} x accuracy); energies {:.9e} (newton), {:.9e} (newton-pcg)",
                                i + 1, difference, difference / a.tolerance, a.value, b.value));
    }
  }
  options.print(fmt::format("agree within 3 x accuracy: {} of {} steps ({:.1f}%); both converged in {}; largest difference {:.3e} m",
                            agreed, steps, 100.0 * agreed / static_cast<double>(steps), converged, worst));
  for (int m = 0; m < 2; ++m) {
    options.print(fmt::format("{:12} {:8.3f} s/step  {:6.2f} iterations/step", m == 0 ? "newton" : "newton-pcg",
                              seconds[m] / static_cast<double>(steps), iterations[m] / static_cast<double>(steps)));
  }
  options.print(fmt::format("peak memory {:.2f} GB", peak_memory() * 1e-9));
  return {};
}

}  // namespace lope::bench
