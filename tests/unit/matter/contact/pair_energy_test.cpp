#include <lope/base/random.h>
#include <lope/geometry/closest_point.h>
#include <lope/matter/contact/pair_energy.h>

#include <cmath>

#include <gtest/gtest.h>
#include <support/dense.h>

namespace lope::matter {
namespace {

template <int dimension, int nodes>
struct Case {
  static constexpr int d = dimension, n = nodes;
};

template <class T>
class PairEnergy : public testing::Test {};
using Cases = testing::Types<Case<2, 1>, Case<2, 2>, Case<3, 1>, Case<3, 2>, Case<3, 3>>;
TYPED_TEST_SUITE(PairEnergy, Cases);

constexpr double stiffness = 3;

template <int d, int n>
std::array<Vec<d>, n + 1> some_points(std::uint64_t seed, double depth_scale) {
  std::array<Vec<d>, n + 1> x;
  for (int i = 0; i <= n; ++i) {
    for (int a = 0; a < d; ++a) x[i][a] = 2 * random_unit(seed, i * d + a) - 1;
  }
  // Towards the primitive's middle, so that small depths occur.
  Vec<d> middle = Vec<d>::Zero();
  for (int i = 1; i <= n; ++i) middle += x[i] / n;
  x[0] = middle + depth_scale * (x[0] - middle);
  return x;
}

template <int d, int n>
double energy(const std::array<Vec<d>, n + 1>& x, double epsilon) {
  return pair_energy(stiffness, epsilon, pair_place<d, n>(x).r.squaredNorm()).value;
}

TYPED_TEST(PairEnergy, DerivativesAgreeWithFiniteDifferences) {
  constexpr int d = TypeParam::d, n = TypeParam::n, size = d * (n + 1);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const double scale = seed % 3 == 0 ? 1e-2 : 1, epsilon = seed % 2 == 0 ? 1e-15 : 0.1;
    const auto x = some_points<d, n>(seed, scale);
    const auto at = pair_place<d, n>(x);
    const Vec<size> g = pair_gradient<d, n>(at, stiffness, epsilon);
    const Mat<size> h = pair_hessian<d, n>(at, stiffness, epsilon);
    EXPECT_LE((h - h.transpose()).norm(), 1e-12 * h.norm());
    const double step = 1e-5 * scale;
    Vec<size> g_differences;
    Mat<size> h_differences;
    for (int k = 0; k < size; ++k) {
      auto plus = x, minus = x;
      plus[k / d][k % d] += step;
      minus[k / d][k % d] -= step;
      g_differences[k] = (energy<d, n>(plus, epsilon) - energy<d, n>(minus, epsilon)) / (2 * step);
      h_differences.col(k) = (pair_gradient<d, n>(pair_place<d, n>(plus), stiffness, epsilon) -
                              pair_gradient<d, n>(pair_place<d, n>(minus), stiffness, epsilon)) /
                             (2 * step);
    }
    EXPECT_LE((g - g_differences).norm(), 1e-6 * g.norm()) << seed;
    EXPECT_LE((h - h_differences).norm(), 1e-6 * h.norm()) << seed;
    // Nothing happens when all move together: forces add to zero.
    Vec<d> sum = Vec<d>::Zero();
    for (int i = 0; i <= n; ++i) sum += g.template segment<d>(d * i);
    EXPECT_LE(sum.norm(), 1e-13 * (1 + g.norm()));
  }
}

TYPED_TEST(PairEnergy, ProjectionIsTheNearestSemidefiniteMatrix) {
  constexpr int d = TypeParam::d, n = TypeParam::n, size = d * (n + 1);
  bool had_negative = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto at = pair_place<d, n>(some_points<d, n>(seed, seed % 4 == 0 ? 0.1 : 1));
    const Mat<size> raw = pair_hessian<d, n>(at, stiffness, 1e-15);
    const Mat<size> projected = projected_pair_hessian<d, n>(at, stiffness, 1e-15);
    had_negative = had_negative || reference::eigenvalues(raw)[0] < -1e-6 * raw.norm();
    EXPECT_LE((projected - reference::nearest_semidefinite(raw)).norm(), 1e-10 * raw.norm()) << seed;
    EXPECT_GE(reference::eigenvalues(projected)[0], -1e-10 * raw.norm());
  }
  EXPECT_EQ(had_negative, n > 1);
}

TEST(PairEnergy, IsAboutCubicInTheDepthAndSmoothAtTheSurface) {
  EXPECT_NEAR(pair_energy(2, 1e-15, 1e-4).value, 2 * 1e-6, 1e-16);
  const auto zero = pair_energy(2, 1e-15, 0);
  EXPECT_EQ(zero.value, 0);
  EXPECT_NEAR(zero.first, 2 * std::sqrt(1e-15), 1e-12);
  EXPECT_TRUE(std::isfinite(zero.second));
  EXPECT_EQ(pair_energy(2, 0, 0).second, 0);
  const std::array<Vec3, 4> touching = {Vec3(0.2, 0.3, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  const auto at = pair_place<3, 3>(touching);
  EXPECT_TRUE((projected_pair_hessian<3, 3>(at, 1.0, 1e-15).allFinite()));
}

TEST(ClosestPoint, IsTheNearestOfTheTriangle) {
  int faces = 0, edges = 0, vertices = 0;
  for (std::uint64_t k = 0; k < 500; ++k) {
    std::array<Vec3, 4> x;
    for (int i = 0; i < 4; ++i) {
      for (int a = 0; a < 3; ++a) x[i][a] = 2 * random_unit(k, 3 * i + a) - 1;
    }
    const geometry::ClosestFeature found = geometry::closest_on_triangle(x[0], x[1], x[2], x[3]);
    Vec3 q = Vec3::Zero();
    double sum = 0;
    for (int i = 0; i < found.count; ++i) {
      EXPECT_GT(found.weight[i], 0);
      q += found.weight[i] * x[found.vertex[i] + 1];
      sum += found.weight[i];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_NEAR((q - x[0]).squaredNorm(), found.squared_distance, 1e-12);
    (found.count == 3 ? faces : found.count == 2 ? edges : vertices)++;
    for (int i = 0; i <= 20; ++i) {
      for (int j = 0; i + j <= 20; ++j) {
        const Vec3 y = (i * x[1] + j * x[2] + (20 - i - j) * x[3]) / 20;
        EXPECT_GE((y - x[0]).squaredNorm(), found.squared_distance - 1e-14);
      }
    }
  }
  EXPECT_GT(faces, 20);
  EXPECT_GT(edges, 20);
  EXPECT_GT(vertices, 20);
  // What remains of a degenerate triangle.
  const Vec3 a(0, 0, 0), b(1, 0, 0);
  EXPECT_NEAR(geometry::closest_on_triangle(Vec3(0.5, 1, 0), a, b, b).squared_distance, 1, 1e-15);
  EXPECT_NEAR(geometry::closest_on_triangle(Vec3(0.5, 1, 0), a, a, a).squared_distance, 1.25, 1e-15);
}

}  // namespace
}  // namespace lope::matter
