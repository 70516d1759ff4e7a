// Every solver of the pressure, by its word.
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/grid_inverse.h>
#include <lope/matter/liquid/liquid.h>
#include <lope/matter/liquid/pressure_methods.h>
#include <lope/matter/liquid/pressure_solvers.h>
#include <lope/matter/liquid/pressure_system.h>
#include <lope/matter/liquid/sided_levels.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <papers/lcp_scenarios.h>

namespace lope::matter {
namespace {

namespace lcp = optimize::complementarity;
using bench::lcp_problem;
using bench::LcpScenario;
using bench::LcpVelocity;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A disc, its left half full, that falls for three steps; `separated`: the most cells that had let go.
struct Course {
  liquid::State state;
  long iterations = 0;
  int separated = 0;
};
Course fall(bool separating, std::optional<AnyPressureMethod> solver) {
  const auto disc = geometry::level_set(geometry::Sphere{.center = Vec3(0.5, 0.5, 0), .radius = 0.5});
  const auto left =
      geometry::level_set(geometry::HalfSpace{.point = Vec3(0.5, 0.5, 0), .normal = Vec3::UnitX()});
  liquid::Description made;
  made.dimension = 2;
  made.dx = 1.0 / 24;
  made.domain = {Vec3(-0.1, -0.1, 0), Vec3(1.1, 1.1, 0)};
  made.sources.push_back({*left});
  made.walls.push_back({geometry::complement_of(*disc), [](double) { return geometry::RigidPose(); }});
  made.separating = separating;
  made.tolerance = 1e-9;
  made.solver = solver;
  const auto model = liquid::make_liquid(made);
  Course result{model->start()};
  for (int k = 0; k < 3; ++k) {
    const liquid::Report report = model->advance(result.state, k / 60.0, 1 / 60.0);
    EXPECT_TRUE(report.converged) << report.reason;
    result.iterations += report.iterations;
    result.separated = std::max(result.separated, report.separated);
  }
  return result;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(PressureMethods, EveryOneLeadsToTheSamePressure) {
  for (const bool separating : {true, false}) {
    const Course expected = fall(separating, {});
    ASSERT_EQ(expected.separated > 0, separating);
    const double scale = *std::max_element(expected.state.pressure.begin(), expected.state.pressure.end());
    std::set<long> iterations;
    for (const PressureMethodInfo& info : pressure_methods()) {
      if (info.linear && separating) continue;
      SCOPED_TRACE(info.name);
      const Course course = fall(separating, info.method);
      EXPECT_EQ(course.separated > 0, separating);
      EXPECT_LT(largest_difference(course.state.pressure, expected.state.pressure), 1e-5 * scale);
      iterations.insert(course.iterations);
    }
    EXPECT_GT(iterations.size(), 5U) << "different methods take different paths";
  }
}

TEST(PressureMethods, AreFoundByTheirWords) {
  std::set<std::string_view> names;
  for (const PressureMethodInfo& info : pressure_methods()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    ASSERT_NE(find_pressure_method(info.name), nullptr);
    EXPECT_EQ(find_pressure_method(info.name)->method, info.method);
    EXPECT_EQ(info_of(info.method).name, info.name);
    EXPECT_FALSE(info.description.empty());
  }
  for (const lcp::LcpMethodInfo& info : lcp::lcp_methods())
    EXPECT_EQ(names.count(info.name), info.method == lcp::LcpMethod::Auto ? 0U : 1U) << info.name;
  EXPECT_EQ(find_pressure_method("auto"), nullptr);
}

// Of the rows that are left, the matrix is what the whole one has there.
template <int Dim>
void expect_reduced(LcpScenario scenario, int n) {
  const PressureSystem<Dim> system(lcp_problem<Dim>(scenario, n, LcpVelocity::Smooth), {});
  std::vector<std::uint8_t> zero(at(system.unknowns()));
  for (std::size_t i = 0; i < zero.size(); ++i)
    zero[i] = system.kind()[at(system.unknown_cells()[i])] == CellKind::Wall && i % 3 != 0;
  const PressureSystem<Dim> rest = system.without(zero);
  const auto fixed = std::count(zero.begin(), zero.end(), 1);
  ASSERT_GT(fixed, 0);
  EXPECT_EQ(rest.unknowns() + fixed, system.unknowns());
  std::vector<double> q(system.bricks().size());
  for (std::size_t i = 0; i < zero.size(); ++i)
    if (!zero[i]) q[at(system.unknown_cells()[i])] = std::sin(0.37 * static_cast<double>(i));
  std::vector<double> whole(q.size()), part(q.size());
  system.residual(q, whole);
  rest.residual(q, part);
  for (const std::int64_t cell : rest.unknown_cells()) EXPECT_NEAR(part[at(cell)], whole[at(cell)], 1e-5);
}

TEST(PressureSystem, LeavesOutUnknownsWhosePressureIsZero) {
  expect_reduced<2>(LcpScenario::Maze, 40);
  expect_reduced<3>(LcpScenario::TwoSpheres, 24);
}

TEST(GridInverse, IsSymmetricAndZeroOnFixedRows) {
  const PressureSystem<3> system(lcp_problem<3>(LcpScenario::Sphere, 24, LcpVelocity::Smooth), {});
  const auto problem = system.matrix_form();
  const std::size_t n = problem.size();
  std::vector<std::uint8_t> fixed(n);
  for (std::size_t i = 0; i < n; ++i) fixed[i] = problem.bounded[i] && i % 2;
  GridInverse<3> inverse;
  inverse.take(system);
  ASSERT_TRUE(inverse.set_matrix(problem.a));
  ASSERT_TRUE(inverse.set_fixed(fixed));
  std::vector<double> r(n), s(n), zr(n), zs(n);
  for (std::size_t i = 0; i < n; ++i) {
    r[i] = std::sin(1.3 * static_cast<double>(i));
    s[i] = std::cos(0.7 * static_cast<double>(i));
  }
  inverse.apply(r, zr);
  inverse.apply(s, zs);
  double rs = 0, sr = 0, scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (fixed[i]) {
      EXPECT_EQ(zr[i], 0);
    }
    rs += r[i] * zs[i];
    sr += s[i] * zr[i];
    scale += std::abs(r[i] * zs[i]);
  }
  EXPECT_NEAR(rs, sr, 1e-5 * scale);
}

// LCP: cycles inside policy iteration hardly grow with the grid, unlike IC(0)-CG, which takes twice as many at twice the size.
TEST(GridInverse, PolicyIterationScalesWithIt) {
  long before = 0;
  for (const int n : {24, 48}) {
    const PressureSystem<3> system(lcp_problem<3>(LcpScenario::Sphere, n, LcpVelocity::Smooth), {});
    std::vector<double> q(system.bricks().size());
    const auto summary = pressure_solver<3>(PressureMethod::PolicyMultigridExact)->solve(system, q, {});
    ASSERT_TRUE(summary.converged()) << summary.reason;
    EXPECT_LE(system.violation(q), 1e-6);
    EXPECT_LE(summary.inner_iterations, 60);
    if (before > 0) {
      EXPECT_LT(static_cast<double>(summary.inner_iterations), 1.5 * static_cast<double>(before));
    }
    before = summary.inner_iterations;
  }
}

// Walls of one to two cells: a coarse cell there has an unknown for each side, and every row of a prolongation whose cell has no air next to
// it sums to 1.
TEST(SidedLevels, HaveAnUnknownForEachSideOfAThinWall) {
  const PressureSystem<2> maze(lcp_problem<2>(LcpScenario::Maze, 64, LcpVelocity::Smooth), {});
  const PressureSystem<2> square(lcp_problem<2>(LcpScenario::Square, 64, LcpVelocity::Smooth), {});
  const SidedLevels sided = sided_levels<2>(maze, 20);
  EXPECT_GT(sided.doubled, 8);
  EXPECT_EQ(sided_levels<2>(square, 20).doubled, 0);
  ASSERT_GE(sided.prolongations.size(), 3U);
  int rows = maze.unknowns();
  for (const linalg::CsrMatrix& p : sided.prolongations) {
    ASSERT_EQ(p.rows, rows);
    EXPECT_EQ(linalg::structural_fault(p), "");
    rows = p.columns;
    int whole = 0;
    for (int i = 0; i < p.rows; ++i) {
      double sum = 0;
      for (auto k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) sum += p.value[at(k)];
      EXPECT_LE(sum, 1 + 1e-12);
      whole += sum > 1 - 1e-12;
    }
    EXPECT_GT(whole, p.rows / 2);
  }
  EXPECT_LE(rows, 20 + sided.doubled);
}

TEST(TruncatedSided, NeedsHalfTheCyclesInAMaze) {
  for (const int n : {32, 64, 128}) {
    for (const auto velocity : {LcpVelocity::Smooth, LcpVelocity::Rough}) {
      const PressureSystem<2> system(lcp_problem<2>(LcpScenario::Maze, n, velocity), {});
      std::vector<double> q(system.bricks().size()), p(system.bricks().size());
      const auto merged = pressure_solver<2>(PressureMethod::TruncatedMultigrid)->solve(system, q, {});
      const auto sided = pressure_solver<2>(PressureMethod::TruncatedSided)->solve(system, p, {});
      ASSERT_TRUE(sided.converged()) << sided.reason;
      EXPECT_LE(system.violation(p), 1e-6);
      EXPECT_LE(sided.iterations, 12) << n;
      EXPECT_LT(sided.iterations, 2 * merged.iterations / 3) << n;
      EXPECT_LT(largest_difference(p, q), 1e-3);
      for (std::size_t k = 1; k < sided.history.size(); ++k)
        EXPECT_LE(sided.history[k].objective, sided.history[k - 1].objective + 1e-12) << "cycle " << k;
    }
  }
}

}  // namespace
}  // namespace lope::matter
