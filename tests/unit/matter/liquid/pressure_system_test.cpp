#include <lope/matter/liquid/pressure_system.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <papers/lcp_scenarios.h>

namespace lope::matter {
namespace {

using bench::lcp_problem;
using bench::LcpScenario;
using bench::LcpVelocity;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One brick in the plane, everything open and full of liquid; the bricks around it are missing, so it is a
// closed box.
PressureGrid<2> closed_box() {
  PressureGrid<2> grid;
  const std::vector<geometry::GridIndex<2>> one = {{0, 0}};
  grid.bricks = std::make_shared<geometry::BrickSet<2>>(one);
  grid.dx = 0.125;
  grid.liquid.assign(64, -1);
  for (std::size_t a = 0; a < 2; ++a) {
    grid.open[a].assign(64, 1);
    grid.velocity[a].assign(64, 0);
  }
  return grid;
}

template <int Dim>
void expect_same_problem(LcpScenario scenario, int n) {
  const PressureSystem<Dim> system(lcp_problem<Dim>(scenario, n, LcpVelocity::Rough), {});
  const auto problem = system.matrix_form();
  EXPECT_EQ(optimize::complementarity::fault_of(problem), "");
  EXPECT_EQ(linalg::asymmetry(problem.a), 0);
  EXPECT_EQ(std::count(problem.bounded.begin(), problem.bounded.end(), 1), system.wall_unknowns());
  std::vector<double> q(problem.size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(0.7 * static_cast<double>(i));
  const auto field = system.scatter(q);
  EXPECT_EQ(system.gather(field), q);
  std::vector<double> w(q.size()), outflow(field.size());
  const double expected = optimize::complementarity::lcp_residual(problem, q, w);
  EXPECT_NEAR(system.violation(field), expected, 1e-12);
  system.residual(field, outflow);
  for (std::size_t i = 0; i < q.size(); ++i)
    EXPECT_NEAR(outflow[at(system.unknown_cells()[i])], w[i], 1e-12) << "row " << i;
}

TEST(PressureSystem, TheMatrixFormIsTheSameProblem) {
  expect_same_problem<2>(LcpScenario::Maze, 40);
  expect_same_problem<3>(LcpScenario::TwoSpheres, 20);
}

TEST(PressureSystem, TheDivergenceAfterTheProjectionIsTheResidual) {
  const auto grid = lcp_problem<3>(LcpScenario::SphereCuboid, 20, LcpVelocity::Rough);
  const PressureSystem<3> system(grid, {});
  std::vector<double> q(system.bricks().size()), outflow(q.size());
  for (const auto cell : system.unknown_cells()) q[at(cell)] = std::cos(0.3 * static_cast<double>(cell));
  system.residual(q, outflow);
  auto after = grid;
  std::array<std::vector<std::uint8_t>, 3> valid;
  system.subtract_gradient(grid, q, after.velocity, &valid);
  const PressureSystem<3> again(after, {});
  for (const auto cell : system.unknown_cells()) {
    EXPECT_NEAR(again.rhs()[at(cell)], outflow[at(cell)], 1e-4);  // w/θ is rounded to single precision
    for (int a = 0; a < 3; ++a) {
      if (system.coupling(a)[at(cell)] > 0) {
        EXPECT_EQ(valid[static_cast<std::size_t>(a)][at(cell)], 1);
      }
    }
  }
}

TEST(PressureSystem, WallsThatHoldHaveNoInequalities) {
  PressureOptions sticking;
  sticking.separating = false;
  const auto grid = lcp_problem<2>(LcpScenario::Circle, 32, LcpVelocity::Smooth);
  const PressureSystem<2> held(grid, sticking), free(grid, {});
  EXPECT_EQ(held.wall_unknowns(), 0);
  EXPECT_GT(free.wall_unknowns(), 0);
  EXPECT_EQ(held.unknowns(), free.unknowns());
}

TEST(PressureSystem, HydrostaticPressureIsAtRest) {
  // Gravity for one step in a column with its surface in the middle between two rows of cells.
  auto grid = closed_box();
  const double kick = 0.1;
  for (std::size_t cell = 0; cell < 64; ++cell) {
    const int y = static_cast<int>(cell / 8);
    grid.liquid[cell] = grid.dx * (y + 0.5 - 5.25);
    grid.velocity[1][cell] = -kick;
  }
  const PressureSystem<2> system(grid, {});
  std::vector<double> q(64);
  for (const auto cell : system.unknown_cells())
    q[at(cell)] = kick * (5.25 - (static_cast<double>(cell / 8) + 0.5));
  EXPECT_EQ(system.unknowns(), 5 * 8);
  EXPECT_EQ(system.enclosed_regions().size(), 0U);
  EXPECT_LT(system.violation(q), 1e-7);
}

TEST(PressureSystem, EnclosedLiquidIsMadeCompatible) {
  auto grid = closed_box();
  for (std::size_t a = 0; a < 2; ++a) grid.wall_velocity[a].assign(64, 0);
  // The lower wall pushes inwards: the region is compressed.
  for (std::size_t cell = 0; cell < 8; ++cell) grid.wall_velocity[1][cell] = 1;
  for (const bool separating : {false, true}) {
    PressureOptions options;
    options.separating = separating;
    const PressureSystem<2> system(grid, options);
    ASSERT_EQ(system.enclosed_regions().size(), 1U);
    const EnclosedRegion& region = system.enclosed_regions().front();
    EXPECT_EQ(region.cells.size(), 64U);
    EXPECT_NEAR(region.removed, -8, 1e-12);
    EXPECT_NEAR(region.squeeze, 8, 1e-12);
    EXPECT_NEAR(region.swept, 8, 1e-12);
    double sum = 0;
    for (const double b : system.rhs()) sum += b;
    EXPECT_NEAR(sum, 0, 1e-12);
  }
  // It draws outwards: only walls that hold have no solution.
  for (std::size_t cell = 0; cell < 8; ++cell) grid.wall_velocity[1][cell] = -1;
  EXPECT_EQ(PressureSystem<2>(grid, {}).enclosed_regions().front().removed, 0);
  EXPECT_EQ(PressureSystem<2>(grid, {.separating = false}).enclosed_regions().front().squeeze, 0);
}

// A wish to expand is taken away like the inflow of a wall, but nothing squeezes the liquid.
TEST(PressureSystem, AWantedExpansionIsNoSqueeze) {
  auto grid = closed_box();
  grid.expansion.assign(64, 0.5);
  const PressureSystem<2> crowded(grid, {});
  EXPECT_NEAR(crowded.enclosed_regions().front().removed, -32, 1e-12);
  EXPECT_EQ(crowded.enclosed_regions().front().squeeze, 0);
  for (std::size_t a = 0; a < 2; ++a) grid.wall_velocity[a].assign(64, 0);
  for (std::size_t cell = 0; cell < 8; ++cell) grid.wall_velocity[1][cell] = 1;
  EXPECT_NEAR(PressureSystem<2>(grid, {}).enclosed_regions().front().squeeze, 8, 1e-12);
  grid.expansion.assign(64, -0.1);  // gaps take some of it
  EXPECT_NEAR(PressureSystem<2>(grid, {}).enclosed_regions().front().squeeze, 1.6, 1e-12);
}

TEST(PressureSystem, AirConnectsThroughAMaze) {
  // A serpentine path of open faces through one brick: air at its very end is found from its beginning.
  auto grid = closed_box();
  for (std::size_t cell = 0; cell < 64; ++cell) {
    const std::size_t x = cell % 8, y = cell / 8;
    if (y > 0) grid.open[1][cell] = x == (y % 2 == 1 ? 7u : 0u) ? 1 : 0;
  }
  EXPECT_EQ(PressureSystem<2>(grid, {}).enclosed_regions().size(), 1U);
  grid.liquid[7 * 8] = 1;
  EXPECT_EQ(PressureSystem<2>(grid, {}).enclosed_regions().size(), 0U);
  grid.open[0][4 * 8 + 3] = 0;  // cut in two
  EXPECT_EQ(PressureSystem<2>(grid, {}).enclosed_regions().size(), 1U);
}

TEST(PressureSystem, SliversAreClosedAndSoAreCellsWithoutAnOpenFace) {
  auto grid = closed_box();
  grid.liquid[7 * 8] = 1;
  for (const auto& [axis, cell] : {std::pair{0, 27}, {0, 28}, {1, 27}, {1, 35}})
    grid.open[static_cast<std::size_t>(axis)][static_cast<std::size_t>(cell)] = 1e-5;
  const PressureSystem<2> system(grid, {});
  EXPECT_EQ(system.kind()[27], CellKind::Closed);
  EXPECT_EQ(system.kind()[26], CellKind::Wall);
  EXPECT_EQ(system.kind()[18], CellKind::Liquid);
  EXPECT_EQ(system.numbering()[27], -1);
}

}  // namespace
}  // namespace lope::matter
