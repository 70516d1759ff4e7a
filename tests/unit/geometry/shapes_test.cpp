#include <lope/base/parallel.h>
#include <lope/geometry/quality.h>
#include <lope/geometry/shapes.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "mesh_checks.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

using std::numbers::pi;

constexpr LatticePattern all_patterns[] = {LatticePattern::FiveTets, LatticePattern::Kuhn,
                                           LatticePattern::MirroredKuhn};

Mesh mesh_of(const Shape& shape, double edge, const MeshingOptions& options = {}) {
  const Expected<Mesh> mesh = tetrahedralize(shape, edge, options);
  EXPECT_TRUE(mesh.has_value()) << (mesh ? "" : mesh.error().message);
  return mesh.value_or(Mesh{});
}

std::string error_of(const Shape& shape, double edge, const MeshingOptions& options = {}) {
  const Expected<Mesh> mesh = tetrahedralize(shape, edge, options);
  return mesh ? "" : mesh.error().message;
}

void expect_sound(const Mesh& mesh, int euler) {
  EXPECT_GT(smallest_volume(mesh), 0);
  EXPECT_TRUE(uses_every_vertex(mesh));
  const Mesh surface = boundary_surface(mesh);
  EXPECT_TRUE(is_watertight(surface));
  EXPECT_EQ(euler_characteristic(surface), euler);
}

RC_GTEST_PROP(BoxLattice, FillsTheBoxWithPositiveTetrahedra, ()) {
  const auto nodes = [] { return *rc::gen::inRange(2, 6); };
  MeshingOptions options;
  options.lattice = {nodes(), nodes(), nodes()};
  options.pattern = *rc::gen::elementOf(std::vector(std::begin(all_patterns), std::end(all_patterns)));
  const auto mesh = tetrahedralize(box_between(Vec3(-1, 0, 2), Vec3(1, 0.5, 5)), 1, options);
  RC_ASSERT(mesh.has_value());
  RC_ASSERT(mesh->vertices.size() ==
            std::size_t(options.lattice[0] * options.lattice[1] * options.lattice[2]));
  RC_ASSERT(smallest_volume(*mesh) > 0);
  RC_ASSERT(std::abs(total_volume(*mesh) - 3) < 1e-12);
  const Mesh surface = boundary_surface(*mesh);
  RC_ASSERT(is_watertight(surface));
  RC_ASSERT(euler_characteristic(surface) == 2);
  const Bounds box = bounds(mesh->vertices);
  RC_ASSERT(box.min == Vec3(-1, 0, 2) && box.max == Vec3(1, 0.5, 5));
}

TEST(BoxLattice, CellsFitTheEdgeLength) {
  const Mesh mesh = mesh_of(Box{Vec3::Zero(), Vec3(1, 0.3, 0.26)}, 0.1);
  EXPECT_EQ(mesh.vertices.size(), 11u * 4u * 4u);
  EXPECT_EQ(mesh.tetrahedra.size(), 5u * 10u * 3u * 3u);
  EXPECT_EQ(mesh_of(Box{}, 100).vertices.size(), 8u);
}

// The set of element volumes around each node, mirrored along x, is the same for an even number of cells.
TEST(BoxLattice, AlternatingPatternsAreMirrorSymmetric) {
  for (const LatticePattern pattern : {LatticePattern::FiveTets, LatticePattern::MirroredKuhn}) {
    MeshingOptions options;
    options.lattice = {5, 3, 7};
    options.pattern = pattern;
    const Mesh mesh = mesh_of(Box{}, 1, options);
    const int nx = options.lattice[0], ny = options.lattice[1];
    for (int axis = 0; axis < 3; ++axis) {
      const auto mirrored = [&](int v) {
        std::array<int, 3> at = {v % nx, v / nx % ny, v / (nx * ny)};
        at[axis] = options.lattice[axis] - 1 - at[axis];
        return at[0] + nx * (at[1] + ny * at[2]);
      };
      std::set<std::set<int>> original, reflected;
      for (const Tetrahedron& t : mesh.tetrahedra) {
        original.insert({t[0], t[1], t[2], t[3]});
        reflected.insert({mirrored(t[0]), mirrored(t[1]), mirrored(t[2]), mirrored(t[3])});
      }
      EXPECT_EQ(original, reflected);
    }
  }
}

TEST(BoxLattice, SameBitsForAnyNumberOfThreads) {
  MeshingOptions options;
  options.lattice = {9, 17, 12};
  const ThreadLimit one(1);
  const Mesh alone = mesh_of(Box{}, 1, options);
  const ThreadLimit two(2);
  EXPECT_TRUE(same_bits(alone, mesh_of(Box{}, 1, options)));
}

