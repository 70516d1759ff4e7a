// The estimate of the remaining displacement: as careful as it must be, and no more.
#include <lope/optimize/stopping.h>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::optimize {
namespace {

// Block Jacobi, which says of itself what it is told to; for diagonally dominant matrices it is equivalent indeed.
class Told final : public linalg::Preconditioner {
 public:
  Told(const linalg::BlockMatrix& matrix, bool equivalent, bool near, bool levels = false)
      : equivalent_(equivalent), near_(near), levels_(levels) {
    jacobi_.update(matrix);
  }
  bool update(const linalg::BlockMatrix& matrix) override { return jacobi_.update(matrix); }
  void apply(linalg::ConstVector r, linalg::Vector z) override { jacobi_.apply(r, z); }
  bool is_global() const override { return true; }
  bool is_equivalent() const override { return equivalent_; }
  bool has_levels() const override { return levels_; }
  bool is_near_inverse() const override { return near_; }

 private:
  linalg::BlockJacobi jacobi_;
  bool equivalent_, near_, levels_;
};

class Estimates : public testing::TestWithParam<std::pair<bool, bool>> {
 protected:
  const linalg::BlockMatrix matrix = linalg::random_matrix(8, 3, 0.16);
  const std::vector<double> gradient = linalg::random_vector(matrix.size(), 7);
  Told preconditioner{matrix, GetParam().first, GetParam().second};
  linalg::ConjugateGradient cg;

  std::vector<double> exact() {
    std::vector<double> e(matrix.size());
    linalg::BlockJacobi jacobi;
    jacobi.update(matrix);
    cg.solve(linalg::local_space(), [&](linalg::ConstVector x, linalg::Vector y) { matrix.multiply(x, y); }, jacobi, gradient, e,
             {.relative_tolerance = 1e-12, .monitor = {}});
    return e;
  }
  struct Answer {
    DisplacementEstimate estimate;
    double error;  // the largest, relative to the largest displacement
  };
  Answer answer(const Strain& strain = {}) {
    std::vector<double> e(matrix.size()), right = exact();
    const auto estimate = estimate_displacement(linalg::local_space(), matrix, preconditioner, cg, gradient, e, 1000, strain);
    const double size = linalg::max_block_norm(right, 3);
    linalg::combine(-1, e, 1, right);
    return {estimate, linalg::max_block_norm(right, 3) / size};
  }
};
INSTANTIATE_TEST_SUITE_P(Preconditioners, Estimates,
                         testing::Values(std::pair(false, false), std::pair(true, false), std::pair(true, true)));

TEST_P(Estimates, AreGoodToAboutATenth) {
  const Answer found = answer();
  EXPECT_TRUE(found.estimate.trustworthy);
  EXPECT_LT(found.error, 0.15);
}

TEST_P(Estimates, AreAsGoodAsTheTestNeeds) {
  const Answer careful = answer(), easy = answer([](linalg::ConstVector) { return 1e-3; }),
               strained = answer([](linalg::ConstVector) { return 5.0; });
  EXPECT_LE(easy.estimate.iterations, careful.estimate.iterations);
  EXPECT_LT(easy.error, 0.25);
  EXPECT_GE(strained.estimate.iterations, careful.estimate.iterations);
  EXPECT_LE(strained.error, careful.error);
  EXPECT_TRUE(easy.estimate.trustworthy && strained.estimate.trustworthy);
}

TEST(Estimate, NeedNotSettleWhatTheTestGivesNoWeight) {
  const linalg::BlockMatrix matrix = linalg::random_matrix(8, 3, 0.16);
  const auto gradient = linalg::random_vector(matrix.size(), 7);
  linalg::ConjugateGradient cg;
  Told global(matrix, false, false, true);
  std::vector<double> exact(matrix.size()), e(matrix.size());
  cg.solve(linalg::local_space(), [&](linalg::ConstVector x, linalg::Vector y) { matrix.multiply(x, y); }, global, gradient, exact,
           {.relative_tolerance = 1e-12, .monitor = {}});
  // Ten times as large as allowed, by its first `counted` numbers.
  const auto strain = [&](std::size_t counted) {
    return [&exact, counted](linalg::ConstVector x) {
      return 10 * linalg::max_block_norm(x.first(counted), 3) / linalg::max_block_norm(linalg::ConstVector(exact).first(counted), 3);
    };
  };
  const auto estimate = [&](std::size_t counted) {
    return estimate_displacement(linalg::local_space(), matrix, global, cg, gradient, e, 1000, strain(counted));
  };
  const int all = estimate(matrix.size()).iterations, some = estimate(3).iterations;
  EXPECT_LE(some, all);
  linalg::combine(-1, exact, 1, e);
  EXPECT_LT(strain(3)(e), 1);
}

TEST_P(Estimates, SeeNegativeCurvature) {
  const linalg::BlockMatrix saddle = linalg::random_matrix(8, 3, 0);
  std::vector<double> e(saddle.size());
  const auto estimate = estimate_displacement(linalg::local_space(), saddle, preconditioner, cg, gradient, e, 1000);
  EXPECT_TRUE(estimate.saddle);
  EXPECT_FALSE(estimate.trustworthy);
}

TEST(Estimate, ByABoundTakesFewerIterationsThanUntilNothingChanges) {
  const linalg::BlockMatrix matrix = linalg::random_matrix(8, 3, 0.16);
  const auto gradient = linalg::random_vector(matrix.size(), 7);
  std::vector<double> e(matrix.size());
  linalg::ConjugateGradient cg;
  Told settled(matrix, false, false), bounded(matrix, true, false);
  const int until_settled = estimate_displacement(linalg::local_space(), matrix, settled, cg, gradient, e, 1000).iterations;
  EXPECT_LE(estimate_displacement(linalg::local_space(), matrix, bounded, cg, gradient, e, 1000).iterations, until_settled);
}

}  // namespace
}  // namespace lope::optimize
