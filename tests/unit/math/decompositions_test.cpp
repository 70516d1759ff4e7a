#include <lope/math/decompositions.h>

#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace lope::math {
namespace {

template <int n>
Mat<n> symmetric(double diagonal) {
  Mat<n> a;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a(i, j) = std::cos(1.0 + i + j) + std::sin(0.7 * (i + 1) * (j + 1));
  }
  return a + diagonal * Mat<n>::Identity();
}

template <class Size>
class Decompositions : public testing::Test {};
template <int n>
using Size = std::integral_constant<int, n>;
using Sizes = testing::Types<Size<1>, Size<2>, Size<3>, Size<5>, Size<12>>;
TYPED_TEST_SUITE(Decompositions, Sizes);

TYPED_TEST(Decompositions, EigenvectorsAreOrthonormalAndMakeTheMatrix) {
  constexpr int n = TypeParam::value;
  const Mat<n> a = symmetric<n>(0);
  const SymmetricEigen<n> eigen = symmetric_eigen<n>(a);
  EXPECT_LT((eigen.vectors.transpose() * eigen.vectors - Mat<n>::Identity()).norm(), 1e-13);
  EXPECT_LT((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - a).norm(), 1e-13 * (1 + a.norm()));
  for (int k = 1; k < n; ++k) EXPECT_LE(eigen.values[k - 1], eigen.values[k]);
}

template <int n>
void expect_inverse() {
  const Mat<n> a = symmetric<n>(10);
  Mat<n> inverse;
  double pivot = 0;
  ASSERT_TRUE(invert_definite<n>(a, inverse, pivot));
  EXPECT_LT((a * inverse - Mat<n>::Identity()).norm(), 1e-14);
  EXPECT_GT(pivot, 0);
  EXPECT_FALSE(invert_definite<n>(-a, inverse, pivot));
}

TEST(InvertDefinite, InvertsWhatIsAndRefusesWhatIsNot) {
  expect_inverse<1>();
  expect_inverse<2>();
  expect_inverse<3>();
}

// Of nodes on a line: no torque turns them about it.
TEST(SolveSemidefinite, IsShortestWhereTheMatrixIsSingular) {
  const Vec3 line = Vec3(1, 2, -2) / 3;
  const Mat3 inertia = 4 * (Mat3::Identity() - line * line.transpose());
  const Vec3 b(1, 1, 0);
  const Vec3 x = solve_semidefinite(inertia, b);
  EXPECT_NEAR(x.dot(line), 0, 1e-15);
  EXPECT_LT((4 * x - (b - line * line.dot(b))).norm(), 1e-14);
  EXPECT_EQ(solve_semidefinite(Mat3::Zero(), b), Vec3(Vec3::Zero()));
}

TEST(LeastNormSolution, OfAnyShapeFitsBest) {
  Eigen::MatrixXd wide(2, 3);
  wide << 1, 0, 1, 0, 2, 0;
  EXPECT_LT((least_norm_solution(wide, Eigen::Vector2d(2, 4)) - Vec3(1, 2, 1)).norm(), 1e-14);
  Eigen::MatrixXd tall(3, 1);
  tall << 1, 1, 1;
  EXPECT_NEAR(least_norm_solution(tall, Vec3(1, 2, 6))[0], 3, 1e-14);
  Eigen::MatrixXd twice(3, 2);
  twice << 0, 0, 1, 1, 0, 0;  // two equal normals share the force
  EXPECT_LT((least_norm_solution(twice, Vec3(0, 3, 0)) - Eigen::Vector2d(1.5, 1.5)).norm(), 1e-14);
}

}  // namespace
}  // namespace lope::math
