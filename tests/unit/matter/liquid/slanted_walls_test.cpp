// Walls at any angle to the grid: containers that stand, turn and close.
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/liquid.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

namespace lope::matter::liquid {
namespace {

using std::numbers::pi;

// A cube (2D: a square) of side 1 about the origin.
geometry::Box cube(int dimension) {
  geometry::Box made = geometry::box_between(Vec3::Constant(-0.5), Vec3::Constant(0.5));
  if (dimension == 2) made.size.z() = std::numeric_limits<double>::infinity();
  return made;
}

geometry::RigidPose turned(double angle) {
  geometry::RigidPose pose;
  pose.rotation = Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix();
  return pose;
}

struct Tank {
  int dimension = 2;
  int cells = 24;       // along a side
  double rate = 0;      // of the walls, rad/s about z
  double angle = 0;     // of the walls at time 0
  double height = 1e9;  // of the filling, from the middle
  double spin = 0;      // of the liquid at time 0, rad/s

  Description description() const {
    Description made;
    made.dimension = dimension;
    made.dx = 1.0 / cells;
    made.origin = Vec3::Constant(-0.5);
    made.domain = {Vec3::Constant(-1), Vec3::Constant(1)};
    const auto inside = geometry::moved(*geometry::level_set(cube(dimension)), turned(angle));
    made.walls.push_back({geometry::complement_of(inside), [turn = rate](double time) { return turned(turn * time); }});
    Source source{inside};
    if (height < 1) {
      geometry::Box lower = geometry::box_between(Vec3::Constant(-1), Vec3(1, height, 1));
      if (dimension == 2) lower.size.z() = std::numeric_limits<double>::infinity();
      source.shape = *geometry::level_set(lower);
    }
    source.angular_velocity = Vec3(0, 0, spin);
    made.sources.push_back(source);
    return made;
  }
};

// Of the full tank when it turns like a rigid body, J (2D: J/m).
double rigid_energy(double rate) { return 0.5 * 1000 / 6.0 * rate * rate; }

// The speed of the corners of the tank.
double corner_speed(double rate) { return std::abs(rate) * std::sqrt(0.5); }

// Every step converges, no particle is lost.
std::vector<Report> run(const Description& description, int steps, double h = 1.0 / 30) {
  const auto liquid = make_liquid(description);
  State state = liquid->start();
  const std::size_t count = state.count();
  std::vector<Report> reports;
  for (int k = 0; k < steps; ++k) {
    reports.push_back(liquid->advance(state, k * h, h));
    const Report& report = reports.back();
    EXPECT_TRUE(report.converged) << "step " << k << ": " << report.reason;
    EXPECT_EQ(state.count(), count) << "step " << k;
    if (!report.accepted) break;
  }
  return reports;
}

// A liquid without friction that starts at rest does not turn with the tank. It moves in a potential flow, the warping
// function of Saint-Venant's torsion: its energy is (1 − J/I) = 0.1565 of the rigid rotation's, J = 0.14058 a⁴ the torsion
// constant of a square and I = a⁴/6. The grid adds a little rotation (measured: 0.149 after the first step, 0.184 after
// two seconds).
TEST(SlantedWalls, AFullTankThatTurnsStaysSealed) {
  for (const bool separating : {true, false}) {
    for (const double degrees : {30.0, 180.0}) {
      Tank tank;
      tank.rate = degrees * pi / 180;
      Description made = tank.description();
      made.separating = separating;
      for (const Report& report : run(made, 60)) {
        EXPECT_EQ(report.enclosed_regions, 1);
        EXPECT_EQ(report.squeezed_volume, 0);
        EXPECT_LT(report.largest_speed, 1.05 * corner_speed(tank.rate));
        EXPECT_NEAR(report.kinetic, 0.1565 * rigid_energy(tank.rate), 0.04 * rigid_energy(tank.rate));
        EXPECT_GT(report.covered_volume, 0.95);
      }
    }
  }
}

// What turns with the tank from the start goes on to do so: it never has more energy, and the grid takes less than a
// quarter of it away in two seconds.
TEST(SlantedWalls, RigidRotationIsKept) {
  Tank tank;
  tank.rate = tank.spin = pi;
  for (const Report& report : run(tank.description(), 60)) {
    EXPECT_LT(report.kinetic, 1.02 * rigid_energy(tank.rate));
    EXPECT_GT(report.kinetic, 0.75 * rigid_energy(tank.rate));
    EXPECT_LT(report.largest_speed, 1.05 * corner_speed(tank.rate));
  }
}

// Full and half full, in space as in the plane: less energy than that of the rigid rotation of a full tank, and nothing is
// faster than a fall through the tank on top of its corners.
TEST(SlantedWalls, TurningTanksMakeNoJets) {
  for (const int dimension : {2, 3}) {
    for (const double height : {0.0, 0.45, 1e9}) {
      Tank tank;
      tank.dimension = dimension;
      tank.cells = dimension == 2 ? 24 : 12;
      tank.height = height;
      tank.rate = pi;
      for (const Report& report : run(tank.description(), 45)) {
        EXPECT_LT(report.kinetic, 0.5 * rigid_energy(tank.rate)) << dimension << "D, filled to " << height;
        EXPECT_LT(report.largest_speed, corner_speed(tank.rate) + std::sqrt(2 * 9.81)) << dimension << "D, filled to " << height;
      }
    }
  }
}

// Hardly anything moves, whatever the angle: on the mean less than 6 cm/s (1 J), half a percent of a fall through the tank's
// height by energy. What does is particles that find their places beside the walls.
TEST(SlantedWalls, WaterAtRestStaysAtRestAtAnyAngle) {
  for (const double degrees : {3.0, 10.0, 20.0, 30.0, 40.0}) {
    for (const double height : {0.1, 1e9}) {
      Tank tank;
      tank.angle = degrees * pi / 180;
      tank.height = height;
      const auto reports = run(tank.description(), 60);
      const double potential = reports.front().potential;
      for (const Report& report : reports) {
        EXPECT_LT(report.largest_speed, height < 1 ? 0.2 : 0.04) << degrees << "°, filled to " << height;
        EXPECT_LT(report.kinetic, 1) << degrees << "°, filled to " << height;
        EXPECT_NEAR(report.potential, potential, 0.005 * 1000 * 9.81);
      }
    }
  }
}

// As Liquid.APistonSqueezesSealedLiquid, in a ball.
TEST(SlantedWalls, APistonSqueezesLiquidInARoundContainer) {
  constexpr double speed = 0.2, start = -0.3, h = 1.0 / 30;
  for (const int dimension : {2, 3}) {
    for (const bool sealed : {true, false}) {
      Description made = Tank{.dimension = dimension, .cells = 20}.description();
      const auto inside = *geometry::level_set(geometry::Sphere{Vec3::Zero(), 0.5});
      geometry::Box piston = geometry::box_between(Vec3(-1.5, -1, -1), Vec3(start, 1, 1));
      geometry::Box lower = geometry::box_between(Vec3::Constant(-1), Vec3(1, 0.2, 1));
      if (dimension == 2) piston.size.z() = lower.size.z() = std::numeric_limits<double>::infinity();
      made.walls = {{geometry::complement_of(inside), [](double) { return geometry::RigidPose(); }},
                     {*geometry::level_set(piston), [](double time) {
                        geometry::RigidPose pose;
                        pose.translation.x() = speed * time;
                        return pose;
                      }}};
      made.sources.front().shape = sealed ? inside : *geometry::level_set(lower);
      const auto liquid = make_liquid(made);
      State state = liquid->start();
      for (int k = 0; k < 6; ++k) {
        const Report report = liquid->advance(state, k * h, h);
        ASSERT_TRUE(report.accepted) << report.reason;
        ASSERT_EQ(report.converged, !sealed) << dimension << "D, step " << k << ": " << report.reason;
        if (!sealed) continue;
        const double x = start + speed * k * h, half_chord = std::sqrt(0.25 - x * x);
        const double swept = speed * (dimension == 2 ? 2 * half_chord : pi * half_chord * half_chord);
        EXPECT_NEAR(report.squeeze.flux, swept, 0.12 * swept) << dimension << "D, step " << k;
      }
    }
  }
}

}  // namespace
}  // namespace lope::matter::liquid
