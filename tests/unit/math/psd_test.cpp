#include <lope/math/psd.h>
#include <lope/math/types.h>

#include <cmath>
#include <vector>

#include "unit/math/widths.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <support/dense.h>

namespace lope::math {
namespace {

// Symmetric, of any signature, size and degeneracy.
template <int d>
Mat<d> interesting_symmetric() {
  Mat<d> A;
  const bool integers = *rc::gen::inRange(0, 3) == 0;
  const double scale = std::pow(10.0, *rc::gen::element(-100, 0, 6, 100));
  for (int i = 0; i < d; ++i) {
    for (int j = i; j < d; ++j) {
      A(i, j) = A(j, i) = integers ? *rc::gen::inRange(-1, 2) : *rc::gen::inRange(-1000000, 1000000) * 1e-6;
    }
  }
  const double shift = *rc::gen::element(0.0, 0.0, 3.0, -3.0);
  return (A + shift * Mat<d>::Identity()) * scale;
}

template <class T, int d>
void check_projection() {
  std::vector<Mat<d>> given;
  Square<T, d> A{};
  for (int l = 0; l < width<T>; ++l) {
    given.push_back(interesting_symmetric<d>());
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) set_lane(A(i, j), l, given[l](i, j));
    }
  }
  project_psd(A);
  for (int l = 0; l < width<T>; ++l) {
    Mat<d> projected;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) projected(i, j) = lane(A(i, j), l);
    }
    const Mat<d> expected = reference::nearest_semidefinite(given[l]);
    RC_ASSERT((projected - expected).norm() <= 2e-14 * given[l].norm());
    RC_ASSERT(projected == projected.transpose());
    if (reference::eigenvalues(given[l])[0] > 1e-3 * given[l].norm()) RC_ASSERT(projected == given[l]);
  }
}

template <class T>
class PsdTest : public ::testing::Test {};
TYPED_TEST_SUITE(PsdTest, ScalarTypes);

TYPED_TEST(PsdTest, ClampsEigenvaluesOf3x3) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) check_projection<TypeParam, 3>();
  }));
}
TYPED_TEST(PsdTest, ClampsEigenvaluesOf2x2) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) check_projection<TypeParam, 2>();
  }));
}

TEST(Psd, ANearlySingularMatrixIsNotBelievedToBeDefinite) {
  // Eigenvalues 1, 1e-8, −1e-9 in a rotated frame: the determinant drowns in rounding.
  const Mat3 R = reference::orthogonal_factor((Mat3() << 1, 2, 3, -2, 1, 5, 0.3, 2, -1).finished());
  const Mat3 given = R * Vec3(1, 1e-8, -1e-9).asDiagonal() * R.transpose();
  Square<double, 3> A;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) A(i, j) = 0.5 * (given(i, j) + given(j, i));
  }
  project_psd(A);
  const Mat3 projected = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&A.entry[0][0]);
  EXPECT_GT(reference::eigenvalues(projected)[0], -1e-15);
}

}  // namespace
}  // namespace lope::math
