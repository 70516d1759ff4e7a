// The scenes of material points side by side: HOT's Tables 1 to 3, and OPT's Fig. 18.
#include <lope/optimize/newton.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <papers/hot_runs.h>

namespace lope::bench {
namespace {

// From a moment at which something happens, in cells of which there are a few thousand.
std::vector<Case> scenes(const BenchOptions& options) {
  const int frames = options.steps > 0 ? options.steps : 3;
  return {{"mpm_twist.toml", "twist", {"mpm.cell=0.02", "mpm.largest_substep=6.56 ms"}, frames, 6},
          {"mpm_boxes.toml", "boxes", {"mpm.cell=0.03"}, frames, 5},
          {"crater.toml", "crater", {"mpm.cell=24 mm"}, frames, 2},
          {"soft_on_sand.toml", "sand", {"mpm.cell=20 mm", "mpm.scheme=implicit"}, frames, 4},
          {"snowballs.toml", "snowballs", {"mpm.cell=18 mm"}, frames, 3},
          {"sauce.toml", "sauce", {"mpm.cell=14 mm", "mpm.scheme=implicit"}, frames, 3}};
}

const std::vector<std::string> all_methods = {"auto",          "hot",      "newton-mgpcg", "newton-pcg",
                                              "newton-pcg-mf", "lbfgs-cg", "lbfgs-h"};

// Seconds per frame, by scene and method. A run with a step that did not converge has not done the work.
struct Times {
  std::vector<std::string> methods;
  std::vector<std::vector<double>> seconds;  // NaN: not all steps converged

  // Of a method's time over that of the first one, over the scenes that both did; how many these were.
  std::pair<double, int> geometric_mean(std::size_t method) const {
    double sum = 0;
    int count = 0;
    for (const std::vector<double>& row : seconds) {
      const double ratio = row[method] / row[0];
      if (!std::isfinite(ratio)) continue;
      sum += std::log(ratio);
      ++count;
    }
    return {std::exp(sum / std::max(count, 1)), count};
  }
};

void print_times(const BenchOptions& options, const std::vector<std::string>& names, const Times& times) {
  std::string head = fmt::format("\n{:12}", "s/frame");
  for (const std::string& method : times.methods) head += fmt::format(" {:>13}", method);
  options.print(head + fmt::format(" {:>10}", times.methods[0] + "/best"));
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::string line = fmt::format("{:12}", names[k]);
    double best = times.seconds[k][0];
    for (const double seconds : times.seconds[k]) {
      line += std::isfinite(seconds) ? fmt::format(" {:>13.3f}", seconds) : fmt::format(" {:>13}", "failed");
      if (std::isfinite(seconds)) best = std::isfinite(best) ? std::min(best, seconds) : seconds;
    }
    options.print(line + fmt::format(" {:>10.2f}", times.seconds[k][0] / best));
  }
  std::string means = fmt::format("{:12}", "geom. mean");
  for (std::size_t m = 0; m < times.methods.size(); ++m) {
    const auto [mean, count] = times.geometric_mean(m);
    means += fmt::format(" {:>9.2f} ({})", mean, count);
  }
  options.print(means + fmt::format("   times that of {} (scenes that both did)\n", times.methods[0]));
}

}  // namespace

Expected<void> all_scenes(const BenchOptions& options, const Settings& test) {
  const std::vector<Contender> contenders = named(options, all_methods);
  Times times;
  for (const Contender& contender : contenders) times.methods.push_back(contender.name);
  std::vector<std::string> names;
  for (const Case& scene : scenes(options)) {
    std::vector<double> seconds;
    const auto done = compare(options, scene, contenders, {test},
                              [&](const Settings&, const Contender&, const MpmRun& run) {
                                seconds.push_back(run.totals.failed > 0 || run.totals.steps < scene.frames
                                                      ? std::nan("")
                                                      : run.seconds_per_frame());
                              });
    if (!done) return done;
    names.push_back(scene.name);
    times.seconds.push_back(std::move(seconds));
  }
  print_times(options, names, times);
  return {};
}

// Table 3: conjugate gradients with diagonal blocks and with symmetric Gauss–Seidel, by the norm.
Expected<void> all_smoothers(const BenchOptions& options) {
  using optimize::InverseKind;
  const std::vector<Contender> contenders = {
      {"Jacobi", {}, newton_with({.kind = InverseKind::BlockJacobi})},
      {"Gauss-Seidel", {}, newton_with({.kind = InverseKind::GaussSeidel})}};
  for (const Case& scene : scenes(options)) {
    if (const auto done = compare(options, scene, contenders, {by_norm}); !done) return done;
  }
  return {};
}

// OPT Fig. 18: seconds of work per frame of the three snowball scenes, over the whole of each, against steps of a tenth of the length with
// one linear solve each, as the scheme has it that OPT is compared with there (Stomakhin et al. 2013; here the Hessian is projected, and
// points move as in the scene), and against explicit ones.
Expected<void> snow(const BenchOptions& options) {
  const std::vector<Contender> contenders = {
      {"CFL rate", {}},
      {"one solve, CFL/10", {"mpm.cfl=0.06", "solver.method=newton-pcg", "solver.max_iterations=1"}},
      {"explicit", {"mpm.scheme=explicit"}}};
  for (const char* name : {"snowball_drop", "snowball_wall", "snowballs"}) {
    for (const Contender& contender : contenders) {
      Case scene{std::string(name) + ".toml", name, {}, options.steps > 0 ? options.steps : 24};
      const auto run = run_scene(options, scene, contender);
      if (!run) return forward_error(run);
      double shortest = run->simulated;
      for (const step::StepReport& report : run->totals.reports) {
        for (const auto& quantity : report.bodies[0].quantities)
          if (quantity.name == "shortest_substep")
            shortest = std::min(shortest, std::get<double>(quantity.value));
      }
      const double substeps = std::max(1.0, static_cast<double>(run->substeps));
      options.print(
          fmt::format("{:14} {:18} {:>7} nodes {:>7} points: shortest substep {:.2g} s, mean {:.2g} s, "
                      "{:.3g} s per frame, "
                      "{:.3g} iterations per substep",
                      name, contender.name, run->nodes, run->x.size(), shortest, run->simulated / substeps,
                      run->seconds_per_frame(), run->totals.iterations / substeps));
    }
  }
  return {};
}

}  // namespace lope::bench
