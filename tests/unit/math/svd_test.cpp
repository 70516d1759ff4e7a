#include <lope/math/svd.h>
#include <lope/math/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "unit/math/widths.h"
#include <Eigen/LU>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <support/dense.h>

namespace lope::math {
namespace {

template <int d>
Mat<d> random_matrix() {
  Mat<d> F;
  for (int i = 0; i < d * d; ++i) F(i) = *rc::gen::inRange(-1000000, 1000000) * 1e-6;
  return F;
}

template <int d>
Mat<d> random_rotation() {
  Mat<d> R = reference::nearest_orthogonal(random_matrix<d>() + 2 * Mat<d>::Identity());
  if (R.determinant() < 0) R.col(0) *= -1;
  return R;
}

// Matrices of every family that breaks careless code.
template <int d>
Mat<d> interesting_matrix() {
  const auto with_stretches = [](const Vec<d>& s) {
    return Mat<d>(random_rotation<d>() * s.asDiagonal() * random_rotation<d>());
  };
  const auto any = [] { return *rc::gen::inRange(-2000, 2000) * 1e-3; };
  Vec<d> s;
  for (int i = 0; i < d; ++i) s[i] = any();
  switch (*rc::gen::inRange(0, 14)) {
    case 0:
      return with_stretches(s);
    case 1:
      return with_stretches(Vec<d>::Constant(any()));  // equal
    case 2:
      return with_stretches(Vec<d>::Constant(1)) * (1 + 1e-9 * any());  // a rotation, nearly
    case 3:
      s[1] = s[0] * (1 + 1e-12 * any());
      return with_stretches(s);  // two equal, nearly
    case 4:
      s[1] = -s[0];
      return with_stretches(s);  // the pole of twist
    case 5:
      s[d - 1] = 0;
      return with_stretches(s);  // rank d−1
    case 6:
      s.setZero();
      s[0] = any();
      return with_stretches(s);  // rank 1
    case 7:
      return Mat<d>::Zero();
    case 8:
      return Mat<d>::Identity();
    case 9:
      return random_matrix<d>() * 1e150;
    case 10:
      return random_matrix<d>() * 1e-150;
    case 11:
      for (int i = 0; i < d; ++i) s[i] *= std::pow(10.0, -8 * i);
      return with_stretches(s);  // ill-conditioned
    case 12: {                   // small integers: exact ties and zeros
      Mat<d> F;
      for (int i = 0; i < d * d; ++i) F(i) = *rc::gen::inRange(-1, 2);
      return F;
    }
    default: {  // entries of wildly different size
      Mat<d> F = random_matrix<d>();
      for (int i = 0; i < d * d; ++i) F(i) *= std::pow(10.0, *rc::gen::inRange(-200, 10));
      return F;
    }
  }
}

template <class T, int d>
void set_matrix(Square<T, d>& F, int l, const Mat<d>& values) {
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) set_lane(F(i, j), l, values(i, j));
  }
}
template <class T, int d>
Mat<d> matrix(const Square<T, d>& F, int l) {
  Mat<d> values;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) values(i, j) = lane(F(i, j), l);
  }
  return values;
}

// Out of line, so that each type is compiled once.
template <class T, int d>
[[gnu::noinline]] void decompose(const Square<T, d>& F, SignedSvd<T, d>& svd) {
  signed_svd(F, svd);
}

