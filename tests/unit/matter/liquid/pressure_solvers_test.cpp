#include <lope/base/parallel.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/pressure_fas.h>
#include <lope/matter/liquid/pressure_solvers.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <papers/lcp_scenarios.h>
#include <support/vectors.h>

namespace lope::matter {
namespace {

using bench::lcp_problem;
using bench::lcp_scenarios;
using bench::LcpScenario;
using bench::LcpVelocity;
using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <int Dim>
std::vector<double> solved(PressureSolver<Dim>& solver, const PressureSystem<Dim>& system, double tolerance,
                           LcpSummary* summary = nullptr) {
  std::vector<double> q(system.bricks().size());
  LcpOptions options;
  options.tolerance = tolerance;
  const LcpSummary result = solver.solve(system, q, options);
  EXPECT_TRUE(result.converged()) << result.reason << ", residual " << result.residual;
  if (summary) *summary = result;
  return q;
}

template <int Dim>
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

template <int Dim>
void expect_solution(LcpScenario scenario, int n, LcpVelocity velocity) {
  SCOPED_TRACE(std::string(name(scenario)) + " " + std::string(name(velocity)));
  const PressureSystem<Dim> system(lcp_problem<Dim>(scenario, n, velocity), {});
  TruncatedMultigrid<Dim> solver;
  LcpSummary summary;
  const auto q = solved<Dim>(solver, system, 1e-6, &summary);
  std::vector<double> outflow(q.size());
  system.residual(q, outflow);
  int separated = 0;
  for (const auto cell : system.unknown_cells()) {
    const double p = q[at(cell)], w = outflow[at(cell)];
    if (system.kind()[at(cell)] == CellKind::Wall) {
      EXPECT_GE(p, 0);
      EXPECT_GE(w, -1e-6);
      EXPECT_LE(std::min(p, w), 1e-6);
      separated += p == 0;
    } else {
      EXPECT_LE(std::abs(w), 1e-6);
    }
  }
  EXPECT_GT(separated, 0);
  EXPECT_LT(separated, system.wall_unknowns());
  for (std::size_t k = 1; k < summary.history.size(); ++k) {
    const double scale = std::abs(summary.history[k].objective);
    EXPECT_LE(summary.history[k].objective, summary.history[k - 1].objective + 1e-9 * scale) << "cycle " << k;
  }
}

TEST(TruncatedMultigrid, SolvesTheScenariosOfThePlane) {
  for (const auto scenario : lcp_scenarios(2))
    for (const auto velocity : {LcpVelocity::Smooth, LcpVelocity::Rough})
      expect_solution<2>(scenario, 48, velocity);
}

TEST(TruncatedMultigrid, SolvesTheScenariosOfSpace) {
  for (const auto scenario : lcp_scenarios(3))
    for (const auto velocity : {LcpVelocity::Smooth, LcpVelocity::Rough})
      expect_solution<3>(scenario, 32, velocity);
}

TEST(TruncatedMultigrid, CyclesDoNotGrowWithTheGrid) {
  for (const int n : {24, 48, 96}) {
    const PressureSystem<3> system(lcp_problem<3>(LcpScenario::Sphere, n, LcpVelocity::Smooth), {});
    TruncatedMultigrid<3> solver;
    LcpSummary summary;
    solved<3>(solver, system, 1e-6, &summary);
    EXPECT_LE(summary.iterations, 11) << n;
  }
}

TEST(TruncatedMultigrid, AgreesWithTheMethodsOfThePapers) {
  const PressureSystem<2> system(lcp_problem<2>(LcpScenario::Circle, 32, LcpVelocity::Rough), {});
  TruncatedMultigrid<2> truncated;
  const auto expected = solved<2>(truncated, system, 1e-9);
  FasOptions options;
  FasMultigrid<2> fas(options);
  EXPECT_LT(largest_difference<2>(solved<2>(fas, system, 1e-9), expected), 1e-6);
}

TEST(TruncatedMultigrid, GivesTheSameBitsForAnyNumberOfThreads) {
  const PressureSystem<3> system(lcp_problem<3>(LcpScenario::SphereCuboid, 40, LcpVelocity::Rough), {});
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    TruncatedMultigrid<3> solver;
    results.push_back(solved<3>(solver, system, 1e-6));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(TruncatedMultigrid, KeepsNothingButMemoryBetweenSystems) {
  const PressureSystem<3> small(lcp_problem<3>(LcpScenario::TwoSpheres, 24, LcpVelocity::Smooth), {});
  const PressureSystem<3> large(lcp_problem<3>(LcpScenario::Sphere, 40, LcpVelocity::Rough), {});
  TruncatedMultigrid<3> used, fresh;
  solved<3>(used, large, 1e-6);
  const auto again = solved<3>(used, small, 1e-6);
  EXPECT_EQ(again, solved<3>(fresh, small, 1e-6));
}

TEST(TruncatedMultigrid, StartsFromWhatItIsGiven) {
  const auto grid = lcp_problem<3>(LcpScenario::Sphere, 32, LcpVelocity::Smooth, 0.0);
  const PressureSystem<3> system(grid, {});
  TruncatedMultigrid<3> solver;
  auto q = solved<3>(solver, system, 1e-6);
  LcpOptions options;
  EXPECT_EQ(solver.solve(system, q, options).iterations, 0);
  q[at(system.unknown_cells()[0])] = std::nan("");  // taken as 0
  EXPECT_TRUE(solver.solve(system, q, options).converged());
}

TEST(TruncatedMultigrid, AWarmRunNeedsAboutTheCyclesOfALinearOne) {
  TruncatedMultigrid<3> separating;
  LinearMultigrid<3> holding;
  std::vector<double> p, q;
  int cycles = 0, linear_cycles = 0;
  for (int k = 0; k < 6; ++k) {
    const PressureSystem<3> system(lcp_problem<3>(LcpScenario::Sphere, 48, LcpVelocity::Smooth, 0.02 * k),
                                   {});
    p.resize(system.bricks().size());
    q.resize(system.bricks().size());
    const LcpSummary first = separating.solve(system, p, {}), second = holding.solve(system, q, {});
    ASSERT_TRUE(first.converged());
    ASSERT_TRUE(second.converged());
    EXPECT_LE(system.violation(p), 1e-6);
    if (k == 0) continue;
    cycles += first.iterations;
    linear_cycles += second.iterations;
  }
  EXPECT_LE(cycles, linear_cycles + 6);
}

TEST(Fas, IsALinearCycleWhereNoWallLetsGo) {
  PressureOptions options;
  options.separating = false;
  const PressureSystem<3> system(lcp_problem<3>(LcpScenario::Sphere, 32, LcpVelocity::Smooth), options);
  std::vector<int> cycles;
  for (const auto scaling : {FasScaling::AsPrinted, FasScaling::Velocities, FasScaling::Diagonal}) {
    FasOptions fas_options;
    fas_options.scaling = scaling;
    FasMultigrid<3> fas(fas_options);
    LcpSummary summary;
    solved<3>(fas, system, 1e-6, &summary);
    cycles.push_back(summary.iterations);
  }
  EXPECT_LE(cycles[0], 8);  // LCP Table 12: 7
  EXPECT_EQ(cycles[0], cycles[1]);
  EXPECT_EQ(cycles[0], cycles[2]);
}

TEST(Fas, NeedsAboutThePapersCyclesIfWallRowsAreComparedByTheirDiagonal) {
  for (const auto scenario : lcp_scenarios(3)) {
    const PressureSystem<3> system(lcp_problem<3>(scenario, 32, LcpVelocity::Smooth), {});
    FasMultigrid<3> fas({});
    LcpSummary summary;
    solved<3>(fas, system, 1e-6, &summary);
    EXPECT_LE(summary.iterations, 12) << name(scenario);
  }
}

TEST(FullMultigrid, FindsTheSameSolution) {
  for (const auto scenario : lcp_scenarios(3)) {
    const PressureSystem<3> system(lcp_problem<3>(scenario, 32, LcpVelocity::Rough), {});
    FullMultigrid<3> full;
    TruncatedMultigrid<3> truncated;
    EXPECT_LT(largest_difference<3>(solved<3>(full, system, 1e-8), solved<3>(truncated, system, 1e-8)), 1e-6);
  }
}

// A closed box of one brick, full of liquid that is pushed about: no free surface, singular matrix.
PressureGrid<3> full_box() {
  PressureGrid<3> grid;
  const std::vector<geometry::GridIndex<3>> bricks = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  grid.bricks = std::make_shared<geometry::BrickSet<3>>(bricks);
  grid.dx = 0.0625;
  grid.liquid.assign(grid.bricks->size(), -1);
  for (std::size_t a = 0; a < 3; ++a) {
    grid.open[a].assign(grid.bricks->size(), 1);
    for (std::size_t i = 0; i < grid.bricks->size(); ++i)
      grid.velocity[a].push_back(std::sin(0.3 * static_cast<double>(i * (a + 1))));
  }
  return grid;
}

TEST(PressureSolvers, SolveEnclosedLiquid) {
  for (const bool separating : {false, true}) {
    PressureOptions options;
    options.separating = separating;
    const PressureSystem<3> system(full_box(), options);
    EXPECT_EQ(system.enclosed_regions().size(), 1U);
    for (const auto method : {PressureMethod::TruncatedMultigrid, PressureMethod::LinearMultigrid}) {
      if (separating && method == PressureMethod::LinearMultigrid) continue;
      const auto solver = pressure_solver<3>(method);
      const auto q = solved<3>(*solver, system, 1e-6);
      EXPECT_LE(system.violation(q), 1e-6);
    }
  }
}

TEST(PressureSolvers, AnEmptySystemIsSolved) {
  auto grid = full_box();
  grid.liquid.assign(grid.liquid.size(), 1);
  const PressureSystem<3> system(grid, {});
  EXPECT_EQ(system.unknowns(), 0);
  for (const auto method : {PressureMethod::TruncatedMultigrid, PressureMethod::LinearMultigrid})
    solved<3>(*pressure_solver<3>(method), system, 1e-6);
}

TEST(LinearMultigrid, SolvesTheEquationsOfWallsThatHold) {
  PressureOptions options;
  options.separating = false;
  for (const auto scenario : lcp_scenarios(3)) {
    const PressureSystem<3> system(lcp_problem<3>(scenario, 32, LcpVelocity::Rough), options);
    LinearMultigrid<3> solver;
    LcpSummary summary;
    const auto q = solved<3>(solver, system, 1e-6, &summary);
    EXPECT_LE(system.violation(q), 1e-6);
    EXPECT_LE(summary.iterations, 12);
    // The truncated cycle has nothing to truncate here: same solution.
    TruncatedMultigrid<3> truncated;
    EXPECT_LT(largest_difference<3>(solved<3>(truncated, system, 1e-8), q), 1e-4);
  }
}

template <int Dim>
void expect_symmetric_cycle(LcpScenario scenario, int n) {
  PressureOptions options;
  options.separating = false;
  const PressureSystem<Dim> system(lcp_problem<Dim>(scenario, n, LcpVelocity::Smooth), options);
  HierarchyOptions small;
  small.coarsest_unknowns = 20;
  PressureHierarchy<Dim> hierarchy(small);
  hierarchy.attach(system, false);
  hierarchy.build_matrices();
  ASSERT_GE(hierarchy.level_count(), 3);
  const auto sizes = hierarchy.unknowns();
  EXPECT_EQ(sizes.front(), system.unknowns());
  EXPECT_LE(sizes.back(), 20);
  for (std::size_t l = 1; l < sizes.size(); ++l) EXPECT_LT(sizes[l], sizes[l - 1]);
  std::vector<std::vector<double>> r(2, std::vector<double>(hierarchy.field_size())), z = r;
  for (const auto cell : system.unknown_cells()) {
    r[0][at(cell)] = std::sin(0.37 * static_cast<double>(cell % 911));
    r[1][at(cell)] = std::cos(0.11 * static_cast<double>(cell % 773));
  }
  for (std::size_t k = 0; k < 2; ++k) {
    hierarchy.set_residual(r[k]);
    linalg::v_cycle(hierarchy);
    hierarchy.copy_correction(z[k]);
  }
  const double both = linalg::dot(r[0], z[1]);
  EXPECT_NEAR(both, linalg::dot(r[1], z[0]), 1e-4 * std::abs(both));
  EXPECT_GT(linalg::dot(r[0], z[0]), 0);
  EXPECT_GT(linalg::dot(r[1], z[1]), 0);
}

TEST(PressureHierarchy, TheCycleIsSymmetricAndPositive) {
  expect_symmetric_cycle<2>(LcpScenario::Maze, 64);
  expect_symmetric_cycle<3>(LcpScenario::SphereCuboid, 32);
}

template <int Dim>
void expect_equal_kernels(LcpScenario scenario, int n) {
  const PressureSystem<Dim> system(lcp_problem<Dim>(scenario, n, LcpVelocity::Rough), {});
  std::vector<std::vector<double>> corrections, solutions;
  for (const Isa isa : supported_isas()) {
    HierarchyOptions options;
    options.isa = isa;
    options.coarsest_unknowns = 20;
    PressureHierarchy<Dim> hierarchy(options);
    hierarchy.attach(system, true);
    std::vector<double> p(hierarchy.field_size());
    const auto start = hierarchy.defect(p);
    hierarchy.smooth_before(0);
    hierarchy.update_active();
    hierarchy.build_matrices();
    hierarchy.restrict_residual(0);
    linalg::v_cycle(hierarchy, 1);
    hierarchy.prolong_correction(0);
    hierarchy.smooth_after(0);
    corrections.emplace_back(hierarchy.field_size());
    hierarchy.copy_correction(corrections.back());
    hierarchy.move(p);
    EXPECT_LT(hierarchy.defect(p).objective, start.objective);
    TruncatedMultigrid<Dim> solver(options);
    solutions.push_back(solved<Dim>(solver, system, 1e-7));
  }
  double size = 0;
  for (const double c : corrections[0]) size = std::max(size, std::abs(c));
  EXPECT_GT(size, 0.1);
  for (std::size_t k = 0; k < corrections.size(); ++k) {
    SCOPED_TRACE(name(supported_isas()[k]));
    EXPECT_LT(largest_difference<Dim>(corrections[0], corrections[k]), 1e-4 * size);
    EXPECT_LT(largest_difference<Dim>(solutions[0], solutions[k]), 1e-5);
    if (is_fused(supported_isas()[k]) != is_fused(supported_isas().back())) continue;
    EXPECT_EQ(corrections[k], corrections.back());
    EXPECT_EQ(solutions[k], solutions.back());
  }
}

TEST(PressureHierarchy, AllKernelsAgree) {
  expect_equal_kernels<2>(LcpScenario::Circle, 96);
  expect_equal_kernels<3>(LcpScenario::TwoSpheres, 40);
}

TEST(PressureHierarchy, TheCoarseMatrixIsGalerkins) {
  // With an exact coarse solve, P A_c⁻¹ Pᵀ A is a projection (times the scaling of the right-hand side): the
  // correction of a corrected function is a fixed small multiple of the correction.
  const PressureSystem<3> system(lcp_problem<3>(LcpScenario::TwoSpheres, 24, LcpVelocity::Smooth), {});
  HierarchyOptions two_levels;
  two_levels.sweeps = 0;
  two_levels.coarsest_unknowns = 400;
  PressureHierarchy<3> hierarchy(two_levels);
  hierarchy.attach(system, false);
  hierarchy.build_matrices();
  ASSERT_EQ(hierarchy.level_count(), 2);
  std::vector<double> r(hierarchy.field_size()), once = r, twice = r;
  for (const auto cell : system.unknown_cells())
    r[at(cell)] = std::sin(0.37 * static_cast<double>(cell % 911));
  hierarchy.set_residual(r);
  linalg::v_cycle(hierarchy);
  hierarchy.copy_correction(once);
  linalg::v_cycle(hierarchy);  // of the residual that is left: c is not reset
  hierarchy.copy_correction(twice);
  double size = 0, error = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    size = std::max(size, std::abs(once[i]));
    error = std::max(error, std::abs(twice[i] - (2 - 1.04) * once[i]));
  }
  EXPECT_GT(size, 0.1);
  EXPECT_LT(error, 2e-3 * size);
}

}  // namespace
}  // namespace lope::matter
