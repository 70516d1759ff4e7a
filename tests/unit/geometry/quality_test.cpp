#include <lope/base/parallel.h>
#include <lope/geometry/quality.h>
#include <lope/geometry/shapes.h>

#include <cmath>
#include <limits>
#include <string>

#include "mesh_checks.h"
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

const std::array<Vec3, 4> regular = {Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, 1, -1), Vec3(-1, -1, 1)};

Mesh box(int n) {
  MeshingOptions options;
  options.lattice = {n, n, n};
  return *tetrahedralize(Box{}, 1, options);
}

TEST(ElementQuality, RegularTetrahedronIsPerfect) {
  const ElementQuality quality = tetrahedron_quality(regular);
  EXPECT_NEAR(std::abs(quality.volume), 8.0 / 3, 1e-14);
  EXPECT_NEAR(std::abs(quality.radius_ratio), 1, 1e-14);
  EXPECT_NEAR(quality.smallest_angle, 70.528779365509308, 1e-10);
  EXPECT_NEAR(quality.largest_angle, 70.528779365509308, 1e-10);
}

TEST(ElementQuality, TurningATetrahedronInsideOutFlipsTheSigns) {
  std::array<Vec3, 4> corners = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
  const ElementQuality positive = tetrahedron_quality(corners);
  EXPECT_NEAR(positive.volume, 1.0 / 6, 1e-15);
  EXPECT_NEAR(positive.smallest_angle, 54.735610317245346, 1e-10);
  EXPECT_NEAR(positive.largest_angle, 90, 1e-10);
  EXPECT_NEAR(positive.radius_ratio, 3 * (1 / (3 + std::sqrt(3.0))) / (std::sqrt(3.0) / 2), 1e-14);
  std::swap(corners[2], corners[3]);
  const ElementQuality negative = tetrahedron_quality(corners);
  EXPECT_NEAR(negative.volume, -positive.volume, 1e-15);
  EXPECT_NEAR(negative.radius_ratio, -positive.radius_ratio, 1e-14);
}

TEST(ElementQuality, Triangles) {
  const ElementQuality even =
      triangle_quality({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0.5, std::sqrt(0.75), 0)}, true);
  EXPECT_NEAR(even.radius_ratio, 1, 1e-14);
  EXPECT_NEAR(even.smallest_angle, 60, 1e-12);
  EXPECT_LT(triangle_quality({Vec3(0, 0, 0), Vec3(0, 1, 0), Vec3(1, 0, 0)}, true).volume, 0);
  EXPECT_GT(triangle_quality({Vec3(0, 0, 0), Vec3(0, 1, 0), Vec3(1, 0, 0)}, false).volume, 0);
}

TEST(Quality, OfALattice) {
  const QualityReport report = assess_quality(box(4));
  EXPECT_TRUE(report.usable());
  EXPECT_EQ(report.vertices, 64u);
  EXPECT_EQ(report.elements, 135u);
  EXPECT_EQ(report.components, 1);
  EXPECT_NEAR(report.volume, 1, 1e-14);
  EXPECT_NEAR(report.smallest_volume, 1.0 / 162, 1e-14);
  EXPECT_NEAR(report.largest_volume, 1.0 / 81, 1e-14);
  EXPECT_NEAR(report.shortest_edge, 1.0 / 3, 1e-14);
  EXPECT_NEAR(report.longest_edge, std::sqrt(2.0) / 3, 1e-14);
  EXPECT_NEAR(report.smallest_angle, 54.7356, 1e-3);
  EXPECT_NEAR(report.largest_angle, 90, 1e-6);
  std::size_t angles = 0;
  for (const std::size_t bin : report.angle_histogram) angles += bin;
  EXPECT_EQ(angles, 6 * 135u);
  EXPECT_EQ(report.angle_histogram[5], 3 * 108u);  // the corner tetrahedra
  EXPECT_EQ(report.angle_histogram[7], 6 * 27u);   // the regular ones
}

TEST(Quality, FindsEveryKindOfTrouble) {
  Mesh mesh = box(3);
  std::swap(mesh.tetrahedra[5][0], mesh.tetrahedra[5][1]);
  std::swap(mesh.tetrahedra[9][0], mesh.tetrahedra[9][1]);
  const int first_new = static_cast<int>(mesh.vertices.size());
  mesh.vertices.push_back(mesh.vertices[4]);  // duplicate and unused
  mesh.vertices.emplace_back(0, std::numeric_limits<double>::quiet_NaN(), 0);
  const std::size_t elements = mesh.tetrahedra.size();
  mesh.tetrahedra.push_back({0, 1, 2, 2});     // flat
  mesh.tetrahedra.push_back({0, 1, 2, 1000});  // does not exist
  const int apart = static_cast<int>(mesh.vertices.size());
  for (const Vec3& x : {Vec3(9, 0, 0), Vec3(10, 0, 0), Vec3(9, 1, 0), Vec3(9.3, 0.3, 0.01)})
    mesh.vertices.push_back(x);
  mesh.tetrahedra.push_back({apart, apart + 1, apart + 2, apart + 3});  // a sliver, apart
  const QualityReport report = assess_quality(mesh);
  EXPECT_FALSE(report.usable());
  EXPECT_EQ(report.inverted.count, 2u);
  EXPECT_EQ(report.inverted.first, 5);
  EXPECT_EQ(report.flat.count, 1u);
  EXPECT_EQ(report.flat.first, static_cast<int>(elements));
  EXPECT_EQ(report.bad_indices.first, static_cast<int>(elements) + 1);
  EXPECT_EQ(report.slivers.count, 1u);
  EXPECT_EQ(report.slivers.first, static_cast<int>(elements) + 2);
  EXPECT_EQ(report.unused.count, 2u);
  EXPECT_EQ(report.unused.first, first_new);
  EXPECT_EQ(report.duplicates.count, 1u);
  EXPECT_EQ(report.duplicates.first, first_new);
  EXPECT_EQ(report.not_finite.count, 1u);
  EXPECT_EQ(report.not_finite.first, first_new + 1);
  EXPECT_EQ(report.components, 2);
  EXPECT_TRUE(report.worst_element == 5 || report.worst_element == 9);
  const std::string text = describe(report);
  for (const char* words :
       {"2 elements are inverted (the first is 5)", "no volume", "slivers", "not finite",
        "belong to no element", "repeat the place", "do not exist", "2 connected parts"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(Quality, OfNothing) {
  const QualityReport report = assess_quality(Mesh{});
  EXPECT_FALSE(report.usable());
  EXPECT_EQ(report.worst_element, -1);
  EXPECT_EQ(report.longest_edge, 0);
  EXPECT_NE(describe(report).find("0 vertices"), std::string::npos);
}

TEST(Quality, SameBitsForAnyNumberOfThreads) {
  const Mesh mesh = box(24);
  const ThreadLimit one(1);
  const QualityReport alone = assess_quality(mesh);
  const ThreadLimit two(2);
  const QualityReport together = assess_quality(mesh);
  EXPECT_EQ(alone.volume, together.volume);
  EXPECT_EQ(alone.mean_edge, together.mean_edge);
  EXPECT_EQ(alone.worst_element, together.worst_element);
}

}  // namespace
}  // namespace lope::geometry
