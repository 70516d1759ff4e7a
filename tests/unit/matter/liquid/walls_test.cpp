#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/walls.h>

#include <cmath>
#include <limits>

#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::matter::liquid {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Walls at_rest(const geometry::LevelSetPtr& shape) { return Walls({Wall{shape, {}, {}, 0.01, false}}); }

geometry::LevelSetPtr plate(double middle, double thickness, int axis) {
  geometry::Box box;
  box.size = Vec3::Constant(100);
  box.size[axis] = thickness;
  box.center[axis] = middle;
  return *geometry::level_set(box);
}

// Number of layers of faces along the axis that are fully closed, in a brick of unit cells; −1 if a layer is
// partly open.
template <int Dim>
int closed_layers(const BrickWalls<Dim>& brick, int axis) {
  int layers = 0;
  for (int k = 0; k < 8; ++k) {
    int closed = 0, count = 0;
    for (std::size_t c = 0; c < BrickWalls<Dim>::cells; ++c) {
      int at = static_cast<int>(c);
      for (int a = 0; a < axis; ++a) at /= 8;
      if (at % 8 != k) continue;
      ++count;
      closed += brick.open[static_cast<std::size_t>(axis)][c] == 0;
    }
    if (closed > 0 && closed < count) return -1;
    layers += closed > 0;
  }
  return layers;
}

RC_GTEST_PROP(ThinWalls, CloseOneLayerWhereverTheyAre, ()) {
  const double middle = 2 + 4 * *rc::gen::inRange(0, 100001) / 1e5;
  const double thickness = 0.002 + 0.9 * *rc::gen::inRange(0, 100001) / 1e5;
  const int axis = *rc::gen::inRange(0, 3);
  const auto sampled = sample_brick<3>(at_rest(plate(middle, thickness, axis)), Vec3::Zero(), 1);
  const auto& wall = *sampled;
  RC_ASSERT(closed_layers<3>(wall, axis) == 1);
  RC_ASSERT(wall.thin);
  if (axis < 2)
    RC_ASSERT(closed_layers<2>(*sample_brick<2>(at_rest(plate(middle, thickness, axis)), Vec2::Zero(), 1),
                               axis) == 1);
}

TEST(Walls, WallsOnTheGridCloseTheirFacesAndNoOthers) {
  geometry::Box box{Vec3(4, 4, 0), Vec3(8, 8, infinity)};
  const Walls walls = at_rest(geometry::complement_of(*geometry::level_set(box)));
  const auto sampled = sample_brick<2>(walls, Vec2::Zero(), 1);
  const auto& brick = *sampled;
  ASSERT_FALSE(brick.free);
  for (std::size_t c = 0; c < 64; ++c) {
    EXPECT_EQ(brick.open[0][c], c % 8 == 0 ? 0 : 1);
    EXPECT_EQ(brick.open[1][c], c / 8 == 0 ? 0 : 1);
    EXPECT_EQ(brick.volume[c], 1);
  }
  const auto outside = sample_brick<2>(walls, Vec2(8, 0), 1);
  for (std::size_t c = 0; c < 64; ++c) EXPECT_EQ(outside->volume[c], 0);
}

TEST(Walls, FarBricksAreFree) {
  const Walls walls = at_rest(*geometry::level_set(geometry::Sphere{Vec3(100, 0, 0), 3}));
  EXPECT_TRUE(sample_brick<3>(walls, Vec3::Zero(), 1)->free);
  EXPECT_TRUE(sample_brick<3>(Walls(), Vec3::Zero(), 1)->free);
}

TEST(Walls, OpenVolumeOfABallIsThatOfTheRest) {
  const Walls walls = at_rest(*geometry::level_set(geometry::Sphere{Vec3(4, 4, 4), 3}));
  const auto sampled = sample_brick<3>(walls, Vec3::Zero(), 1);
  const auto& brick = *sampled;
  double open = 0;
  for (const double volume : brick.volume) open += volume;
  // φ is taken as linear between corners, which cuts the caps off: 6 % of a ball of three cells' radius.
  EXPECT_NEAR(open, 512 - 4.0 / 3 * 3.14159265 * 27, 7.0);
}

TEST(Walls, MovingWallsHandOnTheirVelocity) {
  Wall wall{plate(4, 2, 0), {}, {}, 0.5, true};
  wall.after.translation = Vec3(0.5, 0, 0);
  const auto sampled = sample_brick<2>(Walls({wall}), Vec2::Zero(), 1);
  const auto& brick = *sampled;
  int moving = 0;
  for (std::size_t c = 0; c < 64; ++c) {
    if (brick.open[0][c] > 0) continue;
    EXPECT_NEAR(brick.face_velocity[0][c], 1, 1e-12);
    ++moving;
  }
  EXPECT_GT(moving, 0);
}

