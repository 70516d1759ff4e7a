// The barrier of two primitives: derivatives against differences at every feature, the positive part against a full
// decomposition.
#include <lope/base/random.h>
#include <lope/matter/contact/barrier_energy.h>

#include <cmath>
#include <set>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

using geometry::closest_pair;
using geometry::ClosestPair;
using geometry::PairHessian;
using geometry::PairKind;
using geometry::PairNodes;

Vec3 random_vector(std::uint64_t seed, std::uint64_t index) {
  Vec3 v;
  for (int a = 0; a < 3; ++a) v[a] = 2 * random_unit(seed + static_cast<std::uint64_t>(a), index) - 1;
  return v;
}

PairNodes random_pair(std::uint64_t index) {
  PairNodes x;
  for (int i = 0; i < 4; ++i) x[i] = random_vector(static_cast<std::uint64_t>(10 * i + 3), index);
  return x;
}

TEST(BarrierEnergy, IsSmoothAtItsReachAndInfiniteAtContact) {
  for (const double reach : {1e-6, 1e-3, 1.0}) {
    EXPECT_EQ(barrier(reach, reach).value, 0);
    EXPECT_TRUE(std::isinf(barrier(0, reach).value));
    EXPECT_TRUE(std::isinf(barrier(-0.1 * reach, reach).value));
    const BarrierOfGap edge = barrier((1 - 1e-9) * reach, reach);
    EXPECT_LT(edge.value, 1e-20 * reach);
    EXPECT_NEAR(edge.first, 0, 1e-15);
    EXPECT_LT(edge.second * reach, 1e-7);
    for (const double part : {1e-8, 1e-3, 0.1, 0.5, 0.9, 0.999}) {
      const double g = part * reach, step = 1e-6 * g;
      const BarrierOfGap at = barrier(g, reach), above = barrier(g + step, reach), below = barrier(g - step, reach);
      EXPECT_NEAR((above.value - below.value) / (2 * step), at.first, 1e-6 * std::abs(at.first) + 1e-9);
      EXPECT_NEAR((above.first - below.first) / (2 * step), at.second, 1e-6 * at.second);
      EXPECT_LT(at.first, 0);
      EXPECT_GT(at.second, 0);
    }
  }
}

struct Case {
  PairKind kind;
  double size;      // of the primitives
  double offset;    // part of the distance
  double part;      // gap over reach
  double limit;     // of the mollifier, relative
};

void check(const Case& test, PairNodes x, std::set<int>& features) {
  for (Vec3& p : x) p *= test.size;
  const ClosestPair at = closest_pair(test.kind, x);
  const double d = std::sqrt(at.squared_distance);
  BarrierPairParameters pair;
  pair.weight = 3;
  pair.offset = test.offset * d;
  pair.reach = (d - pair.offset) / test.part;
  if (test.kind == PairKind::EdgeEdge)
    pair.parallel_limit = test.limit * (x[1] - x[0]).squaredNorm() * (x[3] - x[2]).squaredNorm();
  const Vec<12> g = barrier_gradient(at, x, pair);
  const PairHessian h = barrier_hessian(at, x, pair);
  const double step = 1e-6 * std::min(test.size, d);
  Vec3 force = Vec3::Zero();
  for (int i = 0; i < 4; ++i) force += g.segment<3>(3 * i);
  EXPECT_LT(force.norm(), 1e-12 * g.norm()) << "forces of a pair cancel";
  for (int column = 0; column < 12; ++column) {
    PairNodes up = x, down = x;
    up[column / 3][column % 3] += step;
    down[column / 3][column % 3] -= step;
    const ClosestPair above = closest_pair(test.kind, up), below = closest_pair(test.kind, down);
    const double slope = (barrier_value(above, up, pair) - barrier_value(below, down, pair)) / (2 * step);
    EXPECT_NEAR(slope, g[column], 1e-4 * g.norm());
    if (above.tangents != at.tangents || below.tangents != at.tangents) continue;
    const Vec<12> change = (barrier_gradient(above, up, pair) - barrier_gradient(below, down, pair)) / (2 * step);
    EXPECT_LT((change - h.col(column)).norm(), 1e-4 * h.norm()) << "feature " << at.tangents;
    features.insert(at.tangents);
  }
  const PairHessian projected = projected_barrier_hessian(at, x, pair);
  const Eigen::SelfAdjointEigenSolver<PairHessian> eigen(h);
  const PairHessian expected =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
  EXPECT_LT((projected - expected).norm(), 1e-9 * h.norm());
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<PairHessian>(projected).eigenvalues()[0], -1e-10 * h.norm());
}

TEST(BarrierEnergy, DerivativesAgreeWithDifferences) {
  for (const PairKind kind : {PairKind::PointTriangle, PairKind::EdgeEdge, PairKind::PointEdge}) {
    std::set<int> features;
    for (const double size : {1e-3, 1.0, 10.0}) {
      for (const double part : {0.01, 0.5, 0.9}) {
        for (std::uint64_t k = 0; k < 25; ++k) check({kind, size, 0.2, part, 1e-3}, random_pair(k), features);
      }
    }
    EXPECT_EQ(features.size(), kind == PairKind::PointEdge ? 2u : 3u);
  }
}

TEST(BarrierEnergy, DerivativesOfNearlyParallelEdgesAgreeWithDifferences) {
  std::set<int> features;
  for (std::uint64_t k = 0; k < 50; ++k) {
    PairNodes x = random_pair(k);
    x[3] = x[2] + (x[1] - x[0]) + 0.02 * random_vector(99, k);
    check({PairKind::EdgeEdge, 1, 0, 0.3, 0.5}, x, features);
  }
  EXPECT_GE(features.size(), 2u);
}

// In the plane z = 0 nothing leaves it, and what is left of the positive part is that of the plane.
TEST(BarrierEnergy, InThePlaneTheThirdDirectionIsApart) {
  for (std::uint64_t k = 0; k < 30; ++k) {
    PairNodes x = random_pair(k);
    for (Vec3& p : x) p[2] = 0;
    const ClosestPair at = closest_pair(PairKind::PointEdge, x);
    const BarrierPairParameters pair{2, 2 * std::sqrt(at.squared_distance), 0, 0};
    const PairHessian raw = barrier_hessian(at, x, pair), positive = projected_barrier_hessian(at, x, pair);
    Eigen::Matrix<double, 8, 8> flat, projected;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        flat(i, j) = raw(3 * (i / 2) + i % 2, 3 * (j / 2) + j % 2);
        projected(i, j) = positive(3 * (i / 2) + i % 2, 3 * (j / 2) + j % 2);
      }
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 8, 8>> eigen(flat);
    const Eigen::Matrix<double, 8, 8> expected =
        eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
    EXPECT_LT((projected - expected).norm(), 1e-9 * flat.norm());
  }
}

}  // namespace
}  // namespace lope::matter
