// Every solver on every kind of problem: they agree, complementarity holds row by row, descent methods
// descend.
#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/methods.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unit/optimize/complementarity/sample_problems.h>

namespace lope::optimize::complementarity {
namespace {

using samples::BallOptions;
using samples::half_filled_ball;

struct Solved {
  std::vector<double> p;
  LcpSummary summary;
};

Solved solve(const MixedLcp& problem, LcpMethod method, const LcpOptions& options = {}, double start = 0) {
  Solved result{std::vector<double>(problem.size(), start), {}};
  const auto solver = make_lcp_solver(method, problem.size());
  solver->attach(problem);
  result.summary = solver->solve(result.p, options);
  return result;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

int separated_rows(const MixedLcp& problem, const std::vector<double>& p) {
  int count = 0;
  for (std::size_t i = 0; i < p.size(); ++i) count += problem.bounded[i] != 0 && p[i] < 1e-5;
  return count;
}

class EverySolver : public testing::TestWithParam<LcpMethodInfo> {};

TEST_P(EverySolver, SolvesRowByRowAndAgreesWithATightReference) {
  if (GetParam().linear) {
    const MixedLcp problem = half_filled_ball({.dimension = 3, .cells = 14, .noise = 1});
    const Solved solved = solve(problem, GetParam().method);
    ASSERT_TRUE(solved.summary.converged()) << solved.summary.reason;
    std::vector<double> w(problem.size());
    lcp_residual(problem, solved.p, w);
    for (const double row : w) ASSERT_LE(std::abs(row), 1e-6);
    return;
  }
  for (const BallOptions& kind :
       {BallOptions{.dimension = 2, .cells = 24}, BallOptions{.dimension = 2, .cells = 40, .noise = 3},
        BallOptions{.dimension = 3, .cells = 14}, BallOptions{.dimension = 3, .cells = 14, .noise = 1}}) {
    SCOPED_TRACE(fmt::format("{}D, {} cells, noise {}", kind.dimension, kind.cells, kind.noise));
    const MixedLcp problem = half_filled_ball(kind);
    ASSERT_EQ(fault_of(problem), "");
    const Solved reference = solve(problem, LcpMethod::PolicyIcExact, {.tolerance = 1e-11});
    ASSERT_TRUE(reference.summary.converged());
    const int separated = separated_rows(problem, reference.p);
    ASSERT_GT(separated, 5);

    const Solved solved = solve(problem, GetParam().method);
    ASSERT_TRUE(solved.summary.converged()) << solved.summary.reason;
    EXPECT_LE(solved.summary.residual, 1e-6);
    EXPECT_DOUBLE_EQ(solved.summary.residual, lcp_residual(problem, solved.p));
    std::vector<double> w(problem.size());
    lcp_residual(problem, solved.p, w);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      ASSERT_LE(row_residual(problem.bounded[i] != 0, solved.p[i], w[i]), 1e-6) << "row " << i;
    }
    // The error of p is at most ‖A⁻¹‖ times the residual: some hundreds here.
    EXPECT_LE(largest_difference(solved.p, reference.p), 3e-4);
    EXPECT_EQ(separated_rows(problem, solved.p), separated);
    EXPECT_NEAR(solved.summary.objective, reference.summary.objective,
                1e-6 * std::abs(reference.summary.objective));
  }
}

TEST_P(EverySolver, HandlesEnclosedLiquid) {
  MixedLcp problem = half_filled_ball({.dimension = 2, .cells = 16, .noise = 1, .closed = true});
  // Once compressed (no pressure would do), once exactly compatible, once with room to let go.
  for (const double flow : {-0.1, 0.0, 0.1}) {
    SCOPED_TRACE(flow);
    MixedLcp shifted = problem;
    make_solvable(shifted);
    for (double& b : shifted.b) b += flow;
    const Compatibility found = make_solvable(shifted);
    EXPECT_EQ(found.singular, 1);
    EXPECT_EQ(found.projected > 0, flow < 0);
    if (GetParam().linear && flow > 0) continue;
    const Solved solved = solve(shifted, GetParam().method, {.tolerance = 1e-5});
    ASSERT_TRUE(solved.summary.converged()) << solved.summary.reason;
    for (const double value : solved.p) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(EverySolver, StartsFromTheSolutionForFree) {
  const MixedLcp problem = half_filled_ball({.dimension = 2, .cells = 24});
  Solved first = solve(problem, GetParam().method);
  const auto solver = make_lcp_solver(GetParam().method, problem.size());
  solver->attach(problem);
  const LcpSummary again = solver->solve(first.p, {});
  EXPECT_TRUE(again.converged());
  EXPECT_EQ(again.iterations, 0);
}

TEST_P(EverySolver, GivesTheSameBitsForAnyNumberOfThreads) {
  const MixedLcp problem = half_filled_ball({.dimension = 3, .cells = 28});
  ASSERT_GT(problem.size(), 5000u);  // more than one chunk of every loop
  const LcpOptions options{.tolerance = 1e-3};
  std::vector<double> one;
  {
    const ThreadLimit limit(1);
    one = solve(problem, GetParam().method, options).p;
  }
  const std::vector<double> many = solve(problem, GetParam().method, options).p;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(one[i]), std::bit_cast<std::uint64_t>(many[i])) << i;
  }
}

TEST_P(EverySolver, SaysThatItDidNotConverge) {
  const MixedLcp problem = half_filled_ball({.dimension = 2, .cells = 40, .noise = 1});
  const Solved solved =
      solve(problem, GetParam().method, {.tolerance = 1e-14, .max_iterations = 1, .max_inner_iterations = 2});
  EXPECT_FALSE(solved.summary.converged());
  EXPECT_EQ(solved.summary.outcome, Outcome::IterationLimit);
  EXPECT_NE(solved.summary.reason, "");
  EXPECT_GT(solved.summary.residual, 1e-14);
  for (const double value : solved.p) ASSERT_TRUE(std::isfinite(value));
}

TEST_P(EverySolver, RefusesAnIndefiniteMatrix) {
  MixedLcp problem;
  const std::vector<linalg::CsrEntry> entries = {{0, 0, 1}, {0, 1, 3}, {1, 0, 3}, {1, 1, 1}};
  problem.a = linalg::csr_from_entries(2, 2, entries);
  problem.b = {1, -1};
  problem.bounded = {0, 0};
  const Solved solved = solve(problem, GetParam().method);
  EXPECT_FALSE(solved.summary.converged());
  EXPECT_NE(solved.summary.reason, "");
  EXPECT_GT(solved.summary.residual, 1e-6);
  // Nothing that was tried is better than the start, which therefore stands.
  EXPECT_EQ(solved.p, std::vector<double>(2, 0.0));
}

INSTANTIATE_TEST_SUITE_P(Table, EverySolver, testing::ValuesIn(lcp_methods().begin(), lcp_methods().end()),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class DescentMethod : public testing::TestWithParam<LcpMethod> {};

TEST_P(DescentMethod, NeverRaisesTheObjectiveAndStaysFeasible) {
  const MixedLcp problem = half_filled_ball({.dimension = 3, .cells = 16, .noise = 1});
  LcpOptions options;
  double last = std::numeric_limits<double>::infinity();
  int records = 0;
  options.observer = [&](const LcpIteration& iteration, linalg::ConstVector p) {
    EXPECT_LE(iteration.objective, last + 1e-12 * std::abs(iteration.objective)) << iteration.number;
    EXPECT_EQ(lcp_infeasibility(problem, p), 0) << iteration.number;
    last = iteration.objective;
    ++records;
  };
  EXPECT_TRUE(solve(problem, GetParam(), options).summary.converged());
  EXPECT_GT(records, 3);
}

INSTANTIATE_TEST_SUITE_P(Table, DescentMethod,
                         testing::Values(LcpMethod::GaussSeidel, LcpMethod::Sor, LcpMethod::TruncatedAmg,
                                         LcpMethod::MprgpIc, LcpMethod::MprgpAmg),
                         [](const auto& tested) {
                           std::string name(name_of(tested.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PolicyIteration, NeedsOneOuterIterationFromTheRightPolicy) {
  const MixedLcp problem = half_filled_ball({.dimension = 3, .cells = 16, .noise = 0.5});
  const Solved cold = solve(problem, LcpMethod::PolicyIcExact);
  ASSERT_GT(cold.summary.iterations, 2);
  std::vector<double> w(problem.size());
  lcp_residual(problem, cold.p, w);
  const std::vector<std::uint8_t> policy = policy_at(problem, cold.p, w);
  for (const LcpMethod method : {LcpMethod::PolicyIcExact, LcpMethod::PenaltyIcExact}) {
    EXPECT_EQ(solve(problem, method, {.policy = policy}).summary.iterations, 1) << name_of(method);
  }
}

TEST(AlgebraicMultigrid, KeepsPreconditionedIterationsNearlyConstant) {
  std::vector<long> iterations;
  for (const int cells : {16, 32}) {
    const MixedLcp problem = half_filled_ball({.dimension = 3, .cells = cells});
    iterations.push_back(solve(problem, LcpMethod::LinearAmg).summary.inner_iterations);
  }
  EXPECT_LE(iterations[1], iterations[0] + 4);
  EXPECT_LE(iterations[1], 14);
}

}  // namespace
}  // namespace lope::optimize::complementarity
