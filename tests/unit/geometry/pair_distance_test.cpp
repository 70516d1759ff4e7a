// Distances of primitives: every closest feature against a search over the primitives and against differences.
#include <lope/base/random.h>
#include <lope/geometry/free_path.h>
#include <lope/geometry/pair_distance.h>

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

Vec3 random_vector(std::uint64_t seed, std::uint64_t index, double size = 1) {
  Vec3 v;
  for (int a = 0; a < 3; ++a) v[a] = size * (2 * random_unit(seed + static_cast<std::uint64_t>(a), index) - 1);
  return v;
}

PairNodes random_pair(std::uint64_t index) {
  PairNodes x;
  for (int i = 0; i < 4; ++i) x[i] = random_vector(static_cast<std::uint64_t>(10 * i + 3), index);
  return x;
}

constexpr PairKind kinds[] = {PairKind::PointTriangle, PairKind::EdgeEdge, PairKind::PointEdge};

// The smallest distance over a fine grid of both primitives, never below the true one.
double searched(PairKind kind, const PairNodes& x) {
  constexpr int n = 60;
  double best = 1e300;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) {
      const double s = double(i) / n, t = double(j) / n;
      Vec3 r;
      if (kind == PairKind::PointTriangle) {
        if (i + j > n) continue;
        r = x[0] - (1 - s - t) * x[1] - s * x[2] - t * x[3];
      } else if (kind == PairKind::EdgeEdge) {
        r = (1 - s) * x[0] + s * x[1] - (1 - t) * x[2] - t * x[3];
      } else {
        r = x[0] - (1 - s) * x[1] - s * x[2];
      }
      best = std::min(best, r.norm());
    }
  }
  return best;
}

TEST(PairDistance, IsTheSmallestOfAll) {
  for (const PairKind kind : kinds) {
    std::set<int> features;
    for (std::uint64_t k = 0; k < 300; ++k) {
      const PairNodes x = random_pair(k);
      const ClosestPair at = closest_pair(kind, x);
      const double d = std::sqrt(at.squared_distance), found = searched(kind, x);
      EXPECT_LE(d, found + 1e-12);
      EXPECT_GE(d, found - 0.05);
      Vec3 r = Vec3::Zero();
      double sum = 0;
      for (int i = 0; i < 4; ++i) {
        r += at.c[i] * x[i];
        sum += at.c[i];
      }
      EXPECT_LT((r - at.r).norm(), 1e-12);
      EXPECT_NEAR(sum, 0, 1e-14);
      for (int j = 0; j < at.tangents; ++j) {
        const Vec3 e = x[at.tangent[j][1]] - x[at.tangent[j][0]];
        EXPECT_NEAR(e.dot(at.r), 0, 1e-12);
      }
      features.insert(at.tangents);
    }
    EXPECT_EQ(features.size(), kind == PairKind::PointEdge ? 2u : 3u) << "some feature was never met";
  }
}

// Far from the origin, and for primitives from a micrometre to ten metres.
TEST(PairDistance, DerivativesAgreeWithDifferencesAtEveryFeature) {
  for (const PairKind kind : kinds) {
    for (const double size : {1e-6, 1.0, 10.0}) {
      for (std::uint64_t k = 0; k < 60; ++k) {
        PairNodes x = random_pair(k + 1000);
        for (Vec3& p : x) p *= size;
        const ClosestPair at = closest_pair(kind, x);
        const PairHessian h = squared_distance_hessian(at, x);
        const double step = 1e-5 * size;
        for (int column = 0; column < 12; ++column) {
          PairNodes up = x, down = x;
          up[column / 3][column % 3] += step;
          down[column / 3][column % 3] -= step;
          const ClosestPair above = closest_pair(kind, up), below = closest_pair(kind, down);
          const double slope = (above.squared_distance - below.squared_distance) / (2 * step);
          EXPECT_NEAR(slope, 2 * at.c[column / 3] * at.r[column % 3], 1e-7 * size);
          if (above.tangents != at.tangents || below.tangents != at.tangents) continue;  // the second derivative jumps
          for (int row = 0; row < 12; ++row) {
            const double change = 2 * (above.c[row / 3] * above.r[row % 3] - below.c[row / 3] * below.r[row % 3]) / (2 * step);
            EXPECT_NEAR(change, h(row, column), 1e-5 * (1 + h.cwiseAbs().maxCoeff())) << "feature " << at.tangents;
          }
        }
      }
    }
  }
}

