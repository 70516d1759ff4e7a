// HOT's comparisons of methods (docs/benchmarks/hot.md): the two scenes whose figures are known from the paper's own program, Fig. 19, Table 3,
// the choices in its multigrid, and explicit stepping. HOT's node-wise norm says little of accuracy where matter is stiff; so the distance of the
// points from where a tightly solved run has them is told as well, and the displacement accuracy takes the norm's place in a second round.
#include <lope/base/memory.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/newton.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

using Change = std::function<void(matter::mpm::Description&)>;
using Settings = std::vector<std::string>;

struct Contender {
  std::string name;
  Settings settings;  // of the scene
  Change change = {};
};

// A scene for all contenders.
struct Case {
  std::string file, name;
  Settings settings;
  int frames = 6;
};

const Settings by_norm = {"solver.tolerance=characteristic-nodewise"},
               by_displacement = {"solver.tolerance=displacement"};
// What a scene of a minute or two is made of: the bar of the twist in cells of 30 mm.
const Settings small = {"mpm.cell=0.03", "mpm.largest_substep=9.836 ms"};

bool wanted(const BenchOptions& options, const std::string& table) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), table) != options.only.end();
}

struct MpmRun {
  RunTotals totals;
  double simulated = 0;  // s
  std::vector<Vec3> x;   // by id
  std::map<std::string, double> seconds;
  std::int64_t substeps = 0, nodes = 0;
  long linear = 0;
};

