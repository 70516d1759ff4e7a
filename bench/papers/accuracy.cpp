// Do two methods find the same minimiser? From one recorded trajectory (the run of `newton`), every step problem is
// solved by both, from the same state; their solutions should differ by at most three times the accuracy. Steps where
// they differ by more are listed with both energies (a step problem may have several minimisers after buckling).
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

struct Solved {
  std::vector<double> x;
  optimize::MinimizerSummary summary;
};

Solved solve(step::Simulation& simulation, optimize::Minimizer& minimizer, double h) {
  auto problem = simulation.step_problem(0, h);
  Solved result;
  result.summary = minimizer.minimize(problem.objective, problem.start, {});
  result.x = std::move(problem.start);
  return result;
}

}  // namespace

Expected<void> agreement(const BenchOptions& options) {
  std::vector<std::string> overrides = {"solver.method=newton"};
  if (!options.mesh.empty()) overrides.push_back("body.0.shape.mesh=" + options.mesh);
  const auto loaded = load(options.scenes / "twisted_bar.toml", overrides);
  if (!loaded) return forward_error(loaded);
  const step::Model& model = *loaded->model;
  step::Simulation simulation(model);
  const auto newton = optimize::make_minimizer(optimize::Method::Newton, loaded->unknowns);
  const auto pcg = optimize::make_minimizer(optimize::Method::NewtonPcg, loaded->unknowns);
  const std::int64_t steps = options.steps > 0 ? options.steps : scene::step_count(loaded->scene, model);
  options.print(fmt::format("{} vertices, {} steps", model.solids[0].mesh.vertices.size(), steps));

  int agreed = 0, converged = 0;
  double seconds[2] = {0, 0}, worst = 0;
  int iterations[2] = {0, 0};
  for (std::int64_t i = 0; i < steps; ++i) {
    const Solved a = solve(simulation, *newton, model.step), b = solve(simulation, *pcg, model.step);
    const double difference = largest_distance(a.x, b.x, static_cast<std::size_t>(model.solids[0].dimension));
    worst = std::max(worst, difference);
    converged += a.summary.converged() && b.summary.converged() ? 1 : 0;
    seconds[0] += a.summary.timings.total;
    seconds[1] += b.summary.timings.total;
    iterations[0] += a.summary.iterations;
    iterations[1] += b.summary.iterations;
    if (difference <= 3 * a.summary.tolerance) {
      ++agreed;
    } else {
      options.print(fmt::format("step {:4}: differ by {:.3e} m ({:.1f} x accuracy); energies {:.9e} (newton), {:.9e} (newton-pcg)",
                                i + 1, difference, difference / a.summary.tolerance, a.summary.value, b.summary.value));
    }
    if (!simulation.advance().accepted) return input_error("step {} of the trajectory failed", i + 1);
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