template <class T, int d>
void check_decomposition() {
  std::vector<Mat<d>> given;
  Square<T, d> F{};
  for (int l = 0; l < width<T>; ++l) {
    given.push_back(interesting_matrix<d>());
    set_matrix(F, l, given.back());
  }
  SignedSvd<T, d> svd;
  decompose(F, svd);
  for (int l = 0; l < width<T>; ++l) {
    const Mat<d> U = matrix(svd.U, l), V = matrix(svd.V, l);
    Vec<d> sigma;
    for (int i = 0; i < d; ++i) sigma[i] = lane(svd.sigma[i], l);
    const double norm = given[l].cwiseAbs().maxCoeff();
    const Mat<d> left = (U * (sigma / std::max(norm, 1e-300)).asDiagonal()) * V.transpose();
    const Mat<d> scaled = given[l] / std::max(norm, 1e-300);
    RC_ASSERT((left - scaled).norm() <= 1e-14 * scaled.norm());
    RC_ASSERT((U.transpose() * U - Mat<d>::Identity()).norm() <= 4e-15);
    RC_ASSERT((V.transpose() * V - Mat<d>::Identity()).norm() <= 4e-15);
    RC_ASSERT(U.determinant() > 0.5);
    RC_ASSERT(V.determinant() > 0.5);
    for (int i = 0; i + 1 < d; ++i) {
      RC_ASSERT(sigma[i] >= std::fabs(sigma[i + 1]));
    }
    // The result of a lane does not depend on its neighbours.
    Square<T, d> alone;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) alone(i, j) = T(given[l](i, j));
    }
    SignedSvd<T, d> again;
    decompose(alone, again);
    RC_ASSERT(matrix(again.U, 0) == U);
    RC_ASSERT(matrix(again.V, 0) == V);
  }
}

template <class T>
class SvdTest : public ::testing::Test {};
TYPED_TEST_SUITE(SvdTest, ScalarTypes);

TYPED_TEST(SvdTest, DecomposesEveryKindOf3x3) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) check_decomposition<TypeParam, 3>();
  }));
}
TYPED_TEST(SvdTest, DecomposesEveryKindOf2x2) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) check_decomposition<TypeParam, 2>();
  }));
}

template <int d>
SignedSvd<double, d> decompose(const Mat<d>& values) {
  Square<double, d> F;
  set_matrix(F, 0, values);
  SignedSvd<double, d> svd;
  decompose(F, svd);
  return svd;
}

RC_GTEST_PROP(Svd, AgreesWithEigenInThreeDimensions, ()) {
  const Mat3 F = random_matrix<3>();
  const Vec3 expected = reference::singular_values(F);
  const SignedSvd<double, 3> svd = decompose<3>(F);
  for (int i = 0; i < 3; ++i) RC_ASSERT(std::fabs(std::fabs(svd.sigma[i]) - expected[i]) < 1e-14);
  if (std::fabs(F.determinant()) > 1e-10) RC_ASSERT((svd.sigma[2] < 0) == (F.determinant() < 0));
}

TEST(Svd, SmallSingularValuesKeepTheirRelativeAccuracy) {
  // Orthogonal columns of lengths 1, 1e-8, 1e-100, in a rotated frame that rounds nothing.
  Mat3 F;
  F << 3, -4e-8, 0, 4, 3e-8, 0, 0, 0, 1e-100;
  const SignedSvd<double, 3> svd = decompose<3>(F);
  EXPECT_NEAR(svd.sigma[0] / 5, 1, 1e-15);
  EXPECT_NEAR(svd.sigma[1] / 5e-8, 1, 1e-15);
  EXPECT_NEAR(svd.sigma[2] / 1e-100, 1, 1e-15);
}

TEST(Svd, ReflectionsPutTheSignOnTheSmallest) {
  for (int axis = 0; axis < 3; ++axis) {
    Mat3 F = Mat3::Identity() * 2;
    F(axis, axis) = -2;
    const SignedSvd<double, 3> svd = decompose<3>(F);
    EXPECT_DOUBLE_EQ(svd.sigma[0], 2);
    EXPECT_DOUBLE_EQ(svd.sigma[1], 2);
    EXPECT_DOUBLE_EQ(svd.sigma[2], -2);
  }
}

TEST(Svd, NotANumberIsNotHidden) {
  for (int i = 0; i < 9; ++i) {
    Mat3 F = Mat3::Identity();
    F(i) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(decompose<3>(F).sigma[2])) << "entry " << i;
  }
}

}  // namespace
}  // namespace lope::math
