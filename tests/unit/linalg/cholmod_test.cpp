// Our sparse Cholesky against CHOLMOD's.
#include <lope/linalg/cholesky.h>

#include <gtest/gtest.h>
#include <rivals/cholmod.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

TEST(SparseCholesky, AgreesWithCholmod) {
  const BlockMatrix matrix = random_matrix(12, 3, 0.3);
  const auto right = random_vector(matrix.size(), 4);
  std::vector<double> ours(matrix.size()), theirs(matrix.size());
  SparseCholesky<double> factor;
  rivals::CholmodFactor rival;
  ASSERT_TRUE(factor.update(matrix));
  ASSERT_TRUE(rival.update(matrix));
  factor.apply(right, ours);
  rival.apply(right, theirs);
  combine(1, ours, -1, theirs);
  EXPECT_LT(norm(theirs), 1e-13 * norm(ours));
  // Amalgamation may store zeros, but not many.
  EXPECT_LT(factor.factor_flops(), 1.5 * rival.factor_flops());
  EXPECT_LT(factor.factor_bytes(), 1.5 * rival.factor_bytes());
}

}  // namespace
}  // namespace lope::linalg