// Nearly flat triangles, nearly parallel, parallel and vanishing edges.
TEST(PairDistance, DegenerateStatesHaveTheDistanceOfWhatIsLeft) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), p(0.3, 0.2, 0);
  for (const double tilt : {0.0, 1e-16, 1e-12, 1e-9, 1e-6}) {
    const PairNodes parallel = {a, b, Vec3(0.2, 0.1, 0), Vec3(0.8, 0.1 + tilt, tilt)};
    EXPECT_NEAR(squared_distance(PairKind::EdgeEdge, parallel), 0.01, 1e-6 * (tilt > 1e-7) + 1e-12);
    const PairNodes needle = {p, a, b, Vec3(0.5, -tilt, 0)};
    EXPECT_NEAR(squared_distance(PairKind::PointTriangle, needle), 0.04, 1e-12);
  }
  EXPECT_NEAR(squared_distance(PairKind::EdgeEdge, {p, p, a, b}), 0.04, 1e-15);
  EXPECT_NEAR(squared_distance(PairKind::EdgeEdge, {p, p, a, a}), p.squaredNorm(), 1e-15);
  EXPECT_NEAR(squared_distance(PairKind::PointTriangle, {p, a, a, a}), p.squaredNorm(), 1e-15);
  EXPECT_NEAR(squared_distance(PairKind::PointEdge, {p, b, b, a}), (p - b).squaredNorm(), 1e-15);
}

TEST(PairDistance, TheMollifierFadesWithParallelEdges) {
  const double limit = 1e-3;
  for (const double angle : {0.0, 1e-6, 1e-3, 0.01, 0.02, 0.03, 0.5}) {
    PairNodes x = {Vec3(0, 0, 0), Vec3(1, 0.1, 0), Vec3(0.1, 0.3, 0.2), Vec3(1.1, 0.4, 0.2)};
    x[3] += Vec3(-0.1 * angle, angle, 0.3 * angle);
    const EdgeMollifier m = edge_mollifier(x, limit);
    EXPECT_EQ(m.value, mollifier_value(parallel_measure(x), limit));
    EXPECT_GE(m.value, 0);
    EXPECT_LE(m.value, 1);
    EXPECT_EQ(m.value == 1, parallel_measure(x) >= limit);
    const double step = 1e-6;
    for (int column = 0; column < 12; ++column) {
      PairNodes up = x, down = x;
      up[column / 3][column % 3] += step;
      down[column / 3][column % 3] -= step;
      const EdgeMollifier above = edge_mollifier(up, limit), below = edge_mollifier(down, limit);
      EXPECT_NEAR((above.value - below.value) / (2 * step), m.gradient[column], 1e-4);
      for (int row = 0; row < 12; ++row)
        EXPECT_NEAR((above.gradient[row] - below.gradient[row]) / (2 * step), m.hessian(row, column), 0.02);
    }
  }
}

// Along the whole way the pair keeps the part of its gap that was asked for, and the way is not much shorter than needed.
TEST(FreePath, KeepsItsGapAndIsNotTooCareful) {
  int stopped = 0;
  for (const PairKind kind : kinds) {
    for (std::uint64_t k = 0; k < 400; ++k) {
      const PairNodes x = random_pair(k + 7000);
      PairNodes p;
      for (int i = 0; i < 4; ++i) p[i] = random_vector(static_cast<std::uint64_t>(10 * i + 77), k, 3);
      const double distance = std::sqrt(squared_distance(kind, x)), offset = 0.3 * distance;
      const double gap = distance - offset, keep = 0.2;
      const double t = free_path(kind, x, p, distance, offset, keep, 1);
      ASSERT_GE(t, 0);
      ASSERT_LE(t, 1);
      const auto gap_at = [&](double s) {
        PairNodes moved = x;
        for (int i = 0; i < 4; ++i) moved[i] += s * p[i];
        return std::sqrt(squared_distance(kind, moved)) - offset;
      };
      double smallest = gap;
      for (int i = 0; i <= 1000; ++i) smallest = std::min(smallest, gap_at(t * i / 1000));
      EXPECT_GE(smallest, keep * gap - 1e-12);
      if (t == 1) continue;
      ++stopped;
      EXPECT_LE(gap_at(t), (keep + 0.03) * gap) << "it could have gone on";
    }
  }
  EXPECT_GT(stopped, 100);
}

TEST(FreePath, AHeadOnWayEndsAtAFifthOfTheGap) {
  const PairNodes x = {Vec3(0.2, 0.2, 1), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  const PairNodes p = {Vec3(0, 0, -1e6), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  EXPECT_NEAR(free_path(PairKind::PointTriangle, x, p, 1, 0, 0.2, 1), 0.8e-6, 0.02e-6);
  EXPECT_EQ(free_path(PairKind::PointTriangle, x, p, 1, 1, 0.2, 1), 0);
}

// A point that slides along a triangle, a millionth above it: its speed alone would stop it at once.
TEST(FreePath, WhatSlidesAlongGoesOn) {
  const PairNodes x = {Vec3(0.2, 0.2, 1e-6), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  const PairNodes p = {Vec3(0.5, 0.1, -5e-7), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  EXPECT_EQ(free_path(PairKind::PointTriangle, x, p, 1e-6, 0, 0.2, 1), 1);
  const PairNodes edges = {Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0, -1, 1e-6), Vec3(0, 1, 1e-6)};
  const PairNodes slides = {Vec3::Zero(), Vec3::Zero(), Vec3(0.7, 0.4, 0), Vec3(0.7, 0.4, 0)};
  EXPECT_EQ(free_path(PairKind::EdgeEdge, edges, slides, 1e-6, 0, 0.2, 1), 1);
}

}  // namespace
}  // namespace lope::geometry
