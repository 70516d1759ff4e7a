#include <lope/base/memory.h>
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/newton.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <papers/hot_runs.h>

namespace lope::bench {

bool wanted(const BenchOptions& options, const std::string& table) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), table) != options.only.end();
}

Expected<MpmRun> run_scene(const BenchOptions& options, const Case& scene, const Contender& contender) {
  Settings overrides = scene.settings;
  overrides.insert(overrides.end(), contender.settings.begin(), contender.settings.end());
  const auto loaded = load(options.scenes / scene.file, overrides);
  if (!loaded) return forward_error(loaded);
  if (contender.change) contender.change(as<matter::MpmBody>(loaded->model->bodies[0]).description);
  step::Simulation simulation(*loaded->model);
  if (scene.start) {
    if (const auto restored = simulation.restore(*scene.start); !restored) return forward_error(restored);
  }
  const double begin = simulation.state().time;
  show_progress(simulation, fmt::format("{}, {}", scene.name, contender.name), options);
  MpmRun run;
  run.totals = run_in_memory(simulation, scene.frames);
  run.simulated = simulation.state().time - begin;
  for (const step::StepReport& report : run.totals.reports) {
    for (const auto& island : report.islands) run.linear += island.solve.linear_iterations;
    for (const auto& body : report.bodies) {
      run.substeps += body.count("substeps");
      run.nodes = body.count("nodes");
      for (const auto& quantity : body.quantities) {
        if (quantity.name.starts_with("seconds/"))
          run.seconds[quantity.name.substr(8)] += std::get<double>(quantity.value);
      }
    }
  }
  const auto& points =
      std::get<matter::mpm::Particles<3>>(as<matter::MpmState>(simulation.state().bodies[0]).particles);
  run.x.resize(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) run.x[static_cast<std::size_t>(points.id[p])] = points.x[p];
  return run;
}

double distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  if (a.size() != b.size() || a.empty()) return std::nan("");
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).squaredNorm();
  return std::sqrt(sum / static_cast<double>(a.size()));
}

void print_row(const BenchOptions& options, const std::string& scene, const std::string& method,
               const MpmRun& run, const std::vector<Vec3>& truth) {
  const double steps = std::max(1.0, static_cast<double>(run.substeps)), frames = run.totals.steps;
  std::string parts;
  for (const auto& [name, seconds] : run.seconds) parts += fmt::format(" {} {:.3f}", name, seconds / frames);
  options.print(
      fmt::format("{:22} {:22} {:>7} {:>8.3f} {:>6.1f} {:>9.2f} {:>9.1f} {:>6} {:>10.2e} {:>8.0f} |{}", scene,
                  method, run.nodes, run.totals.seconds / frames, steps / frames,
                  run.totals.iterations / steps, static_cast<double>(run.linear) / steps, run.totals.failed,
                  distance(run.x, truth), peak_memory() * 1e-6, parts));
}

void print_head(const BenchOptions& options) {
  options.print(fmt::format(
      "{:22} {:22} {:>7} {:>8} {:>6} {:>9} {:>9} {:>6} {:>10} {:>8} | seconds per frame", "scene", "method",
      "nodes", "s/frame", "steps", "its/step", "lin/step", "failed", "off (m)", "peak MB"));
}

Expected<Case> brought_to_start(const BenchOptions& options, Case scene) {
  if (scene.before == 0) return scene;
  const auto loaded = load(options.scenes / scene.file, scene.settings);
  if (!loaded) return forward_error(loaded);
  step::Simulation simulation(*loaded->model);
  show_progress(simulation, fmt::format("{}, before", scene.name), options);
  run_in_memory(simulation, scene.before);
  scene.start = std::make_shared<const step::State>(simulation.state());
  return scene;
}

Expected<void> compare(const BenchOptions& options, const Case& chosen,
                       const std::vector<Contender>& contenders, const std::vector<Settings>& tests,
                       const Visit& visit) {
  const auto scene = brought_to_start(options, chosen);
  if (!scene) return forward_error(scene);
  const auto truth = run_scene(
      options, *scene,
      {"(tight)", {"solver.tolerance=displacement", "solver.accuracy=1e-8", "solver.method=newton-mgpcg"}});
  if (!truth) return forward_error(truth);
  print_row(options, scene->name, "(tight)", *truth, truth->x);
  for (const Settings& test : tests) {
    Case tested = *scene;
    tested.settings.insert(tested.settings.end(), test.begin(), test.end());
    if (test == by_displacement) tested.name += ", default";
    for (const Contender& contender : contenders) {
      const auto run = run_scene(options, tested, contender);
      if (!run) return forward_error(run);
      print_row(options, tested.name, contender.name, *run, truth->x);
      if (visit) visit(test, contender, *run);
    }
  }
  return {};
}

std::vector<Contender> named(const BenchOptions& options, const std::vector<std::string>& own) {
  std::vector<Contender> result;
  for (const std::string& method : options.methods.empty() ? own : options.methods)
    result.push_back({method, {"solver.method=" + method}});
  return result;
}

Change newton_with(optimize::InverseOptions inverse) {
  return [inverse](matter::mpm::Description& description) {
    optimize::ProjectedNewtonOptions newton;
    newton.solver = optimize::LinearSolver::Iterative;
    newton.inverse = inverse;
    newton.renew_always = inverse.kind != optimize::InverseKind::Multigrid;
    description.minimizer = [newton] { return std::make_unique<optimize::ProjectedNewton>(newton); };
  };
}
Change hot_with(const linalg::BlockMultigridOptions& multigrid) {
  return [multigrid](matter::mpm::Description& description) {
    optimize::LbfgsOptions hot = optimize::hot_options();
    hot.inverse.multigrid = multigrid;
    description.minimizer = [hot] { return std::make_unique<optimize::Lbfgs>(hot); };
  };
}

}  // namespace lope::bench
