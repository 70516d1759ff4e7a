// Points that follow a script, and jets.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "small_scenes.h"
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

// Of the block's points those on one side of a plane, by their numbers.
std::vector<int> chosen(const MpmBody& body, const std::function<bool(const Vec3&)>& where) {
  const mpm::Filling<3> filling(body.description.parts[0], 0, body.description.dx, body.description.seed);
  std::vector<int> found;
  for (std::size_t i = 0; i < filling.size(); ++i) {
    if (where(filling.points()[i])) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<Vec3> by_number(const mpm::Particles<3>& points) {
  std::vector<Vec3> x(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) x[static_cast<std::size_t>(points.id[p])] = points.x[p];
  return x;
}

TEST(MpmScripts, PointsAreWhereTheirScriptSays) {
  MpmBody body = block(1e6);
  mpm::Script held, moved;
  held.points = chosen(body, [](const Vec3& x) { return x[0] < 0.15; });
  moved.points = chosen(body, [](const Vec3& x) { return x[0] > 0.35; });
  moved.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(0.5, 0, 0)}};
  moved.motion.angle = {{0, 1}, {0, 1.0}};
  moved.motion.pivot = Vec3(0.4, 0.2, 0.15);
  moved.begin = 0.03;  // within a step of 0.02 s
  moved.end = 0.09;
  body.description.scripts = {held, moved};
  step::Simulation simulation(model_of(body, Vec3(0, -9.81, 0)));
  const std::vector<Vec3> start = by_number(points(simulation));
  ASSERT_GT(held.points.size(), 50U);
  ASSERT_GT(moved.points.size(), 50U);
  std::vector<Vec3> caught, now;
  for (int k = 1; k <= 6; ++k) {
    const auto report = simulation.advance();
    ASSERT_TRUE(report.accepted);
    EXPECT_TRUE(report.islands[0].solve.converged());
    now = by_number(points(simulation));
    for (const int i : held.points)
      EXPECT_LT((now[static_cast<std::size_t>(i)] - start[static_cast<std::size_t>(i)]).norm(), 1e-12);
    if (k == 2) caught = now;
    if (k == 4) {  // rigidly, from where it was caught at 0.03 s
      const auto a = static_cast<std::size_t>(moved.points.front()),
                 b = static_cast<std::size_t>(moved.points.back());
      const geometry::RigidPose before = moved.motion.pose(0.01), after = moved.motion.pose(0.05);
      for (const std::size_t i : {a, b})
        EXPECT_LT((now[i] - after.place(before.unplace(caught[i]))).norm(), 1e-12);
    }
  }
  // Released at 0.09 s: it is not where it would have been carried.
  const auto i = static_cast<std::size_t>(moved.points.back());
  const Vec3 carried = moved.motion.pose(0.09).place(moved.motion.pose(0.01).unplace(caught[i]));
  EXPECT_GT((now[i] - carried).norm(), 1e-3);
}

TEST(MpmScripts, TurningEverythingStrainsNothing) {
  MpmBody body = block(1e6);
  mpm::Script turned;
  turned.points = chosen(body, [](const Vec3&) { return true; });
  turned.motion.angle = {{0, 1}, {0, std::numbers::pi}};
  turned.motion.axis = Vec3::UnitZ();
  turned.motion.pivot = Vec3(0.25, 0.2, 0.15);
  body.description.scripts = {turned};
  step::Simulation simulation(model_of(body));
  const std::vector<Vec3> start = by_number(points(simulation));
  for (int k = 0; k < 10; ++k) ASSERT_TRUE(simulation.advance().accepted);
  const geometry::RigidPose pose = turned.motion.pose(0.2);
  const auto& end = points(simulation);
  for (std::size_t p = 0; p < end.size(); ++p) {
    EXPECT_LT((end.x[p] - pose.place(start[static_cast<std::size_t>(end.id[p])])).norm(), 1e-10);
    EXPECT_LT((end.F[p] - pose.rotation).norm(), 1e-10);
  }
}

