// HOT's comparison of methods on the two scenes whose figures are known from the paper's own program (docs/material_points.md),
// and its Fig. 19: a bar whose middle gets stiffer and stiffer. All methods stop by the node-wise norm of HOT at 10⁻⁷, which
// says little of accuracy where matter is stiff; so the distance of the points from where a tightly solved run has them is told
// as well.
#include <lope/base/memory.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

namespace lope::bench {
namespace {

const std::vector<std::string> all_methods = {"auto", "hot", "newton-mgpcg", "lbfgs-cg", "newton-pcg"};

bool wanted(const BenchOptions& options, const std::string& table) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), table) != options.only.end();
}

struct MpmRun {
  RunTotals totals;
  std::vector<Vec3> x;  // by id
  std::map<std::string, double> seconds;
  std::int64_t substeps = 0, nodes = 0;
  long linear = 0;
};

Expected<MpmRun> run_scene(const BenchOptions& options, const std::string& file, const std::string& what,
                           const std::vector<std::string>& overrides, int steps) {
  const auto loaded = load(options.scenes / file, overrides);
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  show_progress(simulation, fmt::format("{}, {}", file, what), options);
  MpmRun run;
  run.totals = run_in_memory(simulation, steps);
  for (const step::StepReport& report : run.totals.reports) {
    for (const auto& island : report.islands) run.linear += island.solve.linear_iterations;
    for (const auto& body : report.bodies) {
      run.substeps += body.count("substeps");
      run.nodes = body.count("nodes");
      for (const auto& quantity : body.quantities) {
        if (quantity.name.starts_with("seconds/")) run.seconds[quantity.name.substr(8)] += std::get<double>(quantity.value);
      }
    }
  }
  const auto& points = std::get<matter::mpm::Particles<3>>(as<matter::MpmState>(simulation.state().bodies[0]).particles);
  run.x.resize(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) run.x[static_cast<std::size_t>(points.id[p])] = points.x[p];
  return run;
}

// Root of the mean square, metres.
double distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  if (a.size() != b.size() || a.empty()) return std::nan("");
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).squaredNorm();
  return std::sqrt(sum / static_cast<double>(a.size()));
}

void print_row(const BenchOptions& options, const std::string& scene, const std::string& method, const MpmRun& run,
               const std::vector<Vec3>& truth) {
  const double steps = std::max(1.0, static_cast<double>(run.substeps)), frames = run.totals.steps;
  std::string parts;
  for (const auto& [name, seconds] : run.seconds) parts += fmt::format(" {} {:.3f}", name, seconds / frames);
  options.print(fmt::format("{:12} {:14} {:>7} {:>8.3f} {:>6.1f} {:>9.2f} {:>9.1f} {:>6} {:>10.2e} {:>8.0f} |{}", scene, method,
                            run.nodes, run.totals.seconds / frames, steps / frames, run.totals.iterations / steps,
                            static_cast<double>(run.linear) / steps, run.totals.failed, distance(run.x, truth),
                            peak_memory() * 1e-6, parts));
}

void print_head(const BenchOptions& options) {
  options.print(fmt::format("{:12} {:14} {:>7} {:>8} {:>6} {:>9} {:>9} {:>6} {:>10} {:>8} | seconds per frame", "scene", "method", "nodes",
                            "s/frame", "steps", "its/step", "lin/step", "failed", "off (m)", "peak MB"));
}

Expected<void> compare(const BenchOptions& options, const std::string& file, const std::string& name,
                       const std::vector<std::string>& settings, int frames) {
  std::vector<std::string> tight = settings;
  tight.insert(tight.end(), {"solver.tolerance=displacement", "solver.accuracy=1e-8", "solver.method=newton-mgpcg"});
  const auto truth = run_scene(options, file, "tight", tight, frames);
  if (!truth) return forward_error(truth);
  print_row(options, name, "(tight)", *truth, truth->x);
  for (const std::string& method : options.methods.empty() ? all_methods : options.methods) {
    std::vector<std::string> own = settings;
    own.insert(own.end(), {"solver.tolerance=characteristic-nodewise", "solver.method=" + method});
    const auto run = run_scene(options, file, method, own, frames);
    if (!run) return forward_error(run);
    print_row(options, name, method, *run, truth->x);
  }
  return {};
}

}  // namespace

Expected<void> hot(const BenchOptions& options) {
  const int frames = options.steps > 0 ? options.steps : 6;
  print_head(options);
  if (wanted(options, "twist")) {
    if (const auto done = compare(options, "mpm_twist.toml", "twist", {}, frames); !done) return done;
  }
  if (wanted(options, "boxes")) {
    if (const auto done = compare(options, "mpm_boxes.toml", "boxes", {}, frames); !done) return done;
  }
  if (wanted(options, "stiffness")) {
    for (int power = 5; power <= 10; ++power) {
      const auto done = compare(options, "mpm_twist.toml", fmt::format("E = 1e{}", power),
                                {fmt::format("body.1.material.young=1e{}", power)}, frames);
      if (!done) return done;
    }
  }
  return {};
}

}  // namespace lope::bench
