#include <lope/render/normals.h>

#include "shapes.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

TEST(Normals, ACubeKeepsItsEdgesAndASphereIsSmooth) {
  const Surface cube = make_box(Vec3::Zero(), Vec3::Ones());
  for (const CornerNormals& corners : corner_normals(cube.positions, cube.triangles, 30)) {
    for (const auto& n : corners) EXPECT_NEAR(n.cwiseAbs().maxCoeff(), 1, 1e-6);
  }
  const Surface sphere = make_sphere(Vec3::Zero(), 1, 24);
  const auto smooth = corner_normals(sphere.positions, sphere.triangles, 40);
  for (std::size_t t = 0; t < sphere.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_GT(smooth[t][k].cast<double>().dot(sphere.positions[sphere.triangles[t][k]]), 0.99);
    }
  }
}

TEST(Normals, RoundedByAWideCreaseAngle) {
  const Surface cube = make_box(Vec3::Zero(), Vec3::Ones());
  const auto round = corner_normals(cube.positions, cube.triangles, 100);
  for (std::size_t t = 0; t < cube.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) EXPECT_LT(round[t][k].cwiseAbs().maxCoeff(), 0.9);
  }
}

TEST(Normals, ATriangleWithoutAreaDoesNotSpoilItsNeighbours) {
  const std::vector<Vec3> positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0}};
  const std::vector<geometry::Triangle> triangles = {{0, 1, 2}, {1, 3, 2}};
  const auto normals = corner_normals(positions, triangles, 40);
  for (const CornerNormals& corners : normals) {
    for (const auto& n : corners) {
      EXPECT_TRUE(n.allFinite());
      EXPECT_NEAR(n.norm(), 1, 1e-6);
    }
  }
  EXPECT_NEAR(normals[0][1].z(), 1, 1e-6);
}

}  // namespace
}  // namespace lope::render
