#include <lope/base/random.h>
#include <lope/geometry/full_turns.h>
#include <lope/geometry/shapes.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

Mesh cube(int nodes) {
  MeshingOptions options;
  options.lattice = {nodes, nodes, nodes};
  return tetrahedralize(Box{Vec3::Zero(), Vec3(1, 1, 1)}, 1, options).value();
}

Mesh square(int nodes) {
  PlanarOptions options;
  options.lattice = {nodes, nodes};
  return triangulate(Rectangle{Vec2::Zero(), Vec2(1, 1)}, 1, options).value();
}

std::vector<double> mapped(const Mesh& mesh, int dimension, const std::function<Vec3(const Vec3&)>& map) {
  std::vector<double> x;
  for (const Vec3& p : mesh.vertices) {
    const Vec3 moved = map(p);
    x.insert(x.end(), moved.data(), moved.data() + dimension);
  }
  return x;
}

// Every direction from the axis is turned twice as far round it: once around the axis of the body is twice
// around that of its image, and the material makes a full turn more than it does at rest.
Vec3 doubled_angle(const Vec3& p) {
  const double angle = 2 * std::atan2(p[1], p[0]), radius = std::hypot(p[0], p[1]);
  return {radius * std::cos(angle), radius * std::sin(angle), p[2]};
}

Vec3 twisted(const Vec3& p) { return Eigen::AngleAxisd(3 * std::numbers::pi * p[2], Vec3::UnitZ()) * p; }

// Bent round until the ends overlap.
Vec3 rolled(const Vec3& p) {
  const double angle = -7 * p[0], radius = 1.2 + p[1];
  return {radius * std::cos(angle), radius * std::sin(angle), p[2]};
}

TEST(FullTurns, AreNotInBodiesThatAreTurnedBentOrTwisted) {
  const Mesh mesh = cube(9), plane = square(25);
  const Eigen::AngleAxisd turn(2.5, Vec3(1, -2, 0.5).normalized());
  const std::function<Vec3(const Vec3&)> maps[] = {
      [](const Vec3& p) { return p; }, [&](const Vec3& p) { return Vec3(turn * p); }, twisted, rolled};
  for (const auto& map : maps) EXPECT_TRUE(vertices_in_full_turns(mesh, 3, mapped(mesh, 3, map)).empty());
  EXPECT_TRUE(vertices_in_full_turns(plane, 2, mapped(plane, 2, rolled)).empty());
}

TEST(FullTurns, AreFoundAlongTheirLine) {
  const Mesh mesh = cube(5);
  std::vector<int> axis;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (mesh.vertices[i].head<2>().norm() < 1e-9) axis.push_back(static_cast<int>(i));
  }
  ASSERT_EQ(axis.size(), 5u);
  EXPECT_EQ(vertices_in_full_turns(mesh, 3, mapped(mesh, 3, doubled_angle)), axis);

  const Mesh plane = square(5);
  const std::vector<int> centre = vertices_in_full_turns(plane, 2, mapped(plane, 2, doubled_angle));
  ASSERT_EQ(centre.size(), 1u);
  EXPECT_LT(plane.vertices[static_cast<std::size_t>(centre[0])].norm(), 1e-9);
}

// No small change of the positions makes or removes one.
TEST(FullTurns, StayWhenTheBodyIsShakenAndTurned) {
  const Mesh mesh = cube(5);
  const Eigen::AngleAxisd turn(1.9, Vec3(0.3, 1, -0.4).normalized());
  const std::vector<int> before = vertices_in_full_turns(mesh, 3, mapped(mesh, 3, doubled_angle));
  std::size_t draw = 0;
  const auto shaken = [&](const Vec3& p) {
    Vec3 moved = turn * doubled_angle(p);
    for (double& coordinate : moved) coordinate += 0.02 * (random_unit(7, draw++) - 0.5);
    return moved;
  };
  EXPECT_EQ(vertices_in_full_turns(mesh, 3, mapped(mesh, 3, shaken)), before);
}

}  // namespace
}  // namespace lope::geometry