TEST(CurvedShapes, SphereLiesOnTheSphereAndConverges) {
  const Vec3 center(3, -1, 2);
  const double exact = 4 * pi / 3 * 0.125;
  double previous = 1;
  for (const double edge : {0.2, 0.1}) {
    const Mesh mesh = mesh_of(Sphere{center, 0.5}, edge);
    expect_sound(mesh, 2);
    for (const int v : boundary_vertices(mesh)) EXPECT_NEAR((mesh.vertices[v] - center).norm(), 0.5, 1e-12);
    const double error = std::abs(total_volume(mesh) - exact) / exact;
    EXPECT_LT(error, 0.45 * previous);
    previous = error;
    const QualityReport report = assess_quality(mesh);
    EXPECT_TRUE(report.usable());
    EXPECT_GT(report.smallest_angle, 8);
    EXPECT_NEAR(report.mean_edge, edge, 0.15 * edge);
  }
  EXPECT_LT(previous, 0.03);
}

TEST(CurvedShapes, TorusHasAHoleAndLiesOnTheTorus) {
  const Torus torus{Vec3(1, 2, 3), Vec3(1, 1, 0), 0.4, 0.15};
  const Mesh mesh = mesh_of(torus, 0.08);
  expect_sound(mesh, 0);
  EXPECT_EQ(connected_components(mesh).count, 1);
  const Vec3 axis = torus.axis.normalized();
  for (const int v : boundary_vertices(mesh)) {
    const Vec3 arm = mesh.vertices[v] - torus.center;
    const double height = arm.dot(axis), radius = (arm - height * axis).norm();
    EXPECT_NEAR(std::hypot(radius - 0.4, height), 0.15, 1e-12);
  }
  const double exact = 2 * pi * pi * 0.4 * 0.15 * 0.15;
  EXPECT_NEAR(total_volume(mesh), exact, 0.06 * exact);
}

TEST(CurvedShapes, CylinderKeepsItsRims) {
  const Cylinder cylinder{Vec3(0, 0, 1), Vec3(0, 0, 2), 0.25, 1};
  const Mesh mesh = mesh_of(cylinder, 0.1);
  expect_sound(mesh, 2);
  int on_rim = 0;
  for (const int v : boundary_vertices(mesh)) {
    const Vec3 arm = mesh.vertices[v] - cylinder.center;
    const double to_side = std::abs(arm.head<2>().norm() - 0.25), to_end = std::abs(std::abs(arm.z()) - 0.5);
    EXPECT_LT(std::min(to_side, to_end), 1e-12);
    on_rim += to_side < 1e-12 && to_end < 1e-12;
  }
  EXPECT_GE(on_rim, 2 * 12);
  EXPECT_NEAR(total_volume(mesh), pi / 16, 0.04 * pi / 16);
}

TEST(CurvedShapes, CapsuleLiesOnTheCapsule) {
  const Mesh mesh = mesh_of(Capsule{Vec3::Zero(), Vec3::UnitX(), 0.2, 0.5}, 0.1);
  expect_sound(mesh, 2);
  for (const int v : boundary_vertices(mesh)) {
    const Vec3& x = mesh.vertices[v];
    EXPECT_NEAR((x - Vec3(std::clamp(x.x(), -0.25, 0.25), 0, 0)).norm(), 0.2, 1e-12);
  }
  const double exact = pi * 0.04 * 0.5 + 4 * pi / 3 * 0.008;
  EXPECT_NEAR(total_volume(mesh), exact, 0.06 * exact);
}

TEST(CurvedShapes, CoarseRequestsAreRefinedToTheShape) {
  expect_sound(mesh_of(Torus{}, 50), 0);
  expect_sound(mesh_of(Sphere{Vec3::Zero(), 1e-3}, 1), 2);
}

TEST(ImplicitShapes, HollowSphereHasACavity) {
  const Mesh mesh = mesh_of(hollow_sphere(Vec3(0, 1, 0), 0.5, 0.3), 0.14);
  expect_sound(mesh, 4);  // two spheres
  EXPECT_EQ(connected_components(mesh).count, 1);
  const double exact = 4 * pi / 3 * (0.125 - 0.027);
  EXPECT_NEAR(total_volume(mesh), exact, 0.05 * exact);
}

TEST(ImplicitShapes, TorusKnotIsOneClosedTube) {
  const TorusKnot knot;
  const ImplicitShape shape = torus_knot(knot);
  const Mesh mesh = mesh_of(shape, 0.06);
  expect_sound(mesh, 0);
  EXPECT_EQ(connected_components(mesh).count, 1);
  for (const int v : boundary_vertices(mesh)) EXPECT_NEAR(shape.value(mesh.vertices[v]), 0, 1e-9);
}

