#include <lope/optimize/complementarity/problem.h>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <unit/optimize/complementarity/sample_problems.h>

namespace lope::optimize::complementarity {
namespace {

using linalg::CsrEntry;

MixedLcp chain(int rows, bool closed) {
  std::vector<CsrEntry> entries;
  for (int i = 0; i < rows; ++i) {
    const int neighbours = (i > 0) + (i + 1 < rows);
    entries.push_back({i, i, double(neighbours + (closed || i > 0 ? 0 : 1))});
    if (i > 0) entries.push_back({i, i - 1, -1});
    if (i + 1 < rows) entries.push_back({i, i + 1, -1});
  }
  MixedLcp problem;
  problem.a = linalg::csr_from_entries(rows, rows, entries);
  problem.b.assign(static_cast<std::size_t>(rows), 0.25);
  problem.bounded.assign(static_cast<std::size_t>(rows), 0);
  return problem;
}

TEST(LcpResidual, IsTheLargestRowOfTheMinimumMap) {
  MixedLcp problem = chain(3, false);
  problem.b = {1, -2, 0.5};
  problem.bounded = {1, 1, 0};
  std::vector<double> w(3);
  // p = (0, 1, 1): A p = (−1, 1, 0), w = (0, −1, 0.5); rows min(0, 0), min(1, −1), 0.5.
  EXPECT_DOUBLE_EQ(lcp_residual(problem, std::vector<double>{0, 1, 1}, w), 1);
  EXPECT_EQ(w, (std::vector<double>{0, -1, 0.5}));
  // ½ pᵀAp + bᵀp = ½ − 1.5.
  EXPECT_DOUBLE_EQ(lcp_objective(problem, std::vector<double>{0, 1, 1}, w), -1);
  EXPECT_TRUE(std::isnan(lcp_residual(problem, std::vector<double>{0, std::nan(""), 1})));
  EXPECT_DOUBLE_EQ(lcp_infeasibility(problem, std::vector<double>{-0.5, 1, -7}), 0.5);
}

TEST(LcpFault, NamesTheRow) {
  const MixedLcp good = chain(4, false);
  EXPECT_EQ(fault_of(good), "");
  const auto says = [](const MixedLcp& problem, const char* words) {
    const std::string fault = fault_of(problem);
    EXPECT_NE(fault.find(words), std::string::npos) << fault;
  };
  MixedLcp bad = good;
  bad.a.value[2] = -3;
  says(bad, "not symmetric: (1, 2)");
  bad = good;
  bad.a.value[0] = -1;
  says(bad, "diagonal entry of row 1 is -1");
  bad = good;
  bad.a.value[1] = bad.a.value[2] = 5;
  says(bad, "not positive semidefinite: (1, 2) is 5");
  bad = good;
  bad.b[2] = std::numeric_limits<double>::quiet_NaN();
  says(bad, "number 3 of b");
  bad = good;
  bad.b.pop_back();
  says(bad, "b has 3 numbers");
  bad = good;
  bad.bounded.push_back(0);
  says(bad, "5 flags");
  bad = good;
  bad.a.column[1] = 17;
  says(bad, "row 1 of the matrix has column 18");
  bad = good;
  bad.a.value[3] = std::numeric_limits<double>::infinity();
  says(bad, "not a finite number");
}

TEST(MakeSolvable, ShiftsOnlyPartsThatHaveNoSolution) {
  MixedLcp open = chain(4, false);
  Compatibility found = make_solvable(open);
  EXPECT_EQ(found.components, 1);
  EXPECT_EQ(found.singular, 0);
  EXPECT_EQ(found.projected, 0);

  MixedLcp closed = chain(4, true);
  found = make_solvable(closed);
  EXPECT_EQ(found.singular, 1);
  EXPECT_EQ(found.projected, 1);
  EXPECT_DOUBLE_EQ(found.largest_shift, 0.25);
  for (const double b : closed.b) EXPECT_DOUBLE_EQ(b, 0);

  // Expanding liquid with a wall can let go: nothing to shift.
  MixedLcp leaving = chain(4, true);
  leaving.bounded[0] = 1;
  EXPECT_EQ(make_solvable(leaving).projected, 0);
  for (double& b : leaving.b) b = -0.25;
  EXPECT_EQ(make_solvable(leaving).projected, 1);
}

TEST(PolicyAt, ComparesInUnitsOfTheDiagonal) {
  MixedLcp problem = chain(2, false);  // diagonal (2, 1)
  problem.bounded = {1, 1};
  EXPECT_EQ(policy_at(problem, std::vector<double>{0.6, 0.6}, std::vector<double>{1, 1}),
            (std::vector<std::uint8_t>{0, 1}));
  problem.bounded = {0, 0};
  EXPECT_EQ(policy_at(problem, std::vector<double>{-1, -1}, std::vector<double>{1, 1}),
            (std::vector<std::uint8_t>{0, 0}));
}

}  // namespace
}  // namespace lope::optimize::complementarity
