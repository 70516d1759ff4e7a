// The two scenes for which the DOT program's own figures are known (docs/benchmarks/reference.md): LTSS (large twist,
// stretch, squash) and a slow twist, h = 25 ms, stopped by DOT's characteristic norm at 10⁻⁵ and started at x̂, as that
// program does.
#include <fmt/core.h>

#include <lope/base/memory.h>
#include <papers/benchmarks.h>
#include <papers/bodies.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

struct ReferenceScene {
  const char* file;
  int steps;
};
constexpr ReferenceScene scenes[] = {{"ltss.toml", 60}, {"bar_twist.toml", 40}};

}  // namespace

Expected<void> reference_scenes(const BenchOptions& options) {
  options.print(fmt::format("{:14} {:12} {:>9} {:>8} {:>12} {:>14} {:>8} {:>9}", "scene", "method", "vertices", "s/step",
                            "max s/step", "its/step (max)", "failed", "peak MB"));
  for (const ReferenceScene& reference : scenes) {
    for (const char* method : {"newton", "newton-pcg", "lbfgs-h", "lbfgs-pd", "dot", "dot-printed", "lbfgs-schwarz", "auto"}) {
      std::vector<std::string> overrides = {fmt::format("solver.method={}", method)};
      if (!options.mesh.empty()) overrides.push_back("body.0.shape.mesh=" + options.mesh);
      const auto loaded = load(options.scenes / reference.file, overrides);
      if (!loaded) return forward_error(loaded);
      step::Simulation simulation(*loaded->model);
      show_progress(simulation, fmt::format("{}, {}", reference.file, method), options);
      if (method == std::string("newton")) {
        const auto problem = simulation.step_problem(0, loaded->model->step);
        options.print(fmt::format("{}: threshold of the test in DOT's scale, 1e-5 h² <W> |l| = {:.5e}", reference.file,
                                  1e-5 * loaded->model->step * loaded->model->step * problem.objective.scales().global));
      }
      const int steps = options.steps > 0 ? options.steps : reference.steps;
      const RunTotals totals = run_in_memory(simulation, steps);
      options.print(fmt::format("{:14} {:12} {:>9} {:>8.3f} {:>12.3f} {:>8.1f} ({:>3}) {:>8} {:>9.0f}", reference.file, method,
                                first_solid(*loaded->model).mesh.vertices.size(), totals.per_step(totals.seconds),
                                totals.slowest, totals.per_step(totals.iterations), totals.max_iterations, totals.failed,
                                peak_memory() * 1e-6));
    }
  }
  return {};
}

}  // namespace lope::bench