TEST(ImplicitShapes, GyroidBallIsOnePieceOfHighGenus) {
  const Mesh mesh = mesh_of(gyroid_ball(Vec3::Zero(), 0.5, 0.5), 0.07);
  EXPECT_GT(smallest_volume(mesh), 0);
  EXPECT_EQ(connected_components(mesh).count, 1);
  const Mesh surface = boundary_surface(mesh);
  EXPECT_TRUE(is_watertight(surface));
  EXPECT_LT(euler_characteristic(surface), -2);
}

TEST(ImplicitShapes, MetaballsMeltIntoOnePiece) {
  Metaballs balls;
  balls.centers = {Vec3(-0.3, 0, 0), Vec3(0, 0.05, 0), Vec3(0.3, 0, 0), Vec3(0, 2, 0)};  // the last one is far away
  balls.radii = {0.18};
  const ImplicitShape shape = metaballs(balls);
  const Mesh mesh = mesh_of(shape, 0.09);
  expect_sound(mesh, 2);
  EXPECT_EQ(connected_components(mesh).count, 1);
  EXPECT_LT(bounds(mesh.vertices).max.y(), 1);
  for (const int v : boundary_vertices(mesh)) EXPECT_NEAR(shape.value(mesh.vertices[v]), 0, 1e-9);
  // Blending only adds: every ball is inside.
  for (const Vec3& center : balls.centers) EXPECT_LT(shape.value(center + Vec3(0.179, 0, 0)), 0);
}

TEST(ImplicitShapes, PiercedShellHasSixHoles) {
  const Mesh mesh = mesh_of(pierced_shell({Vec3(1, 0, 0), 0.5, 0.38, 0.15}), 0.07);
  expect_sound(mesh, 2 * (1 - 5));  // two spheres joined by six tubes: genus 5
  EXPECT_EQ(connected_components(mesh).count, 1);
}

TEST(ClosedSurfaces, CubeKeepsItsEdgesAndVolume) {
  const Mesh mesh = mesh_of(ClosedSurface{cube_surface()}, 0.3);
  expect_sound(mesh, 2);
  EXPECT_NEAR(total_volume(mesh), 1, 1e-9);
  for (const Vec3& corner : cube_surface().vertices) {
    double nearest = 1;
    for (const Vec3& x : mesh.vertices) nearest = std::min(nearest, (x - corner).norm());
    EXPECT_EQ(nearest, 0);
  }
}

TEST(ClosedSurfaces, InwardSurfacesAndCavitiesAreUnderstood) {
  Mesh surface = cube_surface(), cavity = cube_surface();
  for (Vec3& x : cavity.vertices) x = Vec3::Constant(0.3) + 0.4 * x;
  append(surface, cavity);  // both point outward: the inner one is turned
  const Mesh mesh = mesh_of(ClosedSurface{surface}, 0.25);
  expect_sound(mesh, 4);
  EXPECT_NEAR(total_volume(mesh), 1 - 0.064, 1e-9);
}

TEST(Meshing, IsDeterministic) {
  const Shape shapes[] = {Sphere{}, ClosedSurface{cube_surface()}};
  for (const Shape& shape : shapes) EXPECT_TRUE(same_bits(mesh_of(shape, 0.2), mesh_of(shape, 0.2)));
}

TEST(Meshing, RefusesBadSizes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double edge : {0.0, -1.0, nan})
    EXPECT_NE(error_of(Box{}, edge).find("edge length"), std::string::npos);
  EXPECT_NE(error_of(Box{Vec3::Zero(), Vec3(1, 0, 1)}, 0.1).find("y-size of the box"), std::string::npos);
  EXPECT_NE(error_of(Sphere{Vec3::Zero(), -1}, 0.1).find("radius of the sphere"), std::string::npos);
  EXPECT_NE(error_of(Sphere{Vec3(nan, 0, 0), 1}, 0.1).find("centre of the sphere"), std::string::npos);
  EXPECT_NE(error_of(Torus{Vec3::Zero(), Vec3::Zero(), 1, 0.2}, 0.1).find("axis"), std::string::npos);
  EXPECT_NE(error_of(Torus{Vec3::Zero(), Vec3::UnitX(), 1, 1.5}, 0.1).find("smaller than its ring"),
            std::string::npos);
  EXPECT_NE(error_of(hollow_sphere(Vec3::Zero(), 0.3, 0.5), 0.1).find("thinnest"), std::string::npos);
  TorusKnot link;
  link.p = 2, link.q = 4;
  EXPECT_NE(error_of(torus_knot(link), 0.1).find("torus knot"), std::string::npos);
  EXPECT_NE(error_of(pierced_shell({Vec3::Zero(), 0.5, 0.4, 0.39}), 0.1).find("pierced shell"), std::string::npos);
  EXPECT_NE(error_of(metaballs({{Vec3::Zero(), Vec3::UnitX()}, {1, 1, 1}, 0.1}), 0.1).find("metaballs"), std::string::npos);
  MeshingOptions options;
  options.lattice = {1, 5, 5};
  EXPECT_NE(error_of(Box{}, 0.1, options).find("at least 2 nodes along x"), std::string::npos);
}

