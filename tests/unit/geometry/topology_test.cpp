#include <lope/base/random.h>
#include <lope/geometry/partition.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/transform.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "mesh_checks.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

Mesh box(int n) {
  MeshingOptions options;
  options.lattice = {n, n, n};
  return *tetrahedralize(Box{}, 1, options);
}

Mesh two_boxes() {
  Mesh mesh = box(3), other = box(4);
  translate(other, Vec3(5, 0, 0));
  append(mesh, other);
  return mesh;
}

TEST(Topology, CountsComponentsAndUnusedVertices) {
  Mesh mesh = two_boxes();
  mesh.vertices.emplace_back(0, 0, 0);
  const Components components = connected_components(mesh);
  EXPECT_EQ(components.count, 2);
  EXPECT_EQ(components.of_vertex.front(), 0);
  EXPECT_EQ(components.of_vertex[30], 1);
  EXPECT_EQ(components.of_vertex.back(), -1);
  EXPECT_FALSE(uses_every_vertex(mesh));
  const std::vector<int> new_index = drop_unused_vertices(mesh);
  EXPECT_EQ(new_index.back(), -1);
  EXPECT_EQ(new_index[30], 30);
  EXPECT_TRUE(uses_every_vertex(mesh));
}

TEST(Topology, KeepsTheLargestComponentWithItsRegions) {
  Mesh mesh = two_boxes();
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) mesh.region.push_back(static_cast<int>(t));
  keep_largest_component(mesh);
  EXPECT_EQ(mesh.vertices.size(), 64u);
  EXPECT_EQ(mesh.tetrahedra.size(), 135u);
  EXPECT_EQ(mesh.region.size(), 135u);
  EXPECT_EQ(mesh.region.front(), 40);
  EXPECT_NEAR(bounds(mesh.vertices).min.x(), 4.5, 1e-15);
}

RC_GTEST_PROP(Topology, SpatialOrderDoesNotDependOnTheOrderGiven, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
  Mesh sorted = box(3);
  Mesh shuffled;
  std::vector<int> order(sorted.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return random_bits(seed, a) < random_bits(seed, b); });
  std::vector<int> new_index(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    shuffled.vertices.push_back(sorted.vertices[order[i]]);
    new_index[order[i]] = static_cast<int>(i);
  }
  for (std::size_t e = 0; e < sorted.tetrahedra.size(); ++e) {
    Tetrahedron t = sorted.tetrahedra[e];
    for (int& v : t) v = new_index[v];
    const int turn = static_cast<int>(random_bits(seed, 1000 + e) % 4);
    if (turn > 0) {
      std::swap(t[0], t[turn]);
      std::swap(t[1 + turn % 3], t[1 + (turn + 1) % 3]);
    }
    shuffled.tetrahedra.insert(shuffled.tetrahedra.begin(), t);
  }
  RC_ASSERT(smallest_volume(shuffled) > 0);
  sort_spatially(sorted);
  sort_spatially(shuffled);
  RC_ASSERT(same_bits(sorted, shuffled));
  RC_ASSERT(smallest_volume(sorted) > 0);
}

TEST(Partition, IsBalancedCompleteAndRepeatable) {
  const Mesh mesh = box(9);
  for (const int parts : {1, 2, 7}) {
    const auto partition = partition_elements(mesh, parts);
    ASSERT_TRUE(partition.has_value());
    ASSERT_EQ(partition->size(), mesh.tetrahedra.size());
    std::vector<int> sizes(parts, 0);
    for (const int part : *partition) {
      ASSERT_GE(part, 0);
      ASSERT_LT(part, parts);
      ++sizes[part];
    }
    const double mean = static_cast<double>(mesh.tetrahedra.size()) / parts;
    for (const int size : sizes) EXPECT_NEAR(size, mean, 0.1 * mean + 1);
    EXPECT_EQ(*partition, *partition_elements(mesh, parts));
  }
}

TEST(Partition, CutsFewFaces) {
  const Mesh mesh = *triangulate(Rectangle{Vec2::Zero(), Vec2(4, 1)}, 0.1);
  const auto partition = partition_elements(mesh, 2);
  ASSERT_TRUE(partition.has_value());
  Mesh half = mesh;
  half.triangles.clear();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if ((*partition)[t] == 0) half.triangles.push_back(mesh.triangles[t]);
  }
  // Half of the rim of 100 edges, and a cut of about 10.
  EXPECT_LT(boundary_edges(half.triangles).size(), 80u);
}

TEST(Partition, RefusesMorePartsThanElements) {
  EXPECT_FALSE(partition_elements(box(2), 6).has_value());
  EXPECT_FALSE(partition_elements(box(2), 0).has_value());
  EXPECT_FALSE(partition_elements(Mesh{}, 1).has_value());
}

TEST(Transform, FitsTheLargestExtent) {
  Mesh mesh = *tetrahedralize(Box{Vec3(7, -3, 2), Vec3(0.3, 0.6, 0.1)}, 0.1);
  mesh = *fitted(std::move(mesh), 1);
  const Bounds box = bounds(mesh.vertices);
  EXPECT_EQ(box.min, Vec3(0, 0, 0));
  EXPECT_EQ(box.max.y(), 1);
  EXPECT_NEAR(box.max.x(), 0.5, 1e-14);
  EXPECT_FALSE(fitted(Mesh{}, 1).has_value());
  EXPECT_FALSE(fitted(mesh, 0).has_value());
  EXPECT_FALSE(fitted(mesh, std::numeric_limits<double>::infinity()).has_value());
}

TEST(Transform, MirroringKeepsTetrahedraPositive) {
  const Mat3 mirror = Vec3(-2, 1, 1).asDiagonal();
  const auto mesh = transformed(box(3), mirror, Vec3(1, 0, 0));
  ASSERT_TRUE(mesh.has_value());
  EXPECT_GT(smallest_volume(*mesh), 0);
  EXPECT_NEAR(total_volume(*mesh), 2, 1e-14);
  EXPECT_FALSE(transformed(box(3), Vec3(1, 0, 1).asDiagonal().toDenseMatrix()).has_value());
}

TEST(Transform, RotationIsRigid) {
  Mesh mesh = box(3);
  rotate(mesh, Vec3(0, 0, 5), std::numbers::pi / 2, Vec3(0.5, 0.5, 0));
  EXPECT_LT((mesh.vertices[0] - Vec3(1.5, -0.5, -0.5)).norm(), 1e-15);
  EXPECT_NEAR(total_volume(mesh), 1, 1e-14);
}

}  // namespace
}  // namespace lope::geometry
