// `lope bench cloth --only cycle,criterion`: where multigrid on cloth works and where it does not.
// - cycle: one V-cycle (one symmetric sweep before and after) on a free square of cloth, flat or with wrinkles of 20 cm, for the projected
//   Hessian of a step of 1/30 s: iterations of CG to 10⁻⁶ with it, by how much 60 cycles in a row shrink what they shrink least, in the
//   energy norm, which part of that lies out of the plane, and how rough it is: eᵀDe/eᵀHe, D the diagonal; 1 is as rough as can be,
//   the larger the smoother.
// - criterion: full multigrid cycles of nfmg as CLOTH prints it until ‖∇E‖ is one per cent of the first one, CLOTH's criterion, on the cloth
//   that falls on a sphere (cloth.cpp), by stiffness and by the step of the fall. CLOTH does not print its stiffnesses.
#include <lope/base/random.h>
#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/optimize/nonlinear_multigrid.h>
#include <lope/step/simulation.h>

#include <cmath>
#include <numbers>

#include <fmt/core.h>
#include <papers/cloth_parts.h>

namespace lope::bench {
namespace {

constexpr int power_steps = 60;

// A square of 2 m, in free space.
step::Model free_square(int vertices, double stretch, double bending) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.step = 1.0 / 30;
  matter::ClothBody body;
  body.name = "cloth";
  body.sheet = geometry::rectangle_sheet(2, 2, 2 * std::sqrt(2 / (std::sqrt(3.0) * vertices)));
  body.material.membrane = material::isotropic_membrane(stretch, 0.25);
  body.material.bending = {matter::BendingModel::Quadratic, bending, bending};
  body.material.area_density = 0.15;
  model.add(std::move(body));
  return model;
}

struct WorstError {
  double factor = 0;  // per cycle
  double normal = 0;  // part of its square out of the plane
  double smoothness = 0;
};

WorstError worst_error(const linalg::BlockMatrix& H, linalg::Preconditioner& cycle) {
  const linalg::Space& space = linalg::local_space();
  std::vector<double> e(H.size()), He(H.size()), z(H.size());
  for (std::size_t k = 0; k < e.size(); ++k) e[k] = 2 * random_unit(1, k) - 1;
  WorstError worst;
  double energy = 0;
  for (int k = 0; k <= power_steps; ++k) {
    H.multiply(e, He);
    const double before = energy;
    energy = space.dot(e, He);
    if (k > 0) worst.factor = std::sqrt(energy / before);
    if (k == power_steps) break;
    const double scale = 1 / std::sqrt(energy);
    linalg::combine(scale, e, 0, e);
    linalg::combine(scale, He, 0, He);
    energy = 1;
    cycle.apply(He, z);
    linalg::combine(-1, z, 1, e);
  }
  double diagonal = 0, normal = 0;
  std::vector<double> blocks(3 * H.size());
  H.diagonal_blocks(blocks);
  for (std::size_t k = 0; k < e.size(); ++k) {
    diagonal += blocks[9 * (k / 3) + 4 * (k % 3)] * e[k] * e[k];
    if (k % 3 == 2) normal += e[k] * e[k];
  }
  worst.normal = normal / space.dot(e, e);
  worst.smoothness = diagonal / energy;
  return worst;
}

void cycle_row(const BenchOptions& options, int vertices, double stretch, double bending, bool wrinkled) {
  step::Simulation simulation(free_square(vertices, stretch, bending));
  auto problem = simulation.step_problem(0, simulation.model().step);
  std::vector<double>& x = problem.start;
  for (std::size_t k = 0; wrinkled && k < x.size(); k += 3)
    x[k + 2] += 0.02 * std::sin(2 * std::numbers::pi * x[k] / 0.2);
  problem.objective.move_to(x);
  problem.objective.begin_iteration();
  const linalg::BlockMatrix& H = problem.objective.hessian(optimize::HessianKind::Projected);
  linalg::BlockMultigrid cycle({.sweeps = 1});
  cycle.set_hierarchy(problem.objective.hierarchy());
  if (!cycle.update(H)) return options.print("not positive definite");
  std::vector<double> b(x.size()), solution(x.size());
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 2 * random_unit(2, k) - 1;
  linalg::ConjugateGradient cg;
  const auto solve =
      cg.solve(linalg::local_space(), [&](linalg::ConstVector p, linalg::Vector y) { H.multiply(p, y); },
               cycle, b, solution, {.relative_tolerance = 1e-6});
  const WorstError worst = worst_error(H, cycle);
  options.print(fmt::format("{:>9} {:>9} {:>9} {:>8} {:>7} {:>8} {:>10.3f} {:>12.3f} {:>11.0f}", stretch,
                            bending, wrinkled ? "wrinkled" : "flat", x.size() / 3, cycle.levels(),
                            solve.iterations, worst.factor, worst.normal, worst.smoothness));
}

void criterion_row(const BenchOptions& options, double stretch, int steps) {
  step::Model model = sphere_model(options.size > 0 ? options.size : 2500);
  as<matter::ClothBody>(model.bodies[0]).material.membrane = material::isotropic_membrane(stretch, 0.25);
  step::Simulation simulation(std::move(model));
  for (int k = 0; k < steps; ++k) simulation.advance();
  auto problem = simulation.step_problem(0, simulation.model().step);
  std::vector<double> g(problem.start.size());
  problem.objective.move_to(problem.start);
  problem.objective.begin_iteration();
  problem.objective.gradient(g);
  optimize::NonlinearMultigridOptions choice;
  choice.newton_near_the_end = false;
  optimize::MinimizerOptions minimizer;
  minimizer.max_iterations = 3000;
  minimizer.stopping = {optimize::StoppingTest::GradientNorm, 0.01 * linalg::local_space().norm(g)};
  const auto summary =
      optimize::NonlinearMultigrid(choice).minimize(problem.objective, problem.start, minimizer);
  options.print(fmt::format("{:>9} {:>5} {:>8} {:>8}{}", stretch, steps + 1, problem.start.size() / 3,
                            summary.models, summary.converged() ? "" : "  " + summary.reason));
}

}  // namespace

void cloth_cycle(const BenchOptions& options) {
  options.print(fmt::format("\nOne V-cycle\n{:>9} {:>9} {:>9} {:>8} {:>7} {:>8} {:>10} {:>12} {:>11}",
                            "E t, N/m", "B, N m", "", "vertices", "levels", "CG its", "per cycle",
                            "out of plane", "smoothness"));
  for (const bool wrinkled : {false, true}) {
    for (const auto& [stretch, bending] : {std::pair{2000.0, 2e-5}, {2000.0, 0.0}, {20.0, 2e-5}}) {
      for (const int vertices : {1000, 2500, 10000, 40000})
        cycle_row(options, vertices, stretch, bending, wrinkled);
    }
  }
}

void cloth_criterion(const BenchOptions& options) {
  options.print(fmt::format("\nFull cycles of nfmg to 1 % of the first gradient\n{:>9} {:>5} {:>8} {:>8}",
                            "E t, N/m", "step", "vertices", "cycles"));
  for (const auto& [stretch, steps] :
       {std::pair{20.0, 3}, {200.0, 2}, {200.0, 9}, {2000.0, 1}, {2000.0, 2}, {2000.0, 9}})
    criterion_row(options, stretch, steps);
}

}  // namespace lope::bench
