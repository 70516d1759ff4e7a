// Loads add up to what they say.
#include <lope/geometry/shapes.h>
#include <lope/matter/solid/solid.h>

#include <gtest/gtest.h>
#include <support/vectors.h>

namespace lope::matter {
namespace {

SolidBody cube() {
  SolidBody body;
  geometry::MeshingOptions options;
  options.lattice = {4, 4, 4};
  body.mesh = geometry::tetrahedralize(geometry::Box{Vec3::Zero(), Vec3(2, 2, 2)}, 1, options).value();
  return body;
}

struct Sum {
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};

Sum act(const SolidBody& body, double time = 0) {
  std::vector<double> x, f(3 * body.mesh.vertices.size(), 0.0);
  for (const Vec3& p : body.mesh.vertices) x.insert(x.end(), p.data(), p.data() + 3);
  add_loads(body.loads, body.dimension, x, time, f);
  Sum sum;
  for (std::size_t i = 0; i < body.mesh.vertices.size(); ++i) {
    const Vec3 force(f[3 * i], f[3 * i + 1], f[3 * i + 2]);
    sum.force += force;
    sum.torque += body.mesh.vertices[i].cross(force);
  }
  return sum;
}

Load on(const SolidBody& body, const auto& chosen) {
  Load load;
  for (std::size_t i = 0; i < body.mesh.vertices.size(); ++i) {
    if (chosen(body.mesh.vertices[i])) load.vertices.push_back(static_cast<int>(i));
  }
  spread(body.mesh.vertices, surface_faces(body), load);
  return load;
}

const auto top = [](const Vec3& p) { return p[1] > 1 - 1e-9; };
const auto everywhere = [](const Vec3&) { return true; };

TEST(Loads, ForceTractionAndTorqueAddUp) {
  SolidBody body = cube();
  body.loads = {on(body, top)};
  EXPECT_NEAR(body.loads[0].total_area, 4, 1e-12);
  body.loads[0].force = Vec3(1, 2, 3);
  EXPECT_LT((act(body).force - Vec3(1, 2, 3)).norm(), 1e-12);
  body.loads[0].force.setZero();
  body.loads[0].traction = Vec3(0, 0, 5);
  EXPECT_LT((act(body).force - Vec3(0, 0, 20)).norm(), 1e-12);
  body.loads[0].traction.setZero();
  body.loads[0].torque = Vec3(0, 7, 0);
  EXPECT_LT(act(body).force.norm(), 1e-12);
  EXPECT_LT((act(body).torque - Vec3(0, 7, 0)).norm(), 1e-12);
}

TEST(Loads, PressurePushesInwardsAndBalancesOnAClosedSurface) {
  SolidBody body = cube();
  body.loads = {on(body, top)};
  body.loads[0].pressure = 3;
  EXPECT_LT((act(body).force - Vec3(0, -12, 0)).norm(), 1e-12);
  body.loads = {on(body, everywhere)};
  body.loads[0].pressure = 3;
  EXPECT_LT(act(body).force.norm(), 1e-12);
  EXPECT_LT(act(body).torque.norm(), 1e-12);
}

TEST(Loads, FollowTheirScriptAndTheirTimes) {
  SolidBody body = cube();
  body.loads = {on(body, top)};
  body.loads[0].force = Vec3(2, 0, 0);
  body.loads[0].factor = {{0, 1}, {0, 1}, geometry::AfterLastKey::Hold};
  body.loads[0].begin = 1;
  body.loads[0].end = 3;
  EXPECT_EQ(act(body, 0.5).force.norm(), 0);
  EXPECT_NEAR(act(body, 1.5).force[0], 1, 1e-12);
  EXPECT_NEAR(act(body, 2.5).force[0], 2, 1e-12);
  EXPECT_EQ(act(body, 3.5).force.norm(), 0);
}

TEST(Loads, RoundingOfTimesDoesNotDecide) {
  SolidBody body = cube();
  body.loads = {on(body, top)};
  body.loads[0].force = Vec3(2, 0, 0);
  body.loads[0].begin = 0.2;
  body.loads[0].end = 0.3;
  std::vector<double> x, f(3 * body.mesh.vertices.size(), 0.0);
  for (const Vec3& p : body.mesh.vertices) x.insert(x.end(), p.data(), p.data() + 3);
  const double late = 0.1 + 0.1 + 0.1;  // a little more than 0.3
  ASSERT_GT(late, body.loads[0].end);
  add_loads(body.loads, 3, x, late, f, 1e-7);
  EXPECT_GT(linalg::norm(f), 0);
}

TEST(Loads, AFewVerticesWithoutASurfaceShareAForceEvenly) {
  SolidBody body = cube();
  Load load;
  load.vertices = {0, 1};
  spread(body.mesh.vertices, surface_faces(body), load);
  EXPECT_TRUE(load.faces.empty());
  EXPECT_EQ(load.share, (std::vector<double>{0.5, 0.5}));
}

}  // namespace
}  // namespace lope::matter