// A wall fills a tenth of the cells at x = 4; a plate that moves along y comes over them. Only what it covers
// of the rest moves.
// A turn by 20° about a point: that point rests, the divergence is zero, and points move at the angular speed, but for
// terms of the order of the angle's square.
TEST(Walls, TurningWallsMoveLikeRigidBodies) {
  constexpr double angle = 0.35, duration = 0.1;
  const Vec3 pivot(0.3, -0.2, 0.7), axis = Vec3(1, 2, -1).normalized();
  Wall wall{plate(4, 2, 0), {}, {}, 0, true};
  wall.before.rotation = Eigen::AngleAxisd(0.8, Vec3::UnitX()).toRotationMatrix();
  wall.before.translation = Vec3(1, 2, 3);
  const Mat3 turn = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
  wall.after.rotation = turn * wall.before.rotation;
  wall.after.translation = pivot + turn * (wall.before.translation - pivot);
  wall.duration = duration;
  const Walls walls({wall});
  EXPECT_LT(walls.velocity(pivot, 0).norm(), 1e-12);
  const Vec3 at(0.9, 0.1, 0.4);
  double divergence = 0;
  for (int a = 0; a < 3; ++a)
    divergence += (walls.velocity(at + Vec3::Unit(a), 0) - walls.velocity(at, 0))[a];
  EXPECT_LT(std::abs(divergence), 1e-12);
  const Vec3 expected = std::sin(angle) / duration * axis.cross(at - pivot);
  EXPECT_LT((walls.velocity(at, 0) - expected).norm(), 1e-12);
}

TEST(Walls, WhatAWallClosesAlreadyDoesNotMove) {
  const Wall wall{plate(4.9 + 5, 10, 0), {}, {}, 0.5, false};
  Wall vane{plate(2, 2, 1), {}, {}, 0.5, true};
  vane.after.translation = Vec3(0, 0.5, 0);
  const auto brick = sample_brick<2>(Walls({wall, vane}), Vec2::Zero(), 1);
  const auto face = [](int x, int y) { return static_cast<std::size_t>(x + 8 * y); };
  EXPECT_NEAR(brick->open[1][face(4, 2)], 0, 1e-12);            // both
  EXPECT_NEAR(brick->face_velocity[1][face(4, 2)], 0.9, 1e-9);  // of the wall's open 0.9
  EXPECT_NEAR(brick->face_velocity[1][face(3, 2)], 1, 1e-9);    // the vane alone
  EXPECT_NEAR(brick->face_velocity[1][face(4, 6)], 0, 1e-12);   // the wall alone
  EXPECT_NEAR(brick->open[1][face(4, 6)], 0.9, 1e-9);
}

// A plate overtakes what is slower and lets go what is faster; what comes towards it does not get through.
TEST(Walls, MovingPlatesStopWhatMeetsThem) {
  Wall wall{plate(4, 0.02, 0), {}, {}, 0.5, true};
  wall.after.translation = Vec3(0.5, 0, 0);
  const Walls walls({wall});
  const auto end = [&](double from, double to) {
    return walls.stopped(Vec3(from, 1, 1), Vec3(to, 1, 1), 0.05).x();
  };
  EXPECT_NEAR(end(4.05, 4.2), 4.51, 0.06);
  EXPECT_EQ(end(4.05, 5.5), 5.5);
  EXPECT_NEAR(end(5, 4), 4.51, 0.06);
  EXPECT_EQ(end(3.9, 4.3), 4.3);
  EXPECT_NEAR(end(3.9, 5), 4.49, 0.06);
}

TEST(Walls, PushOutAndFirstHit) {
  const Walls walls = at_rest(plate(4, 0.02, 0));
  EXPECT_GE(walls.distance(walls.push_out(Vec3(4.005, 1, 1), 0.1)), 0.1 - 1e-9);
  const double hit = walls.first_hit(Vec3(3, 0, 0), Vec3(5, 0, 0), 0.05);
  EXPECT_NEAR(3 + 2 * hit, 3.99, 0.06);
  EXPECT_EQ(walls.first_hit(Vec3(3, 0, 0), Vec3(3, 5, 0), 0.05), 1);
}

}  // namespace
}  // namespace lope::matter::liquid