TEST(Meshing, RefusesWhatWouldNotFit) {
  EXPECT_NE(error_of(Box{}, 1e-5).find("vertices"), std::string::npos);
  EXPECT_NE(error_of(Box{}, 1e-300).find("vertices"), std::string::npos);
  EXPECT_NE(error_of(Sphere{}, 1e-5).find("vertices"), std::string::npos);
  EXPECT_NE(error_of(ClosedSurface{cube_surface()}, 1e-5).find("vertices"), std::string::npos);
}

TEST(Planar, RectangleLattice) {
  PlanarOptions options;
  options.lattice = {4, 7};
  for (const bool alternating : {true, false}) {
    options.alternating = alternating;
    const auto mesh = triangulate(Rectangle{Vec2(1, 1), Vec2(2, 3)}, 1, options);
    ASSERT_TRUE(mesh.has_value());
    EXPECT_EQ(mesh->vertices.size(), 28u);
    double area = 0;
    for (const Triangle& t : mesh->triangles) {
      EXPECT_GT(signed_area(*mesh, t), 0);
      area += signed_area(*mesh, t);
    }
    EXPECT_NEAR(area, 6, 1e-12);
    EXPECT_EQ(euler_characteristic(*mesh), 1);
    EXPECT_EQ(boundary_vertices(*mesh).size(), 2u * (4 + 7) - 4);
  }
}

TEST(Planar, DiscLiesOnTheCircle) {
  const Vec2 center(2, -1);
  const auto mesh = triangulate(Disc{center, 0.5}, 0.05);
  ASSERT_TRUE(mesh.has_value());
  EXPECT_EQ(euler_characteristic(*mesh), 1);
  EXPECT_TRUE(uses_every_vertex(*mesh));
  for (const int v : boundary_vertices(*mesh)) {
    EXPECT_NEAR((mesh->vertices[v].head<2>() - center).norm(), 0.5, 1e-12);
  }
  const QualityReport report = assess_quality(*mesh);
  EXPECT_TRUE(report.usable());
  EXPECT_EQ(report.dimension, 2);
  EXPECT_NEAR(report.volume, pi / 4, 0.01 * pi / 4);
  EXPECT_GT(report.smallest_angle, 20);
  EXPECT_NEAR(report.mean_edge, 0.05, 0.15 * 0.05);
}

TEST(Planar, PolygonWithAHole) {
  const Polygon polygon{
      {{{0, 0}, {1, 0}, {1, 0.4}, {0.4, 0.4}, {0.4, 1}, {0, 1}}, {{0.1, 0.1}, {0.3, 0.1}, {0.2, 0.3}}}};
  const auto mesh = triangulate(polygon, 0.1);
  ASSERT_TRUE(mesh.has_value()) << mesh.error().message;
  EXPECT_EQ(euler_characteristic(*mesh), 0);
  EXPECT_NEAR(assess_quality(*mesh).volume, 0.64 - 0.02, 1e-12);
  EXPECT_TRUE(assess_quality(*mesh).usable());
}

// Points on a slanted edge are rounded off it and leave slivers outside.
TEST(Planar, SlantedEdges) {
  for (const double edge : {0.3, 0.2, 0.1, 0.07}) {
    const auto mesh = triangulate(Polygon{{{{0, 0}, {1, 0}, {0, 1}}}}, edge);
    ASSERT_TRUE(mesh.has_value()) << edge << ": " << mesh.error().message;
    EXPECT_NEAR(assess_quality(*mesh).volume, 0.5, 1e-12);
    EXPECT_TRUE(assess_quality(*mesh).usable());
  }
}

TEST(Planar, RefusesBadPolygons) {
  const auto message = [](const Polygon& polygon) {
    const auto mesh = triangulate(polygon, 0.1);
    return mesh ? std::string() : mesh.error().message;
  };
  EXPECT_NE(message({{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}}}).find("crosses"), std::string::npos);
  EXPECT_NE(message({{{{0, 0}, {1, 0.9}, {1.1, 0}, {0, 1}}}}).find("from point 2 of loop 0"),
            std::string::npos);
  EXPECT_NE(message({{{{0, 0}, {1, 1}}}}).find("at least 3"), std::string::npos);
  EXPECT_NE(message({{{{0, 0}, {0, 0}, {1, 1}, {1, 0}}}}).find("the same"), std::string::npos);
  EXPECT_NE(message({}).find("no points"), std::string::npos);
}

}  // namespace
}  // namespace lope::geometry
