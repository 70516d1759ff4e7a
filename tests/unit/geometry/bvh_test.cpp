#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/bvh.h>
#include <lope/geometry/overlap.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/transform.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "mesh_checks.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

std::vector<Bounds> random_boxes(std::size_t count, double size, std::uint64_t seed) {
  std::vector<Bounds> boxes(count);
  for (std::size_t i = 0; i < count; ++i) {
    Vec3 corner, extent;
    for (int axis = 0; axis < 3; ++axis) {
      corner[axis] = random_unit(seed, 6 * i + axis);
      extent[axis] = size * random_unit(seed, 6 * i + 3 + axis);
    }
    boxes[i] = {corner, corner + extent};
  }
  return boxes;
}

bool overlap(const Bounds& a, const Bounds& b) {
  return (a.min.array() <= b.max.array()).all() && (b.min.array() <= a.max.array()).all();
}

std::set<IndexPair> unique_set(const std::vector<IndexPair>& pairs) {
  std::set<IndexPair> set(pairs.begin(), pairs.end());
  EXPECT_EQ(set.size(), pairs.size()) << "a pair was reported twice";
  return set;
}

RC_GTEST_PROP(Bvh, FindsExactlyTheOverlappingPairs, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 120),
             other_count = *rc::gen::inRange<std::size_t>(0, 60);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const double size = *rc::gen::inRange(0, 6) / 10.0;
  const std::vector<Bounds> boxes = random_boxes(count, size, seed),
                            others = random_boxes(other_count, size, seed + 1);
  const Bvh tree(boxes), other_tree(others);
  std::set<IndexPair> self, cross;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    for (int j = i + 1; j < static_cast<int>(count); ++j) {
      if (overlap(boxes[i], boxes[j])) self.insert({i, j});
    }
    for (int j = 0; j < static_cast<int>(other_count); ++j) {
      if (overlap(boxes[i], others[j])) cross.insert({i, j});
    }
  }
  RC_ASSERT(unique_set(tree.self_pairs()) == self);
  RC_ASSERT(unique_set(tree.pairs_with(other_tree)) == cross);
  const Vec3 point(0.4, 0.5, 0.6);
  std::set<int> found, expected;
  tree.for_each_containing(point, [&](int i) { found.insert(i); });
  for (int i = 0; i < static_cast<int>(count); ++i) {
    if (overlap(boxes[i], {point, point})) expected.insert(i);
  }
  RC_ASSERT(found == expected);
  RC_ASSERT(tree.find_containing(point, [](int) { return false; }) == -1);
  if (!expected.empty()) {
    const int last = *expected.rbegin();
    RC_ASSERT(tree.find_containing(point, [&](int i) { return i == last; }) == last);
  }
}

TEST(Bvh, RefittedTreeFindsTheNewPairs) {
  const Bvh fresh(random_boxes(500, 0.1, 8));
  Bvh tree(random_boxes(500, 0.1, 7));
  tree.refit(random_boxes(500, 0.1, 8));
  EXPECT_EQ(unique_set(tree.self_pairs()), unique_set(fresh.self_pairs()));
  const std::vector<Bounds> boxes = random_boxes(500, 0.1, 9);
  tree.refit_by([&](int i) { return SmallBox::around(boxes[i]); });
  EXPECT_EQ(unique_set(tree.self_pairs()), unique_set(Bvh(boxes).self_pairs()));
}

TEST(Bvh, NearestIsTheLeast) {
  const std::vector<Bounds> boxes = random_boxes(300, 0, 3);
  const Bvh tree(boxes);
  const auto distance = [&](int i, const Vec3& p) { return (boxes[i].min - p).squaredNorm(); };
  for (std::uint64_t k = 0; k < 50; ++k) {
    const Vec3 point(2 * random_unit(9, 3 * k) - 0.5, random_unit(9, 3 * k + 1), random_unit(9, 3 * k + 2));
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 300; ++i) least = std::min(least, distance(i, point));
    const Bvh::Nearest nearest = tree.nearest(point, distance);
    EXPECT_NEAR(nearest.squared_distance, least, 1e-6);
    EXPECT_EQ(distance(nearest.index, point), nearest.squared_distance);
    EXPECT_EQ(tree.nearest(point, distance, 0.5 * least).index, -1);
  }
}