Expected<MpmRun> run_scene(const BenchOptions& options, const Case& scene, const Contender& contender) {
  Settings overrides = scene.settings;
  overrides.insert(overrides.end(), contender.settings.begin(), contender.settings.end());
  const auto loaded = load(options.scenes / scene.file, overrides);
  if (!loaded) return forward_error(loaded);
  if (contender.change) contender.change(as<matter::MpmBody>(loaded->model->bodies[0]).description);
  step::Simulation simulation(*loaded->model);
  show_progress(simulation, fmt::format("{}, {}", scene.name, contender.name), options);
  MpmRun run;
  run.totals = run_in_memory(simulation, scene.frames);
  run.simulated = simulation.state().time;
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

// The scene solved tightly, then by all contenders, once for each of the tests.
Expected<void> compare(const BenchOptions& options, const Case& scene,
                       const std::vector<Contender>& contenders, const std::vector<Settings>& tests) {
  const auto truth = run_scene(
      options, scene,
      {"(tight)", {"solver.tolerance=displacement", "solver.accuracy=1e-8", "solver.method=newton-mgpcg"}});
  if (!truth) return forward_error(truth);
  print_row(options, scene.name, "(tight)", *truth, truth->x);
  for (const Settings& test : tests) {
    Case tested = scene;
    tested.settings.insert(tested.settings.end(), test.begin(), test.end());
    if (test == by_displacement) tested.name += ", default";
    for (const Contender& contender : contenders) {
      const auto run = run_scene(options, tested, contender);
      if (!run) return forward_error(run);
      print_row(options, tested.name, contender.name, *run, truth->x);
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

// Fig. 19: a bar whose middle gets stiffer and stiffer. lbfgs-cg is the paper's LBFGS-H, which solves inexactly.
Expected<void> stiffness(const BenchOptions& options, int frames) {
  const std::vector<std::string> methods = {"auto",          "hot",      "newton-mgpcg", "newton-pcg",
                                            "newton-pcg-mf", "lbfgs-cg", "lbfgs-h"};
  for (int power = 5; power <= 10; ++power) {
    Case scene{"mpm_twist.toml", fmt::format("E = 1e{}", power), small, frames};
    scene.settings.push_back(fmt::format("body.1.material.young=1e{}", power));
    if (const auto done = compare(options, scene, named(options, methods), {by_norm, by_displacement}); !done)
      return done;
  }
  return {};
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

// Table 3: conjugate gradients with Jacobi and with symmetric Gauss–Seidel.
Expected<void> smoothers(const BenchOptions& options, int frames) {
  using optimize::InverseKind;
  const std::vector<Contender> contenders = {
      {"Jacobi", {}, newton_with({.kind = InverseKind::BlockJacobi})},
      {"Gauss-Seidel", {}, newton_with({.kind = InverseKind::GaussSeidel})}};
  const std::vector<Case> scenes = {{"mpm_twist.toml", "twist", small, frames},
                                    {"mpm_boxes.toml", "boxes", {"mpm.cell=0.03"}, frames}};
  for (const Case& scene : scenes) {
    if (const auto done = compare(options, scene, contenders, {by_norm}); !done) return done;
  }
  return {};
}

// Levels, the solve on the coarsest, sweeps, embedding, groups, one by one.
Expected<void> multigrid(const BenchOptions& options, int frames) {
  struct Choice {
    std::string name;
    linalg::BlockMultigridOptions multigrid;
    Settings settings = {};
  };
  const std::vector<Choice> choices = {{"as it is", {}},
                                       {"2 levels", {.most_levels = 2}},
                                       {"coarsest by CG", {.most_factored = 0}},
                                       {"2 levels, by CG", {.most_factored = 0, .most_levels = 2}},
                                       {"2 sweeps", {.sweeps = 2}},
                                       {"quadratic", {}, {"mpm.embedding=quadratic"}},
                                       {"without groups", {.groups = false}}};
  std::vector<Contender> hot, newton;
  for (const Choice& choice : choices) {
    hot.push_back({"hot " + choice.name, choice.settings, hot_with(choice.multigrid)});
    newton.push_back({"newton " + choice.name, choice.settings,
                      newton_with({.kind = optimize::InverseKind::Multigrid,
                                   .single_precision = true,
                                   .multigrid = choice.multigrid})});
  }
  const Case scene{"mpm_twist.toml", "twist", {}, frames};
  if (const auto done = compare(options, scene, hot, {by_norm}); !done) return done;
  return compare(options, scene, newton, {by_displacement});
}

// Aluminium: seconds of work for a second of motion.
Expected<void> explicit_stepping(const BenchOptions& options, int frames) {
  Settings settings = small;
  for (int body = 0; body < 3; ++body) {
    settings.push_back(fmt::format("body.{}.material.young=6.9e10", body));
    settings.push_back(fmt::format("body.{}.material.density=2700", body));
  }
  Case scene{"mpm_twist.toml", "aluminium", settings, frames};
  Case brief = scene;
  brief.settings.push_back("time.step=5e-5");
  brief.frames = 4;
  const std::vector<std::pair<Case, Contender>> runs = {{scene, {"implicit, norm", by_norm}},
                                                        {scene, {"implicit, default", by_displacement}},
                                                        {brief, {"explicit", {"mpm.scheme=explicit"}}}};
  for (const auto& [what, contender] : runs) {
    const auto run = run_scene(options, what, contender);
    if (!run) return forward_error(run);
    options.print(
        fmt::format("{:22} {:22} {:>7} nodes, {:.4g} s in {} substeps of {:.3g} s on average: {:.4g} s per "
                    "simulated second",
                    what.name, contender.name, run->nodes, run->totals.seconds, run->substeps,
                    run->simulated / std::max(1.0, static_cast<double>(run->substeps)),
                    run->totals.seconds / run->simulated));
  }
  return {};
}

}  // namespace

Expected<void> hot(const BenchOptions& options) {
  const auto frames = [&](int own) { return options.steps > 0 ? options.steps : own; };
  const std::vector<std::string> methods = {"auto", "hot", "newton-mgpcg", "lbfgs-cg", "newton-pcg"};
  const std::vector<std::pair<std::string, std::function<Expected<void>()>>> tables = {
      {"twist",
       [&] {
         return compare(options, {"mpm_twist.toml", "twist", {}, frames(6)}, named(options, methods),
                        {by_norm});
       }},
      {"boxes",
       [&] {
         return compare(options, {"mpm_boxes.toml", "boxes", {}, frames(6)}, named(options, methods),
                        {by_norm});
       }},
      {"stiffness", [&] { return stiffness(options, frames(4)); }},
      {"smoothers", [&] { return smoothers(options, frames(4)); }},
      {"multigrid", [&] { return multigrid(options, frames(4)); }},
      {"explicit", [&] { return explicit_stepping(options, frames(4)); }}};
  print_head(options);
  for (const auto& [name, table] : tables) {
    if (!wanted(options, name)) continue;
    if (const auto done = table(); !done) return done;
  }
  return {};
}

}  // namespace lope::bench
