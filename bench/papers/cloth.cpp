// CLOTH's comparisons on its sphere example: a square cloth that falls on a turning sphere, long steps (1/30 s).
// - methods: time to a relative energy error and to the displacement accuracy, method by method (Fig. 4);
// - choices: matrix and residual updates of nfmg (Figs. 6, 7), smoothing, plain, accelerated and adaptive (§4.3), and other options;
// - projective: projective dynamics (Figs. 9, 10; cloth_projective.cpp);
// - table: colours and costs on several scenes (Table 1; cloth_table.cpp);
// - scaling: full multigrid cycles and cost per cycle against the number of vertices (Fig. 14);
// - drop, drop-rms: contact that never crosses (cloth_drop.cpp);
// - cycle, criterion: where multigrid works (cloth_hierarchy.cpp).
// What the error is: cloth_courses.h.
#include <lope/geometry/level_set/analytic.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/nonlinear_multigrid.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/cloth_courses.h>
#include <papers/cloth_parts.h>

namespace lope::bench {
namespace {

using optimize::NonlinearMultigrid;
using optimize::NonlinearMultigridOptions;

constexpr double time_limit = 20;  // of one minimisation, processor seconds

// nfmg that leaves behind which part of the rows it skipped.
class Counted final : public optimize::Minimizer {
 public:
  Counted(const NonlinearMultigridOptions& options, double& skipped) : minimizer_(options), skipped_(skipped) {}
  optimize::MinimizerSummary minimize(optimize::Objective& objective, std::span<double> x,
                                      const optimize::MinimizerOptions& options) override {
    auto summary = minimizer_.minimize(objective, x, options);
    skipped_ = minimizer_.skipped();
    return summary;
  }

 private:
  NonlinearMultigrid minimizer_;
  double& skipped_;
};

class ClothBench {
 public:
  explicit ClothBench(const BenchOptions& options) : options_(options) {}

  Expected<void> run() {
    const auto wanted = [&](const char* part) {
      return options_.only.empty() || std::find(options_.only.begin(), options_.only.end(), part) != options_.only.end();
    };
    const std::vector<int> sizes = options_.size > 0 ? std::vector<int>{options_.size} : std::vector<int>{10000, 40000};
    for (const int size : sizes) {
      if (wanted("methods")) {
        if (const auto done = methods(size); !done) return done;
      }
      if (wanted("choices")) {
        if (const auto done = choices(size); !done) return done;
      }
      if (wanted("projective")) {
        if (const auto done = cloth_projective(options_, size); !done) return done;
      }
    }
    if (wanted("table")) {
      if (const auto done = cloth_table(options_); !done) return done;
    }
    if (wanted("scaling")) scaling();
    if (wanted("drop")) cloth_drop(options_, false);
    if (wanted("drop-rms")) cloth_drop(options_, true);
    if (wanted("cycle")) cloth_cycle(options_);
    if (wanted("criterion")) cloth_criterion(options_);
    return {};
  }

 private:
  std::unique_ptr<step::Simulation> draped(int vertices) { return after_steps(options_, sphere_model(vertices), vertices); }

  Expected<void> methods(int size) {
    const auto simulation = draped(size);
    Courses courses(options_, *simulation, fmt::format("Methods, {} vertices", simulation->state().nodes(0).x.size() / 3), time_limit);
    std::vector<std::string> names = options_.methods;
    if (names.empty()) names = {"newton", "newton-pcg", "dot", "newton-mgpcg", "hot", "nfmg", "pd-nfmg-chebyshev", "lbfgs-h", "lbfgs-ic"};
    for (const std::string& name : names) {
      if (const auto method = optimize::find_method(name)) courses.add(*method);
    }
    return courses.draw(fmt::format("methods_{}", size));
  }

  Expected<void> choices(int size) {
    const auto simulation = draped(size);
    Courses courses(options_, *simulation, fmt::format("Choices of nfmg, {} vertices", simulation->state().nodes(0).x.size() / 3), time_limit);
    const auto variant = [&](const char* name, const auto& change) {
      NonlinearMultigridOptions options;
      change(options);
      courses.add(name, [&](std::size_t) { return std::make_unique<NonlinearMultigrid>(options); });
    };
    using Matrix = NonlinearMultigridOptions::Matrix;
    using Residual = NonlinearMultigridOptions::Residual;
    variant("nfmg", [](auto&) {});
    variant("matrix for every correction", [](auto& o) { o.matrix = Matrix::EveryCorrection; });
    variant("matrix once", [](auto& o) { o.matrix = Matrix::Once; });
    variant("residual on every level", [](auto& o) { o.residual = Residual::EveryLevel; });
    variant("residual after every V-cycle", [](auto& o) { o.residual = Residual::EveryCycle; });
    variant("residual once per cycle", [](auto& o) { o.residual = Residual::Never; });
    variant("1 sweep", [](auto& o) { o.sweeps = 1; });
    variant("2 sweeps", [](auto& o) { o.sweeps = 2; });
    variant("4 sweeps", [](auto& o) { o.sweeps = 4; });
    variant("Chebyshev, radius 0.5", [](auto& o) { o.smoother.radius = 0.5; });
    variant("Chebyshev, radius 0.8", [](auto& o) { o.smoother.radius = 0.8; });
    variant("Chebyshev, radius 0.95", [](auto& o) { o.smoother.radius = 0.95; });
    for (const double threshold : {0.1, 0.3, 1.0}) adaptive(courses, threshold);
    variant("line searches from 1", [](auto& o) { o.remembers_steps = false; });
    variant("no Newton steps at the end", [](auto& o) { o.newton_near_the_end = false; });
    variant("double precision", [](auto& o) { o.single_precision = false; });
    return courses.draw(fmt::format("choices_{}", size));
  }

