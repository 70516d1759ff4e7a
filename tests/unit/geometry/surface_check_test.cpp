#include <lope/geometry/surface_check.h>

#include <cmath>
#include <limits>
#include <string>

#include "mesh_checks.h"
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

std::string complaint(const Mesh& surface) {
  const Expected<Mesh> checked = check_surface(surface);
  return checked ? "" : checked.error().message;
}

void expect_complaint(const Mesh& surface, const std::string& words) {
  EXPECT_NE(complaint(surface).find(words), std::string::npos) << complaint(surface);
}

TEST(SurfaceCheck, AcceptsACubeAndTurnsItOutward) {
  Mesh cube = cube_surface();
  EXPECT_EQ(complaint(cube), "");
  for (Triangle& t : cube.triangles) std::swap(t[0], t[1]);
  EXPECT_DOUBLE_EQ(enclosed_volume(cube), -1);
  EXPECT_DOUBLE_EQ(enclosed_volume(*check_surface(cube)), 1);
}

TEST(SurfaceCheck, TurnsEveryComponentByItsNesting) {
  Mesh nested = cube_surface();
  for (const double scale : {0.6, 0.2}) {
    Mesh inner = cube_surface();
    for (Vec3& x : inner.vertices) x = Vec3::Constant(0.5 - 0.5 * scale) + scale * x;
    append(nested, inner);
  }
  Mesh apart = cube_surface();
  for (Vec3& x : apart.vertices) x += Vec3(5, 0, 0);
  for (Triangle& t : apart.triangles) std::swap(t[0], t[1]);
  append(nested, apart);
  const Expected<Mesh> checked = check_surface(nested);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_NEAR(enclosed_volume(*checked), 1 - 0.216 + 0.008 + 1, 1e-12);
}

TEST(SurfaceCheck, JoinsRepeatedVertices) {
  const Mesh cube = cube_surface();
  Mesh soup;
  for (const Triangle& t : cube.triangles) {
    const int first = static_cast<int>(soup.vertices.size());
    for (const int v : t) soup.vertices.push_back(cube.vertices[v]);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  const Expected<Mesh> checked = check_surface(soup);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_EQ(checked->vertices.size(), 8u);
  EXPECT_TRUE(is_watertight(*checked));
}

TEST(SurfaceCheck, NamesTheOpenEdge) {
  Mesh cube = cube_surface();
  cube.triangles.pop_back();  // (1, 7, 5)
  expect_complaint(cube, "the surface is open: the edge between vertices 1 at (1, 0, 0) and 5 at (1, 0, 1)");
}

TEST(SurfaceCheck, NamesTheEdgeOfThreeTriangles) {
  Mesh cube = cube_surface();
  cube.vertices.emplace_back(0.5, -1, 0);
  cube.triangles.push_back({0, 1, 8});
  cube.triangles.push_back({1, 0, 8});
  expect_complaint(cube, "not manifold: the edge between vertices 0");
}

TEST(SurfaceCheck, NamesTheTrianglesAtOdds) {
  Mesh cube = cube_surface();
  std::swap(cube.triangles[4][0], cube.triangles[4][1]);
  expect_complaint(cube, "oriented against each other");
  expect_complaint(cube, "4");
}

TEST(SurfaceCheck, NamesTheVertexOfTwoFans) {
  Mesh cubes = cube_surface(), other = cube_surface();
  for (Vec3& x : other.vertices) x += Vec3(1, 1, 1);
  append(cubes, other);
  for (Triangle& t : cubes.triangles) std::replace(t.begin(), t.end(), 8, 7);
  expect_complaint(cubes, "at vertex 7");
}

TEST(SurfaceCheck, NamesTheCrossingTriangles) {
  Mesh cubes = cube_surface(), other = cube_surface();
  for (Vec3& x : other.vertices) x += Vec3(0.5, 0.4, 0.3);
  append(cubes, other);
  expect_complaint(cubes, "crosses itself: triangles");
}

TEST(SurfaceCheck, NamesBadData) {
  Mesh cube = cube_surface();
  cube.vertices[3].y() = std::numeric_limits<double>::quiet_NaN();
  expect_complaint(cube, "vertex 3 of the surface is not finite");
  cube = cube_surface();
  cube.triangles[7][1] = 8;
  expect_complaint(cube, "triangle 7 of the surface names vertex 8");
  cube = cube_surface();
  cube.triangles[2][1] = cube.triangles[2][0];
  expect_complaint(cube, "triangle 2");
  expect_complaint(cube, "has no area");
  expect_complaint(Mesh{}, "no triangles");
}

}  // namespace
}  // namespace lope::geometry