TEST(MpmJets, FillTheirShapeAsOftenAsItHasEmptied) {
  MpmBody body = block(1e6);
  mpm::Part& jet = body.description.parts[0];
  jet.shape = box(Vec3(0, 0, 0), Vec3(0.3, 0.2, 0.2));
  jet.velocity = Vec3(2, 0, 0);
  jet.jet = mpm::Jet{0.05, 0.5};
  EXPECT_NEAR(mpm::jet_period(jet), 0.15, 1e-12);
  step::Simulation simulation(model_of(body));
  const std::size_t each = mpm::Filling<3>(jet, 0, 0.1, 1).size();
  EXPECT_EQ(points(simulation).size(), 0U);
  std::vector<std::size_t> count;
  for (int k = 1; k <= 32; ++k) {  // 0.64 s
    const auto report = simulation.advance();
    ASSERT_TRUE(report.accepted);
    EXPECT_EQ(report.bodies[0].count("particles"), static_cast<std::int64_t>(points(simulation).size()));
    count.push_back(points(simulation).size());
  }
  EXPECT_EQ(count[1], 0U);            // 0.04 s
  EXPECT_EQ(count[2], each);          // 0.06 s
  EXPECT_EQ(count[9], each);          // 0.20 s, the next is due now
  EXPECT_EQ(count[10], 2 * each);     // 0.22 s
  EXPECT_EQ(count.back(), 3 * each);  // at 0.05, 0.2 and 0.35 s; not at 0.5 s
  // A beam of uniform density that has come 2 m/s × (0.64 − 0.05) s far.
  const auto& end = points(simulation);
  double mass = 0, least = 1e300, most = 0;
  std::vector<std::int32_t> ids(end.id.begin(), end.id.end());
  std::sort(ids.begin(), ids.end());
  for (std::size_t p = 0; p < end.size(); ++p) {
    mass += end.mass[p];
    least = std::min(least, end.x[p][0]);
    most = std::max(most, end.x[p][0]);
    EXPECT_LT((end.v[p] - Vec3(2, 0, 0)).norm(), 1e-9);
    EXPECT_LT((end.F[p] - Mat3::Identity()).norm(), 1e-9);
    EXPECT_EQ(ids[p], static_cast<std::int32_t>(p));
  }
  EXPECT_NEAR(mass, 3 * 0.3 * 0.2 * 0.2 * 1000, 1e-6 * mass);
  EXPECT_NEAR(most, 2 * 0.59 + 0.3, 0.04);
  EXPECT_NEAR(least, 2 * 0.29, 0.04);
}

TEST(MpmJets, GoOnAlikeAfterResuming) {
  MpmBody body = block(1e5);
  body.description.parts.push_back(part(box(Vec3(0.1, 0.6, 0.1), Vec3(0.3, 0.7, 0.2)), elastic(1e5)));
  body.description.parts.back().velocity = Vec3(0, -3, 0);
  body.description.parts.back().jet = mpm::Jet{};
  step::Model model = model_of(body, Vec3(0, -9.81, 0));
  add_floor(model, 0.05, mpm::Boundary::Sticky);
  step::Simulation one(model), resumed(model);
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(one.advance().accepted);
  ASSERT_TRUE(resumed.restore(one.state()).has_value());
  const std::size_t before = points(one).size();
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(one.advance().accepted);
    ASSERT_TRUE(resumed.advance().accepted);
  }
  EXPECT_GT(points(one).size(), before);
  EXPECT_EQ(points(one).x, points(resumed).x);
  EXPECT_EQ(points(one).id, points(resumed).id);
  ASSERT_TRUE(one.take_back());
  ASSERT_TRUE(one.advance().accepted);
  EXPECT_EQ(points(one).x, points(resumed).x);
}

}  // namespace
}  // namespace lope::matter
