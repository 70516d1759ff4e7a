// OPT Fig. 15 for the scenes with contact: steps per frame of 1/24 s, seconds per frame, unknowns, linear
// solves per step, for gast15, the default method and, where obstacles are penalties, plain Newton, whose
// runs end at their first failure. And Fig. 10: constraints against collisions as a post-process, which
// solves without the ground and then moves what is below it to its surface. --only: scenes; --methods.
#include <lope/base/errors.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/render/plot.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

struct Row {
  const char* figure;
  const char* scene;
  int steps_per_frame;
  const char* method;
  std::vector<std::string> overrides = {};
  double paper_solves = 0;  // linear solves per step in OPT Fig. 15; 0: not there
};

const std::vector<std::string> penalties = {"obstacle.ground.contact=penalty"};

std::vector<Row> rows() {
  return {{"4", "two_spheres", 1, "gast15", {}, 8.1},
          {"4", "two_spheres", 1, "auto"},
          {"4", "two_spheres", 1, "newton-raw", penalties, 26},
          {"4", "two_spheres", 6, "newton-raw", penalties, 0.8},
          {"7", "torus_drop", 5, "gast15", {}, 2.1},
          {"7", "torus_drop", 5, "auto"},
          {"9", "tori_bowl", 5, "gast15", {}, 2.2},
          {"9", "tori_bowl", 5, "auto"},
          {"10", "sphere_drop", 1, "gast15", {}, 3.8},
          {"10", "sphere_drop", 1, "auto"},
          {"10", "sphere_drop", 1, "auto", penalties},
          {"11", "torus_hole", 1, "gast15", {}, 8.6},
          {"11", "torus_hole", 1, "auto"},
          {"12", "box_stack", 1, "gast15", {}, 6.9},
          {"12", "box_stack", 1, "auto"},
          {"13", "squeeze", 1, "gast15", {}, 34.7},
          {"13", "squeeze", 1, "auto"},
          {"13", "squeeze", 2, "auto"},
          {"13", "squeeze", 4, "auto"},
          {"13", "squeeze", 8, "auto"}};
}

// An empty list wants everything.
bool wanted(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

double deepest(const RunTotals& totals) {
  double depth = 0;
  for (const step::StepReport& report : totals.reports) {
    for (const step::IslandReport& island : report.islands) depth = std::max(depth, island.contact.deepest);
  }
  return depth;
}

Expected<void> print_row(const Row& row, const BenchOptions& options) {
  std::vector<std::string> overrides = row.overrides;
  overrides.push_back(fmt::format("solver.method={}", row.method));
  overrides.push_back(fmt::format("time.step={:.17g}", 1.0 / (24 * row.steps_per_frame)));
  const bool plain = std::string_view(row.method) == "newton-raw";
  if (plain) overrides.push_back("solver.max_iterations=60");
  const auto loaded = load(options.scenes / fmt::format("{}.toml", row.scene), overrides);
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  show_progress(simulation, fmt::format("{}, {}", row.scene, row.method), options);
  const std::int64_t all = scene::step_count(loaded->scene, *loaded->model);
  const std::int64_t steps =
      options.steps > 0 ? std::min<std::int64_t>(all, options.steps * row.steps_per_frame) : all;
  const RunTotals totals = run_in_memory(simulation, steps, /*stop_at_failure=*/plain);
  options.print(fmt::format(
      "{:>4} {:12} {:11} {:>6} {:>9.3f} {:>9} {:>9.1f} {:>7} {:>6}/{:<5} {:>9} {:>9.2g}", row.figure,
      row.scene, row.method, row.steps_per_frame, totals.per_step(totals.seconds) * row.steps_per_frame,
      loaded->unknowns, totals.per_step(totals.linear_solves),
      row.paper_solves > 0 ? fmt::format("{}", row.paper_solves) : "", totals.failed, totals.steps,
      totals.inverted, deepest(totals)));
  return {};
}

// Fig. 10, bottom: each step is solved as if there were no obstacle; then vertices inside are moved to the
// surface and their velocities follow.
Expected<void> compare_with_post_process(const BenchOptions& options) {
  const auto loaded = load(options.scenes / "sphere_drop.toml", {"solver.method=gast15"});
  if (!loaded) return forward_error(loaded);
  step::Model without = *loaded->model;
  without.obstacles.clear();
  const geometry::LevelSet* ground = loaded->model->obstacles.front().shape.get();
  step::Simulation constrained(*loaded->model), post(without);
  const std::int64_t steps = options.steps > 0 ? options.steps : 24;
  std::array<std::int64_t, 2> inverted{};
  std::array<int, 2> iterations{};
  std::array<double, 2> thinnest{1, 1};
  const auto height = [](const matter::NodalState& body) {
    double low = 1e300, high = -1e300;
    for (std::size_t k = 1; k < body.x.size(); k += 3) {
      low = std::min(low, body.x[k]);
      high = std::max(high, body.x[k]);
    }
    return high - low;
  };
  for (std::int64_t i = 0; i < steps; ++i) {
    const step::StepReport a = constrained.advance();
    const step::State before = post.state();
    const step::StepReport b = post.advance();
    if (!a.accepted || !b.accepted) return input_error("step {} could not be taken", i + 1);
    step::State state = post.state();
    auto& body = as<matter::NodalState>(state.bodies[0]);
    for (std::size_t k = 0; k < body.x.size(); k += 3) {
      const Vec3 x(body.x[k], body.x[k + 1], body.x[k + 2]);
      if (ground->value(x) >= 0) continue;
      const Vec3 outside = ground->closest_point(x);
      for (std::size_t c = 0; c < 3; ++c) {
        body.x[k + c] = outside[static_cast<Eigen::Index>(c)];
        body.v[k + c] = (body.x[k + c] - before.nodes(0).x[k + c]) / without.step;
      }
    }
    if (const auto restored = post.restore(std::move(state)); !restored) return restored;
    inverted[0] = std::max(inverted[0], a.bodies[0].count("inverted_elements"));
    inverted[1] = std::max(inverted[1], b.bodies[0].count("inverted_elements"));
    iterations[0] += a.islands[0].solve.iterations;
    iterations[1] += b.islands[0].solve.iterations;
    thinnest[0] = std::min(thinnest[0], height(constrained.state().nodes(0)));
    thinnest[1] = std::min(thinnest[1], height(post.state().nodes(0)));
  }
  options.print("");
  options.print("Fig. 10: the ball's first second, gast15, 1 step per frame");
  options.print(fmt::format("{:24} {:>18} {:>14} {:>16}", "collisions", "inverted elements", "its/step",
                            "least height, m"));
  for (std::size_t k = 0; k < 2; ++k) {
    options.print(fmt::format("{:24} {:>18} {:>14.1f} {:>16.3f}", k == 0 ? "constraint" : "post-process",
                              inverted[k], iterations[k] / static_cast<double>(steps), thinnest[k]));
  }
  return {};
}

}  // namespace

Expected<void> contact(const BenchOptions& options) {
  options.print(fmt::format("{:>4} {:12} {:11} {:>6} {:>9} {:>9} {:>9} {:>7} {:>12} {:>9} {:>9}", "OPT",
                            "scene", "method", "steps/f", "s/frame", "unknowns", "solves/st", "paper",
                            "failed/run", "inverted", "deepest m"));
  for (const Row& row : rows()) {
    if (!wanted(options.only, row.scene) || !wanted(options.methods, row.method)) continue;
    if (const auto done = print_row(row, options); !done) return done;
  }
  return compare_with_post_process(options);
}

}  // namespace lope::bench
