#include <lope/base/random.h>
#include <lope/linalg/algebraic_multigrid.h>
#include <lope/linalg/csr_matrix.h>
#include <lope/linalg/gauss_seidel.h>
#include <lope/linalg/masked_inverse.h>

#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <support/vectors.h>

namespace lope::linalg {
namespace {

Eigen::MatrixXd dense(const CsrMatrix& a) {
  Eigen::MatrixXd result(a.rows, a.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) result(i, j) = a.at(i, j);
  }
  return result;
}

CsrMatrix arbitrary_matrix(int rows, int columns) {
  std::vector<CsrEntry> entries;
  const int count = *rc::gen::inRange(0, 4 * rows);
  for (int k = 0; k < count; ++k) {
    entries.push_back(
        {*rc::gen::inRange(0, rows), *rc::gen::inRange(0, columns), double(*rc::gen::inRange(-5, 6))});
  }
  return csr_from_entries(rows, columns, entries);
}

// The 5-point Laplacian on n × n cells with open ends, entries varied: an M-matrix.
CsrMatrix laplacian(int n) {
  std::vector<CsrEntry> entries;
  const auto couple = [&](int i, int j) {
    const double w = 0.1 + random_unit(3, static_cast<std::uint64_t>(i * n * n + j));
    for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)}) {
      entries.push_back({a, a, w});
      entries.push_back({a, b, -w});
    }
  };
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      if (x + 1 < n) couple(y * n + x, y * n + x + 1);
      if (y + 1 < n) couple(y * n + x, (y + 1) * n + x);
      if (y == 0) entries.push_back({x, x, 1});
    }
  }
  return csr_from_entries(n * n, n * n, entries);
}

TEST(CsrMatrix, AlgebraAgreesWithDenseMatrices) {
  const bool agrees = rc::check("products, transposes, sums of equal places", [] {
    const int m = *rc::gen::inRange(1, 20), k = *rc::gen::inRange(1, 20), n = *rc::gen::inRange(1, 20);
    const CsrMatrix a = arbitrary_matrix(m, k), b = arbitrary_matrix(k, n);
    RC_ASSERT(structural_fault(a).empty());
    RC_ASSERT(structural_fault(multiply(a, b)).empty());
    RC_ASSERT(dense(multiply(a, b)) == dense(a) * dense(b));
    RC_ASSERT(dense(transpose(a)) == dense(a).transpose());
    Eigen::VectorXd x(k), y(m);
    for (int i = 0; i < k; ++i) x[i] = *rc::gen::inRange(-9, 10);
    multiply(a, {x.data(), std::size_t(k)}, {y.data(), std::size_t(m)});
    RC_ASSERT(y == dense(a) * x);
    const CsrMatrix symmetric = multiply(a, transpose(a));
    RC_ASSERT(asymmetry(symmetric) == 0);
  });
  EXPECT_TRUE(agrees);
}

std::vector<std::uint8_t> some_rows(std::size_t rows, std::uint64_t seed, double part) {
  std::vector<std::uint8_t> flags(rows);
  for (std::size_t i = 0; i < rows; ++i) flags[i] = random_unit(seed, i) < part;
  return flags;
}

class EveryMaskedInverse : public testing::TestWithParam<int> {
 protected:
  static std::unique_ptr<MaskedInverse> make() {
    if (GetParam() == 0) return std::make_unique<MaskedJacobi>();
    if (GetParam() == 1) return std::make_unique<MaskedIncompleteCholesky>();
    return std::make_unique<AlgebraicMultigrid>(AmgOptions{.coarsest_rows = 20});
  }
};

