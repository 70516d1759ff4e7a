// HOT's comparisons of methods (docs/benchmarks/hot.md): the two scenes whose figures are known from the paper's own program, Fig. 19, Table 3,
// the choices in its multigrid, and explicit stepping. HOT's node-wise norm says little of accuracy where matter is stiff; so the distance of the
// points from where a tightly solved run has them is told as well, and the displacement accuracy takes the norm's place in a second round.
#include <lope/optimize/lbfgs.h>
#include <lope/optimize/newton.h>

#include <algorithm>

#include <fmt/core.h>
#include <papers/hot_runs.h>

namespace lope::bench {
namespace {

// What a scene of a minute or two is made of: the bar of the twist in cells of 30 mm.
const Settings small = {"mpm.cell=0.03", "mpm.largest_substep=9.836 ms"};

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
      {"scenes", [&] { return all_scenes(options, by_norm); }},
      {"scenes-default", [&] { return all_scenes(options, by_displacement); }},
      {"smoothers", [&] { return all_smoothers(options); }},
      {"snow", [&] { return snow(options); }},
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
