// OPT Figs. 2, 3 and their rows of Fig. 15: a cube that is stretched, and one that is stretched and then gets a short
// compressive pulse. At one step per 24 Hz frame plain Newton fails, gast15 does not; then the smallest number of steps
// per frame at which plain Newton converges throughout. A run ends at its first step that is not solved within 100
// iterations.
#include <fmt/core.h>

#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

Expected<RunTotals> run_cube(const BenchOptions& options, const char* scene, const char* method, int steps_per_frame) {
  const auto loaded = load(options.scenes / scene, {fmt::format("solver.method={}", method),
                                                    fmt::format("time.step={:.17g}", 1.0 / 24 / steps_per_frame),
                                                    "solver.max_iterations=100"});
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  show_progress(simulation, fmt::format("{}, {}, {} per frame", scene, method, steps_per_frame), options);
  const RunTotals totals = run_in_memory(simulation, scene::step_count(loaded->scene, *loaded->model), true);
  options.print(fmt::format("{:24} {:>11} {:>11} {:>9} {:>12.3f} {:>12.1f} {:>10} {:>9}", scene, method, steps_per_frame,
                            loaded->unknowns, totals.per_step(totals.seconds) * steps_per_frame,
                            totals.per_step(totals.linear_solves),
                            totals.failed > 0 ? fmt::format("step {}", totals.first_failed) : "none", totals.inverted));
  return totals;
}

}  // namespace

Expected<void> cubes(const BenchOptions& options) {
  options.print(fmt::format("{:24} {:>11} {:>11} {:>9} {:>12} {:>12} {:>10} {:>9}", "scene", "method", "steps/frame",
                            "unknowns", "s/frame", "solves/step", "failure", "inverted"));
  for (const char* scene : {"stretched_cube.toml", "compressive_pulse.toml"}) {
    for (const char* method : {"gast15", "newton", "newton-raw"}) {
      const auto totals = run_cube(options, scene, method, 1);
      if (!totals) return forward_error(totals);
    }
    for (const int steps_per_frame : {2, 3, 4, 5, 6, 8, 12, 16}) {
      const auto totals = run_cube(options, scene, "newton-raw", steps_per_frame);
      if (!totals) return forward_error(totals);
      if (totals->failed == 0) break;
    }
  }
  return {};
}

}  // namespace lope::bench
