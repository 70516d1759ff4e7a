// `lope bench cloth --only table`: CLOTH Table 1, on scenes that come with Lope, each with its contact, made finer to --size vertices: colours of
// the levels, full multigrid cycles of nfmg as CLOTH prints it until ‖∇E‖ is one per cent of the first one (20 at most), what a cycle costs and
// what the whole does. For comparison what `auto` takes for the step to Lope's accuracy.
#include <lope/geometry/sheet.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/optimize/nonlinear_multigrid.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>
#include <papers/cloth_parts.h>
#include <papers/scene_runs.h>

namespace lope::bench {
namespace {

struct Example {
  const char* scene;
  const char* body;
};
constexpr std::array<Example, 4> examples = {
    {{"cloth_sphere", "cloth"}, {"funnel", "cloth"}, {"dress", "dress"}, {"curtain", "curtain"}}};

constexpr int most_cycles = 20;

const matter::ClothBody* cloth_of(const step::Model& model) {
  for (const auto& body : model.bodies) {
    if (const auto* found = dynamic_cast<const matter::ClothBody*>(&*body)) return found;
  }
  return nullptr;
}

double mean_edge(const geometry::Sheet& sheet) {
  double sum = 0;
  for (const geometry::Triangle& t : sheet.flat_triangles) {
    for (std::size_t k = 0; k < 3; ++k)
      sum +=
          (sheet.flat[static_cast<std::size_t>(t[k])] - sheet.flat[static_cast<std::size_t>(t[(k + 1) % 3])])
              .norm();
  }
  return sum / (3 * static_cast<double>(sheet.flat_triangles.size()));
}

// Colours of the levels, finest first.
std::vector<int> colours(optimize::Objective& objective) {
  linalg::BlockMultigrid grid({.single_precision = true});
  grid.set_hierarchy(objective.hierarchy());
  grid.set_projectors(objective.projectors());
  std::vector<int> result;
  if (!grid.update(objective.hessian(optimize::HessianKind::Projected))) return result;
  for (int l = 0; l + 1 < grid.levels(); ++l) result.push_back(grid.colours(l));
  return result;
}

Expected<void> row(const BenchOptions& options, const Example& example, int size) {
  const auto file = options.scenes / (std::string(example.scene) + ".toml");
  auto coarse = load(file, {});
  if (!coarse) return forward_error(coarse);
  const matter::ClothBody* body = cloth_of(*coarse->model);
  const double edge =
      mean_edge(body->sheet) * std::sqrt(static_cast<double>(body->sheet.vertices.size()) / size);
  auto fine = load(file, {fmt::format("body.{}.edge=\"{:.4f} mm\"", example.body, 1e3 * edge)});
  if (!fine) return forward_error(fine);
  body = cloth_of(*fine->model);
  const auto vertices = body->sheet.vertices.size(), triangles = body->sheet.triangles.size();
  step::Simulation simulation(std::move(*fine->model));
  for (int k = 0; k < (options.steps > 0 ? options.steps : 2); ++k) {
    options.progress(fmt::format("{}: step {}", example.scene, k + 1));
    simulation.advance();
  }
  auto problem = simulation.step_problem(0, simulation.model().step);
  std::vector<double> g(problem.start.size()), x = problem.start;
  problem.objective.move_to(x);
  problem.objective.begin_iteration();
  const std::vector<int> by_level = colours(problem.objective);
  problem.objective.gradient(g);
  optimize::NonlinearMultigridOptions choice;
  choice.newton_near_the_end = false;
  optimize::MinimizerOptions minimizer;
  minimizer.max_iterations = 3 * most_cycles;  // corrections
  minimizer.stopping = {optimize::StoppingTest::GradientNorm, 0.01 * linalg::local_space().norm(g)};
  options.progress(fmt::format("{}: nfmg", example.scene));
  const auto nfmg = optimize::NonlinearMultigrid(choice).minimize(problem.objective, x, minimizer);
  options.progress(fmt::format("{}: auto", example.scene));
  const step::StepReport report = simulation.advance();
  options.print(fmt::format(
      "{:>14} {:>8} {:>9} {:>10} {:>9}{} {:>12.3f} {:>11.3f} {:>13.3f}{}", example.scene, vertices, triangles,
      by_level.empty() ? "-"
                       : fmt::format("{} to {}", *std::min_element(by_level.begin(), by_level.end()),
                                     *std::max_element(by_level.begin(), by_level.end())),
      nfmg.models, nfmg.converged() ? ' ' : '+', nfmg.timings.total / std::max(1, nfmg.models),
      nfmg.timings.total, report.seconds, report.converged() ? "" : "  not converged"));
  return {};
}

}  // namespace

Expected<void> cloth_table(const BenchOptions& options) {
  options.print(fmt::format(
      "\nTable 1 (a plus: not within {} cycles)\n{:>14} {:>8} {:>9} {:>10} {:>10} {:>12} {:>11} {:>13}",
      most_cycles, "scene", "vertices", "triangles", "colours", "cycles", "s per cycle", "s per step",
      "auto, s/step"));
  for (const Example& example : examples) {
    if (const auto done = row(options, example, options.size > 0 ? options.size : 10000); !done) return done;
  }
  return {};
}

}  // namespace lope::bench