  void adaptive(Courses& courses, double threshold) {
    double skipped = 0;
    courses.add(fmt::format("adaptive, below {} of the mean skipped", threshold), [&](std::size_t) {
      NonlinearMultigridOptions options;
      options.smoother.skip_below = threshold;
      return std::make_unique<Counted>(options, skipped);
    }, [&] { return fmt::format(", {:.0f} % skipped", 100 * skipped); });
  }

  // Cycles until the residual is below one per cent of the first one.
  void scaling() {
    options_.print(fmt::format("\nScaling of nfmg\n{:>9} {:>7} {:>14} {:>12} {:>14}", "vertices", "levels", "cycles to 1 %",
                               "s per cycle", "µs per vertex"));
    std::vector<int> sizes = {10000, 20000, 40000, 80000, 120000};
    if (options_.size > 0) std::erase_if(sizes, [&](int size) { return size > options_.size; });
    for (const int size : sizes) {
      const auto simulation = draped(size);
      auto problem = simulation->step_problem(0, simulation->model().step);
      const auto vertices = static_cast<double>(problem.start.size() / 3);
      const auto levels = problem.objective.hierarchy()->prolongations().size() + 1;
      NonlinearMultigridOptions choice;
      choice.newton_near_the_end = false;
      optimize::MinimizerOptions options;
      options.max_iterations = 3000;
      options.stopping = {optimize::StoppingTest::GradientNorm, 1};
      std::vector<double> g(problem.start.size());
      problem.objective.move_to(problem.start);
      problem.objective.begin_iteration();
      problem.objective.gradient(g);
      options.stopping.tolerance = 0.01 * linalg::local_space().norm(g);
      const auto summary = NonlinearMultigrid(choice).minimize(problem.objective, problem.start, options);
      const double each = summary.timings.total / std::max(1, summary.models);
      options_.print(fmt::format("{:>9} {:>7} {:>14} {:>12.3f} {:>14.2f}{}", vertices, levels, summary.models, each,
                                 1e6 * each / vertices, summary.converged() ? "" : "  " + summary.reason));
    }
  }

  const BenchOptions& options_;
};

}  // namespace

std::unique_ptr<step::Simulation> after_steps(const BenchOptions& options, step::Model model, int vertices) {
  auto simulation = std::make_unique<step::Simulation>(std::move(model));
  simulation->use_method(optimize::Method::Newton);
  const int steps = options.steps > 0 ? options.steps : 9;
  for (int i = 0; i < steps; ++i) {
    options.progress(fmt::format("{} vertices: step {} of {}", vertices, i + 1, steps));
    simulation->advance();
  }
  return simulation;
}

step::Model sphere_model(int vertices) {
  const double side = 2, radius = 0.5;
  step::Model model;
  model.gravity = Vec3(0, 0, -9.81);
  model.step = 1.0 / 30;
  matter::ClothBody body;
  body.name = "cloth";
  body.sheet = geometry::rectangle_sheet(side, side, side * std::sqrt(2 / (std::sqrt(3.0) * vertices)));
  body.material.membrane = material::isotropic_membrane(2000, 0.25);
  body.material.bending = {matter::BendingModel::Quadratic, 2e-5, 2e-5};
  body.material.area_density = 0.15;
  body.mass_damping = 0.5;
  model.add(std::move(body));
  matter::Obstacle sphere;
  sphere.name = "sphere";
  sphere.shape = geometry::level_set(geometry::Sphere{Vec3(0, 0, -radius - 0.01), radius}).value();
  sphere.contact = matter::ContactKind::Constraint;
  sphere.friction = 0;
  model.obstacles = {sphere};
  return model;
}

Expected<void> cloth(const BenchOptions& options) { return ClothBench(options).run(); }

}  // namespace lope::bench
