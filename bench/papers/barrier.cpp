// Contact that never crosses, against penalties, on the same scenes: seconds and iterations per step, steps that did not converge, the
// deepest penetration or the smallest gap, and edges that pass through triangles, counted exactly at every frame (the most at
// any, and at how many frames there are some). --only: scenes; --steps: frames.
#include <lope/scene/tangles.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

struct Row {
  const char* scene;
  std::vector<std::string> barrier;  // what makes its contact one of barriers
};

std::vector<Row> rows() {
  return {{"torus_drop", {"contact.model=barrier"}},
          {"two_spheres", {"contact.model=barrier"}},
          {"box_stack", {"contact.model=barrier"}},
          {"tori_bowl", {"contact.model=barrier", "obstacle.bowl.contact=barrier"}}};
}

Expected<void> print_row(const Row& row, bool barriers, const BenchOptions& options) {
  const auto loaded = load(options.scenes / fmt::format("{}.toml", row.scene),
                           barriers ? row.barrier : std::vector<std::string>());
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  const char* const kind = barriers ? "barrier" : "penalty";
  show_progress(simulation, fmt::format("{}, {}", row.scene, kind), options);
  const auto per_frame = std::max<std::int64_t>(1, std::llround(1 / (loaded->scene.frame_rate * loaded->model->step)));
  const std::int64_t all = scene::step_count(loaded->scene, *loaded->model);
  const std::int64_t steps = options.steps > 0 ? std::min<std::int64_t>(all, options.steps * per_frame) : all;
  std::size_t most = 0, frames = 0;
  double deepest = 0, gap = std::numeric_limits<double>::infinity();
  const RunTotals totals = run_in_memory(simulation, steps, false, [&](const step::StepReport& report) {
    for (const step::IslandReport& island : report.islands) {
      deepest = std::max(deepest, island.contact.deepest);
      gap = std::min(gap, island.contact.smallest_gap);
    }
    if (report.step % per_frame != 0) return true;
    std::size_t crossings = 0;
    for (const scene::Tangle& tangle : scene::find_tangles(simulation)) crossings += tangle.crossings;
    most = std::max(most, crossings);
    frames += crossings > 0 ? 1 : 0;
    return true;
  });
  options.print(fmt::format("{:12} {:8} {:>8} {:>9.3f} {:>9.1f} {:>6}/{:<5} {:>9.2g} {:>9.2g} {:>9} {:>7}", row.scene, kind,
                            loaded->unknowns, totals.per_step(totals.seconds), totals.per_step(totals.iterations), totals.failed,
                            totals.steps, deepest, gap, most, frames));
  return {};
}

}  // namespace

Expected<void> barrier(const BenchOptions& options) {
  options.print(fmt::format("{:12} {:8} {:>8} {:>9} {:>9} {:>12} {:>9} {:>9} {:>9} {:>7}", "scene", "contact", "unknowns",
                            "s/step", "its/step", "unsolved", "deepest", "gap", "crossings", "frames"));
  for (const Row& row : rows()) {
    const bool wanted = options.only.empty() || std::find(options.only.begin(), options.only.end(), row.scene) != options.only.end();
    for (const bool barriers : {false, true}) {
      if (!wanted) continue;
      if (const auto printed = print_row(row, barriers, options); !printed) return printed;
    }
  }
  return {};
}

}  // namespace lope::bench