TEST(Bvh, BadBoxesOverlapNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Bounds> boxes(9, Bounds{Vec3::Zero(), Vec3::Ones()});
  boxes[3] = Bounds{};
  boxes[5] = Bounds{Vec3(nan, 0, 0), Vec3::Ones()};
  const Bvh tree(boxes);
  const auto pairs = unique_set(tree.self_pairs());
  EXPECT_EQ(pairs.size(), 21u);
  for (const auto& [i, j] : pairs) EXPECT_TRUE(i != 3 && i != 5 && j != 3 && j != 5);
}

TEST(Bvh, SameOrderForAnyNumberOfThreads) {
  const std::vector<Bounds> boxes = random_boxes(30000, 0.02, 5);
  const ThreadLimit one(1);
  const auto alone = Bvh(boxes).self_pairs();
  const ThreadLimit two(2);
  EXPECT_EQ(alone, Bvh(boxes).self_pairs());
  EXPECT_GT(alone.size(), 1000u);
}

Mesh box_at(const Vec3& min, int nodes = 4) {
  MeshingOptions options;
  options.lattice = {nodes, nodes, nodes};
  return *tetrahedralize(box_between(min, min + Vec3::Ones()), 1, options);
}

TEST(Overlap, BodiesApartOrTouchingDoNotOverlap) {
  EXPECT_EQ(find_overlap(box_at(Vec3::Zero()), box_at(Vec3(2, 0, 0))).pairs, 0u);
  EXPECT_EQ(find_overlap(box_at(Vec3::Zero()), box_at(Vec3(1, 0, 0))).pairs, 0u);
  EXPECT_EQ(find_overlap(box_at(Vec3::Zero(), 3), box_at(Vec3(0.3, 1, 0.2))).pairs, 0u);
  EXPECT_EQ(find_overlap(box_at(Vec3::Zero()), Mesh{}).pairs, 0u);
}

TEST(Overlap, ReportsTheDepthOfBoxesPushedTogether) {
  for (const double depth : {0.01, 0.1, 0.25}) {
    const OverlapReport report = find_overlap(box_at(Vec3::Zero()), box_at(Vec3(1 - depth, 0.05, 0.03)));
    EXPECT_GT(report.pairs, 0u);
    EXPECT_GE(report.deepest[0], 0);
    EXPECT_NEAR(report.depth, depth, 1e-9);
  }
}

TEST(Overlap, FindsABodyInsideAnother) {
  Mesh small = *fitted(box_at(Vec3::Zero()), 0.1);
  translate(small, Vec3(0.41, 0.42, 0.43));
  const OverlapReport report = find_overlap(box_at(Vec3::Zero()), small);
  EXPECT_GT(report.pairs, 0u);
  EXPECT_NEAR(report.depth, 0.4767, 0.02);
}

TEST(Overlap, FindsCrossingEdgesWithoutVerticesInside) {
  MeshingOptions options;
  options.lattice = {2, 2, 2};
  const Mesh bar = *tetrahedralize(Box{Vec3::Zero(), Vec3(3, 0.1, 0.1)}, 1, options);
  Mesh other = bar;
  rotate(other, Vec3::UnitZ(), 1.5);
  const OverlapReport report = find_overlap(bar, other);
  EXPECT_GT(report.pairs, 0u);
  EXPECT_GT(report.depth, 0.01);
  EXPECT_LT(report.depth, 0.2);
}

TEST(Overlap, InThePlane) {
  const Mesh a = *triangulate(Rectangle{}, 0.25);
  const Mesh b = *triangulate(Rectangle{Vec2(0.9, 0.1), Vec2::Ones()}, 0.2);
  const Mesh c = *triangulate(Rectangle{Vec2(1, 0.1), Vec2::Ones()}, 0.2);
  EXPECT_NEAR(find_overlap(a, b).depth, 0.1, 1e-9);
  EXPECT_EQ(find_overlap(a, c).pairs, 0u);
}

}  // namespace
}  // namespace lope::geometry
