// What curved sheets are when flat: without stretch where that is possible, never flipped.
#include <lope/geometry/flattening.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

// A rectangle bent by a map of the plane.
Sheet bent(double width, double height, double edge, const std::function<Vec3(const Vec3&)>& map) {
  Sheet sheet = rectangle_sheet(width, height, edge);
  for (Vec3& p : sheet.vertices) p = map(p);
  return sheet;
}

TEST(Flattening, DevelopableSheetsUnrollWithoutStretch) {
  const Sheet arch = bent(1, 0.6, 0.05, [](const Vec3& p) {
    return Vec3(0.4 * std::sin(p[0] / 0.4), p[1], 0.4 * std::cos(p[0] / 0.4));
  });
  const auto flat = flatten(arch.vertices, arch.triangles);
  ASSERT_TRUE(flat) << flat.error().message;
  ASSERT_TRUE(check_sheet(flat->sheet)) << check_sheet(flat->sheet).error().message;
  EXPECT_EQ(flat->patches, 1);
  EXPECT_EQ(flat->cuts, 0);
  EXPECT_LT(flat->mean_distortion, 0.003);
  EXPECT_NEAR(flat->largest_stretch, 1, 0.02);
  EXPECT_NEAR(flat->least_stretch, 1, 0.02);
  // The y axis in space is that of the flat shape.
  double lowest = 1, highest = -1;
  for (const Vec2& p : flat->sheet.flat) {
    lowest = std::min(lowest, p[1]);
    highest = std::max(highest, p[1]);
  }
  EXPECT_NEAR(highest - lowest, 0.6, 0.01);
}

TEST(Flattening, TubesAreCutOpen) {
  const Sheet funnel = funnel_sheet(0.3, 0.15, 0.4, 0.04);
  const auto flat = flatten(funnel.vertices, funnel.triangles);
  ASSERT_TRUE(flat) << flat.error().message;
  ASSERT_TRUE(check_sheet(flat->sheet)) << check_sheet(flat->sheet).error().message;
  EXPECT_EQ(flat->cuts, 1);
  EXPECT_GT(flat->sheet.flat.size(), flat->sheet.vertices.size());
  EXPECT_LT(flat->mean_distortion, 0.01);
}

// A half sphere cannot be flat: no triangle flips, and its rim is stretched less than its top is pressed together.
TEST(Flattening, CurvedSheetsAreDistortedButNotFlipped) {
  Sheet dome = disc_sheet(0.5 * std::numbers::pi, 0.12);
  for (Vec3& p : dome.vertices) {
    const double way = std::hypot(p[0], p[1]), r = way > 0 ? std::sin(way) / way : 1;
    p = {r * p[0], r * p[1], std::cos(way)};
  }
  const auto flat = flatten(dome.vertices, dome.triangles);
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(check_sheet(flat->sheet));
  EXPECT_LT(flat->least_stretch, 0.98);
  EXPECT_GT(flat->least_stretch, 0.5);
  EXPECT_GT(flat->largest_stretch, 1.02);
  EXPECT_LT(flat->largest_stretch, 1.6);
  EXPECT_LT(flat->mean_distortion, 0.2);
}

TEST(Flattening, SeveralPiecesAreSeveralPatches) {
  Sheet two = bent(1, 0.5, 0.2, [](const Vec3& p) { return Vec3(p[0], p[1], p[0] * p[0]); });
  const std::size_t count = two.vertices.size(), triangles = two.triangles.size();
  for (std::size_t i = 0; i < count; ++i) two.vertices.push_back(two.vertices[i] + Vec3(0, 0, 2));
  for (std::size_t t = 0; t < triangles; ++t) {
    Triangle shifted = two.triangles[t];
    for (int& i : shifted) i += static_cast<int>(count);
    two.triangles.push_back(shifted);
  }
  const auto flat = flatten(two.vertices, two.triangles);
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(flat->patches, 2);
  EXPECT_TRUE(check_sheet(flat->sheet));
}

TEST(Flattening, WhatCannotBeFlatIsRefused) {
  const auto message = [](std::vector<Vec3> vertices, std::vector<Triangle> triangles) {
    const auto flat = flatten(std::move(vertices), std::move(triangles));
    return flat ? std::string() : flat.error().message;
  };
  const std::vector<Vec3> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<Triangle> closed = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  EXPECT_NE(message(corners, closed).find("is closed"), std::string::npos);
  EXPECT_NE(message({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 1, 1}}, {{0, 1, 3}, {1, 0, 2}})
                .find("triangle 1 has no area"),
            std::string::npos);
  EXPECT_NE(message(corners, {{0, 1, 2}, {1, 0, 3}, {0, 1, 3}}).find("more than two"), std::string::npos);
  EXPECT_NE(message(corners, {{0, 1, 2}, {0, 1, 3}}).find("opposite orientation"), std::string::npos);
  // A torus with a hole in it.
  std::vector<Vec3> torus;
  std::vector<Triangle> faces;
  const int n = 6;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double a = 2 * std::numbers::pi * i / n, b = 2 * std::numbers::pi * j / n,
                   r = 1 + 0.4 * std::cos(b);
      torus.emplace_back(r * std::cos(a), r * std::sin(a), 0.4 * std::sin(b));
      const int right = ((i + 1) % n) * n + j, up = i * n + (j + 1) % n,
                across = ((i + 1) % n) * n + (j + 1) % n;
      if (i + j > 0) faces.push_back({i * n + j, right, across});
      faces.push_back({i * n + j, across, up});
    }
  }
  EXPECT_NE(message(torus, faces).find("has a handle"), std::string::npos);
}

}  // namespace
}  // namespace lope::geometry