TEST_P(EveryMaskedInverse, IsSymmetricPositiveOnFreeRowsAndZeroOnFixedOnes) {
  const CsrMatrix a = laplacian(24);
  const auto n = static_cast<std::size_t>(a.rows);
  const auto inverse = make();
  ASSERT_TRUE(inverse->set_matrix(a));
  for (const double part : {0.0, 0.2, 0.7, 1.0, 0.1}) {
    const auto fixed = some_rows(n, 5, part);
    ASSERT_TRUE(inverse->set_fixed(fixed));
    std::vector<double> r(n), s(n), zr(n), zs(n);
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = random_unit(1, i) - 0.5;
      s[i] = random_unit(2, i) - 0.5;
    }
    inverse->apply(r, zr);
    inverse->apply(s, zs);
    for (std::size_t i = 0; i < n; ++i) {
      if (fixed[i] != 0) {
        ASSERT_EQ(zr[i], 0);
      }
    }
    EXPECT_NEAR(dot(s, zr), dot(r, zs), 1e-6 * (std::abs(dot(s, zr)) + dot(r, zr)));
    if (part < 1) {
      EXPECT_GT(dot(r, zr), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryMaskedInverse, testing::Values(0, 1, 2));

TEST(AlgebraicMultigrid, FixingStepByStepIsFixingAtOnce) {
  const CsrMatrix a = laplacian(40);
  const auto n = static_cast<std::size_t>(a.rows);
  AlgebraicMultigrid stepwise({.coarsest_rows = 20}), fresh({.coarsest_rows = 20});
  ASSERT_TRUE(stepwise.set_matrix(a));
  ASSERT_GE(stepwise.levels(), 3);
  for (const std::uint64_t seed : {1, 2, 3})
    ASSERT_TRUE(stepwise.set_fixed(some_rows(n, seed, 0.3 * double(seed))));
  const auto last = some_rows(n, 9, 0.25);
  ASSERT_TRUE(stepwise.set_fixed(last));
  ASSERT_TRUE(fresh.set_matrix(a));
  ASSERT_TRUE(fresh.set_fixed(last));
  std::vector<double> r(n), z(n), y(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = random_unit(4, i);
  stepwise.apply(r, z);
  fresh.apply(r, y);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(z[i], y[i], 1e-9 * norm(y));
}

// A coarse correction is the best one of its space: the error left is orthogonal, in energy, to what a second
// one finds.
TEST(AlgebraicMultigrid, CoarseCorrectionOfTwoLevelsIsAProjection) {
  const CsrMatrix a = laplacian(16);
  const auto n = static_cast<std::size_t>(a.rows);
  AlgebraicMultigrid two({.max_levels = 2});
  ASSERT_TRUE(two.set_matrix(a));
  ASSERT_EQ(two.levels(), 2);
  const auto fixed = some_rows(n, 6, 0.3);
  ASSERT_TRUE(two.set_fixed(fixed));
  std::vector<double> r(n), z(n), again(n), left(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = fixed[i] != 0 ? 0 : random_unit(8, i) - 0.5;
  two.coarse_correction(r, z);
  ASSERT_GT(norm(z), 1e-3);
  residual(a, z, r, left);
  two.coarse_correction(left, again);
  EXPECT_LT(norm(again), 1e-5 * norm(z));
}

TEST(GaussSeidel, SweepsConvergeBothWaysAndLeaveFixedRowsAlone) {
  const CsrMatrix a = laplacian(8);
  const auto n = static_cast<std::size_t>(a.rows);
  GaussSeidel sweeps;
  sweeps.set_matrix(a);
  EXPECT_EQ(sweeps.colours(), 2);
  const auto fixed = some_rows(n, 11, 0.2);
  sweeps.update_numbers(fixed);
  std::vector<double> f(n, 1.0), x(n, 0.5), r(n);
  for (int k = 0; k < 3000; ++k) sweeps.sweep(f, x, k % 2 == 0 ? Direction::Forward : Direction::Backward);
  residual(a, x, f, r);
  for (std::size_t i = 0; i < n; ++i) {
    if (fixed[i] != 0) {
      EXPECT_EQ(x[i], 0.5);
    } else {
      EXPECT_NEAR(r[i], 0, 1e-9);
    }
  }
}

TEST(MaskedIncompleteCholesky, ShiftsWhereNoFactorExistsWithoutFill) {
  // Positive definite, but incomplete factorisation breaks down on it (Kershaw 1978).
  const std::vector<CsrEntry> entries = {{0, 0, 3},  {0, 1, -2}, {0, 3, 2},  {1, 0, -2},
                                         {1, 1, 3},  {1, 2, -2}, {2, 1, -2}, {2, 2, 3},
                                         {2, 3, -2}, {3, 0, 2},  {3, 2, -2}, {3, 3, 3}};
  const CsrMatrix a = csr_from_entries(4, 4, entries);
  MaskedIncompleteCholesky inverse;
  ASSERT_TRUE(inverse.set_matrix(a));
  std::vector<double> z(4);
  const std::vector<double> r = {1, -1, 2, 0.5};
  inverse.apply(r, z);
  EXPECT_GT(dot(r, z), 0);
  const std::vector<CsrEntry> without_diagonal = {{0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
  const CsrMatrix bad = csr_from_entries(2, 2, without_diagonal);
  EXPECT_FALSE(inverse.set_matrix(bad));
}

}  // namespace
}  // namespace lope::linalg
