#include <lope/geometry/crossings.h>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

TEST(Crossings, AreToldToTheLastBit) {
  const std::vector<Triangle> triangles = {{0, 1, 2}};
  const std::vector<Edge> edges = {{3, 4}};
  // The plane through three points that no double describes exactly: what counts is the sign of a determinant.
  std::vector<Vec3> points = {Vec3(0, 0, 0.1), Vec3(1, 0, 0.1), Vec3(0, 1, 0.1), Vec3(0.3, 0.3, 1), Vec3(0.3, 0.3, 0.1)};
  EXPECT_EQ(find_crossings(points, edges, triangles).size(), 1u) << "touching counts";
  points[4][2] = std::nextafter(0.1, 1.0);
  EXPECT_TRUE(find_crossings(points, edges, triangles).empty());
  points[4][2] = std::nextafter(0.1, 0.0);
  EXPECT_EQ(find_crossings(points, edges, triangles).size(), 1u);
  points[3][0] = points[4][0] = 1.5;
  EXPECT_TRUE(find_crossings(points, edges, triangles).empty());
}

TEST(Crossings, NeighboursAreNone) {
  const std::vector<Vec3> points = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 1)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {1, 3, 2}};
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {0, 2}, {1, 3}, {2, 3}};
  EXPECT_TRUE(find_crossings(points, edges, triangles).empty());
}

TEST(Crossings, InThePlane) {
  std::vector<Vec3> points = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0.5, 1, 0), Vec3(0.5, 0, 0)};
  const std::vector<Edge> edges = {{0, 1}, {2, 3}};
  EXPECT_EQ(find_planar_crossings(points, edges).size(), 1u);
  points[3][1] = 1e-300;
  EXPECT_TRUE(find_planar_crossings(points, edges).empty());
}

}  // namespace
}  // namespace lope::geometry
