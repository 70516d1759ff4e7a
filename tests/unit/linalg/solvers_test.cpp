#include <lope/linalg/cholesky.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/minres.h>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

double residual(const BlockMatrix& a, ConstVector x, ConstVector b) {
  std::vector<double> r(a.size());
  a.multiply(x, r);
  combine(1, b, -1, r);
  return norm(r) / norm(b);
}

LinearOperator product(const BlockMatrix& a) {
  return [&a](ConstVector x, Vector y) { a.multiply(x, y); };
}

class Solvers : public testing::TestWithParam<int> {
 protected:
  const BlockMatrix matrix = random_matrix(7, GetParam(), 0.3);
  const std::vector<double> right = random_vector(matrix.size(), 3);
  std::vector<double> x = std::vector<double>(matrix.size());
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, Solvers, testing::Values(2, 3));

TEST_P(Solvers, CholeskySolves) {
  Cholesky factor;
  ASSERT_TRUE(factor.update(matrix));
  factor.apply(right, x);
  EXPECT_LT(residual(matrix, x, right), 1e-13);
  EXPECT_GT(factor.factor_bytes(), 0);
}

TEST_P(Solvers, CholeskyTakesNewNumbersAndOtherPatterns) {
  Cholesky factor;
  ASSERT_TRUE(factor.update(random_matrix(4, GetParam(), 1)));
  BlockMatrix doubled = matrix;
  for (double& value : doubled.values()) value *= 2;
  for (const BlockMatrix* a : {&matrix, static_cast<const BlockMatrix*>(&doubled)}) {
    ASSERT_TRUE(factor.update(*a));
    factor.apply(right, x);
    EXPECT_LT(residual(*a, x, right), 1e-13);
  }
}

TEST_P(Solvers, CholeskyRefusesIndefiniteAndRecovers) {
  Cholesky factor;
  EXPECT_FALSE(factor.update(random_matrix(7, GetParam(), 0)));
  ASSERT_TRUE(factor.update(matrix));
  factor.apply(right, x);
  EXPECT_LT(residual(matrix, x, right), 1e-13);
}

TEST_P(Solvers, ConjugateGradientSolves) {
  BlockJacobi jacobi;
  jacobi.update(matrix);
  ConjugateGradient cg;
  const CgSummary summary = cg.solve(local_space(), product(matrix), jacobi, right, x, {.relative_tolerance = 1e-12});
  EXPECT_TRUE(summary.converged);
  EXPECT_LT(residual(matrix, x, right), 1e-11);
}

TEST_P(Solvers, ExactPreconditionerNeedsOneIteration) {
  Cholesky factor;
  ASSERT_TRUE(factor.update(matrix));
  ConjugateGradient cg;
  const CgSummary summary = cg.solve(local_space(), product(matrix), factor, right, x, {.relative_tolerance = 1e-10});
  EXPECT_TRUE(summary.converged);
  EXPECT_EQ(summary.iterations, 1);
}

TEST_P(Solvers, NegativeCurvatureStillGivesDescent) {
  const BlockMatrix a = random_matrix(6, GetParam(), 0);
  const auto b = random_vector(a.size(), 5);
  std::vector<double> y(a.size());
  BlockJacobi jacobi;
  jacobi.update(a);
  ConjugateGradient cg;
  const CgSummary summary = cg.solve(local_space(), product(a), jacobi, b, y, {.relative_tolerance = 1e-12});
  EXPECT_TRUE(summary.negative_curvature);
  EXPECT_FALSE(summary.converged);
  EXPECT_GT(dot(y, b), 0);
}

// ½ xᵀAx − bᵀx falls without bound along negative curvature: the iterate that has gone along it lies lower.
TEST_P(Solvers, FollowedNegativeCurvatureLowersTheQuadratic) {
  const BlockMatrix a = random_matrix(6, GetParam(), 0);
  const auto b = random_vector(a.size(), 5);
  BlockJacobi jacobi;
  jacobi.update(a);
  ConjugateGradient cg;
  const auto quadratic = [&](bool follows) {
    std::vector<double> y(a.size()), ay(a.size());
    const CgSummary summary =
        cg.solve(local_space(), product(a), jacobi, b, y,
                 {.relative_tolerance = 1e-12, .follows_negative_curvature = follows});
    EXPECT_TRUE(summary.negative_curvature);
    EXPECT_GT(dot(y, b), 0);
    a.multiply(y, ay);
    return 0.5 * dot(y, ay) - dot(b, y);
  };
  EXPECT_LT(quadratic(true), quadratic(false));
}

TEST_P(Solvers, MinresSolvesDefiniteAndIndefinite) {
  for (const double shift : {0.3, 0.0}) {
    const BlockMatrix a = random_matrix(4, GetParam(), shift);
    const auto b = random_vector(a.size(), 4);
    std::vector<double> y(a.size());
    BlockJacobi jacobi;
    jacobi.update(a);
    Minres minres;
    const MinresSummary summary = minres.solve(local_space(), product(a), jacobi, b, y, {.relative_tolerance = 1e-10});
    EXPECT_TRUE(summary.converged) << shift;
    EXPECT_LT(residual(a, y, b), 1e-7) << shift;
  }
}

TEST_P(Solvers, ZeroRightHandSide) {
  BlockJacobi jacobi;
  jacobi.update(matrix);
  ConjugateGradient cg;
  const std::vector<double> zero(matrix.size(), 0.0);
  EXPECT_TRUE(cg.solve(local_space(), product(matrix), jacobi, zero, x, {}).converged);
  EXPECT_EQ(norm(x), 0);
}

TEST(Norms, LargestBlockKeepsANan) {
  std::vector<double> a(3 * 40'000, 1.0);
  EXPECT_DOUBLE_EQ(max_block_norm(a, 3), std::sqrt(3.0));
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{60'000}, a.size() - 1}) {
    std::vector<double> b = a;
    b[place] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(max_block_norm(b, 3))) << place;
  }
}

}  // namespace
}  // namespace lope::linalg
