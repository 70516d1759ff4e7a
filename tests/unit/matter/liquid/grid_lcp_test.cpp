// Complementarity problems from elsewhere on the pressure's multigrid: the same solutions as by the solvers that see a matrix.
#include <lope/matter/liquid/grid_lcp.h>
#include <lope/matter/liquid/pressure_system.h>
#include <lope/optimize/complementarity/methods.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <papers/lcp_scenarios.h>

namespace lope::matter {
namespace {

using geometry::GridIndex;
using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;
using optimize::complementarity::MixedLcp;

template <int Dim>
struct Case {
  MixedLcp problem;
  std::vector<GridIndex<Dim>> cells;
};

// A scenario of the liquid as nothing but a matrix and places.
template <int Dim>
Case<Dim> scenario(int n) {
  const PressureSystem<Dim> system(
      bench::lcp_problem<Dim>(bench::lcp_scenarios(Dim).front(), n, bench::LcpVelocity::Rough), {});
  Case<Dim> result{system.matrix_form(), {}};
  for (const std::int64_t cell : system.unknown_cells()) result.cells.push_back(system.bricks().cell(cell));
  return result;
}

template <int Dim>
std::vector<double> solved(const Case<Dim>& given, double tolerance, LcpSummary* summary = nullptr) {
  std::vector<double> p(given.problem.size());
  LcpOptions options;
  options.tolerance = tolerance;
  const auto found = solve_on_grid<Dim>(given.problem, given.cells, p, options);
  EXPECT_TRUE(found && found->converged()) << (found ? found->reason : found.error().message);
  EXPECT_LE(lcp_residual(given.problem, p), tolerance);
  if (summary) *summary = *found;
  return p;
}

template <int Dim>
void expect_what_the_matrix_solvers_find(int n) {
  const Case<Dim> given = scenario<Dim>(n);
  LcpSummary summary;
  const std::vector<double> p = solved(given, 1e-8, &summary);
  EXPECT_LE(summary.iterations, 20);
  std::vector<double> other(p.size());
  const auto solver = make_lcp_solver(optimize::complementarity::LcpMethod::MprgpAmg, p.size());
  solver->attach(given.problem);
  LcpOptions options;
  options.tolerance = 1e-8;
  EXPECT_TRUE(solver->solve(other, options).converged());
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], other[i], 1e-5);
}

TEST(GridLcp, FindsWhatTheMatrixSolversFind) {
  expect_what_the_matrix_solvers_find<2>(40);
  expect_what_the_matrix_solvers_find<3>(16);
}

TEST(GridLcp, TakesMatricesOfAnyScale) {
  Case<2> given = scenario<2>(32);
  const std::vector<double> p = solved(given, 1e-8);
  for (const double scale : {1e-5, 4e4}) {
    Case<2> scaled = given;
    for (double& value : scaled.problem.a.value) value *= scale;
    for (double& value : scaled.problem.b) value *= scale;
    const std::vector<double> same = solved(scaled, 1e-8 * scale);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(same[i], p[i], 1e-5);
  }
}

// Entries that single precision cannot hold.
TEST(GridLcp, SolvesTheMatrixThatWasGiven) {
  Case<2> given = scenario<2>(32);
  for (double& value : given.problem.a.value) value *= 1 / 3.0;
  solved(given, 1e-12);
}

TEST(GridLcp, RefusesWhatIsNoGrid) {
  const Case<2> given = scenario<2>(16);
  const auto complaint = [](const Case<2>& spoiled) {
    std::vector<double> p(spoiled.problem.size());
    const auto found = solve_on_grid<2>(spoiled.problem, spoiled.cells, p, {});
    return found ? std::string("none") : found.error().message;
  };
  const auto expect = [&](const Case<2>& spoiled, const char* words) {
    EXPECT_NE(complaint(spoiled).find(words), std::string::npos) << complaint(spoiled);
  };
  Case<2> spoiled = given;
  spoiled.cells[1] = spoiled.cells[0];
  expect(spoiled, "same cell");
  spoiled = given;
  spoiled.cells[3][0] += 1000;
  expect(spoiled, "not next to");
  spoiled.cells[3][0] += 1 << 23;
  expect(spoiled, "apart");
  spoiled = given;
  spoiled.cells.pop_back();
  expect(spoiled, "cells for");
  spoiled = given;
  for (double& value : spoiled.problem.a.value) value = std::abs(value);
  expect(spoiled, "must not be positive");
  spoiled = given;
  for (double& value : spoiled.problem.a.value) {
    if (value > 0) value *= 0.5;
  }
  expect(spoiled, "must not be negative");
}

}  // namespace
}  // namespace lope::matter
