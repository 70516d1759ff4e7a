#include <lope/matter/solid/first_root.h>

#include <cmath>
#include <limits>

#include <Eigen/LU>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// scale·(r₀ − α)(r₁ − α)(r₂ − α).
Cubic with_roots(double r0, double r1, double r2, double scale) {
  return {scale * r0 * r1 * r2, -scale * (r0 * r1 + r1 * r2 + r0 * r2), scale * (r0 + r1 + r2), -scale};
}

TEST(FirstRoot, FindsTheNearestOfThree) {
  EXPECT_NEAR(first_root(with_roots(2, 3, 5, 1)), 2, 1e-12);
  EXPECT_NEAR(first_root(with_roots(7, 0.25, 3, 100)), 0.25, 1e-12);
  EXPECT_NEAR(first_root(with_roots(1e-9, 1, 1e9, 1)), 1e-9, 1e-15);
}

TEST(FirstRoot, SeesADoubleRoot) {
  // Touches zero at 2: the answer may lie anywhere near it or, if rounding lifts it, at the next root.
  const double root = first_root(with_roots(2, 2, 5, 1));
  EXPECT_TRUE(std::abs(root - 2) < 1e-7 || std::abs(root - 5) < 1e-7) << root;
}

TEST(FirstRoot, LowerDegreesAndNoRoots) {
  EXPECT_NEAR(first_root({1, -4, 0, 0}), 0.25, 1e-15);
  EXPECT_NEAR(first_root({2, -3, 1, 0}), 1, 1e-14);
  EXPECT_EQ(first_root({1, 0, 0, 0}), infinity);
  EXPECT_EQ(first_root({1, 3, 2, 0.5}), infinity);
  EXPECT_EQ(first_root({1, -1, 1, 0}), infinity);
  EXPECT_NEAR(first_root({1, 0, 0, -8}), 0.5, 1e-14);
  EXPECT_NEAR(first_root({1, 1e-3, 1, -1e-12}), 1e12, 1e3);
}

TEST(FirstRoot, IsFoundFarInsideTheFirstTurningPoint) {
  EXPECT_NEAR(first_root({1, -1, 0, 1e-40}), 1, 1e-14);
  EXPECT_NEAR(first_root({1, -1e-3, 0, 1e-90}), 1e3, 1e-10);
}

TEST(FirstRoot, OutsideTheDomainThereIsNoStep) {
  EXPECT_EQ(first_root({0, 1, 0, 0}), 0);
  EXPECT_EQ(first_root({-1, 1, 0, 0}), 0);
  EXPECT_EQ(first_root({1, std::numeric_limits<double>::quiet_NaN(), 0, 0}), 0);
  EXPECT_EQ(first_root({1, -infinity, 0, 0}), 0);
}

template <int d>
void check_determinant() {
  Mat<d> F, G;
  for (int i = 0; i < d * d; ++i) {
    F(i) = *rc::gen::inRange(-1000, 1000) * 1e-3;
    G(i) = *rc::gen::inRange(-1000, 1000) * 1e-3;
  }
  if (F.determinant() < 0) F.col(0) *= -1;
  const Cubic p = determinant_along<d>(F, G);
  const double alpha = *rc::gen::inRange(-3000, 3000) * 1e-3;
  const double value = ((p[3] * alpha + p[2]) * alpha + p[1]) * alpha + p[0];
  RC_ASSERT(std::abs(value - Mat<d>(F + alpha * G).determinant()) < 1e-12);
  // Positive all the way to the root.
  RC_PRE(F.determinant() > 1e-6);
  const double root = first_root(p);
  const double last = std::min(root, 100.0);
  for (int i = 0; i < 200; ++i) {
    RC_ASSERT(Mat<d>(F + last * i / 200 * G).determinant() > -1e-12);
  }
  if (std::isfinite(root))
    RC_ASSERT(std::abs(Mat<d>(F + root * G).determinant()) < 1e-9 * (1 + root * root * root));
}

RC_GTEST_PROP(FirstRoot, DeterminantStaysPositiveBeforeIt3D, ()) { check_determinant<3>(); }
RC_GTEST_PROP(FirstRoot, DeterminantStaysPositiveBeforeIt2D, ()) { check_determinant<2>(); }

}  // namespace
}  // namespace lope::matter
