// Positions by backward Euler: exact for affine motions, a solution of its equation, and never inside an obstacle.
#include <lope/base/parallel.h>
#include <lope/matter/mpm/positions.h>
#include <lope/matter/mpm/transfers.h>

#include <cmath>
#include <functional>

#include "small_scenes.h"
#include <Eigen/LU>
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

using mpm::Boundary;

struct Cloud {
  explicit Cloud(double dx) : grid(dx) {}
  mpm::Grid<3> grid;
  mpm::Particles<3> particles;
  std::vector<double> velocity;
};

// The points of a block, and nodes that move with a field.
Cloud cloud(const std::function<Vec3(const Vec3&)>& field) {
  const MpmBody body = block(1e5);
  Cloud made(body.description.dx);
  mpm::Filling<3>(body.description.parts[0], 0, made.grid.dx(), 1).start(made.particles);
  made.grid.build(made.particles, std::vector<int>{0});
  for (std::size_t i = 0; i < made.grid.nodes(); ++i) {
    const Vec3 v = field(made.grid.position(i));
    made.velocity.insert(made.velocity.end(), v.data(), v.data() + 3);
  }
  return made;
}

TEST(MpmPositions, AffineMotionsAreExactToTheRim) {
  Mat3 A;
  A << 0.2, -1, 0.3, 1.1, 0.1, 0, -0.4, 0.2, -0.3;
  const Vec3 c(1, -2, 0.5);
  const Cloud moving = cloud([&](const Vec3& x) -> Vec3 { return A * x + c; });
  const double h = 0.02;
  std::vector<Vec3> where;
  const auto counts =
      mpm::backward_positions<3>(moving.grid, World{}, {}, 0, h, moving.velocity, moving.particles, where);
  EXPECT_EQ(counts.unsolved, 0);
  EXPECT_EQ(counts.stopped, 0);
  const Mat3 solution = (Mat3::Identity() - h * A).inverse();
  ASSERT_EQ(where.size(), moving.particles.size());
  for (std::size_t p = 0; p < where.size(); ++p)
    EXPECT_LT((where[p] - solution * (moving.particles.x[p] + h * c)).norm(), 1e-9);
}

// A fast and crooked field, up to 0.8 cells a step: solved nevertheless, and in the middle of the block, where every node has its own
// velocity, by positions that satisfy the equation with the spline of the field.
TEST(MpmPositions, SatisfyTheirEquation) {
  const auto field = [](const Vec3& x) {
    return Vec3(std::sin(9 * x[1]), std::cos(7 * x[0]), std::sin(8 * x[0] + 5 * x[2]));
  };
  const Cloud moving = cloud(field);
  const double h = 0.05, dx = moving.grid.dx();
  std::vector<Vec3> where;
  const auto counts =
      mpm::backward_positions<3>(moving.grid, World{}, {}, 0, h, moving.velocity, moving.particles, where);
  EXPECT_EQ(counts.unsolved, 0);
  const auto weight = [](double t) {
    t = std::abs(t);
    return t < 0.5 ? 0.75 - t * t : t < 1.5 ? 0.5 * (1.5 - t) * (1.5 - t) : 0.0;
  };
  int tested = 0;
  for (std::size_t p = 0; p < where.size(); ++p) {
    Vec3 v = Vec3::Zero();
    bool all_own = true;
    const Vec3 first = (where[p] / dx).array().round() - 1;
    for (int k = 0; k < 27; ++k) {
      const Vec3 node = first + Vec3(k / 9, k / 3 % 3, k % 3);
      const int number =
          moving.grid.find({static_cast<int>(node[0]), static_cast<int>(node[1]), static_cast<int>(node[2])});
      all_own &=
          number >= 0 && moving.grid.masses()[static_cast<std::size_t>(number)] >= moving.particles.mass[p];
      const Vec3 from = where[p] / dx - node;
      v += weight(from[0]) * weight(from[1]) * weight(from[2]) * field(dx * node);
    }
    if (!all_own) continue;
    ++tested;
    EXPECT_LT((where[p] - moving.particles.x[p] - h * v).norm(), 2e-9);
  }
  EXPECT_GT(tested, 50);
}

double deepest(const step::Model& model, const step::Simulation& simulation) {
  double depth = 0;
  for (const Obstacle& obstacle : model.obstacles) {
    const geometry::RigidPose pose = obstacle.pose(simulation.state().time);
    for (const Vec3& x : points(simulation).x)
      depth = std::max(depth, -obstacle.shape->value(pose.unplace(x)));
  }
  return depth;
}

// A soft block is thrown onto a floor, onto a ball and into an edge, in long steps. Forward it goes in, backward never.
TEST(MpmPositions, NeverEndInsideAnObstacle) {
  for (const Boundary kind : {Boundary::Sticky, Boundary::Slip, Boundary::Separating}) {
    for (const mpm::Stepping stepping : {mpm::Stepping::Implicit, mpm::Stepping::Explicit}) {
      double forward = 0;
      for (const mpm::Positions positions : {mpm::Positions::Forward, mpm::Positions::Backward}) {
        MpmBody body = block(2e4);
        body.description.parts[0].velocity = Vec3(1, -3, 0);
        body.description.positions = positions;
        body.description.stepping = stepping;
        body.description.boundaries = {kind, kind, kind};
        step::Model model = model_of(body, Vec3(0, -9.81, 0));
        model.obstacles = {obstacle(floor_at(-0.13), 0.3),
                           obstacle(box(Vec3(0.57, -1, -1), Vec3(2, 2, 2)), 0.3),
                           obstacle(*geometry::level_set(geometry::Sphere{Vec3(0.2, -0.2, 0.1), 0.15}), 0.3)};
        step::Simulation simulation(model);
        std::int64_t stopped = 0;
        double most = 0;
        ASSERT_EQ(deepest(model, simulation), 0);
        for (int k = 0; k < 12; ++k) {
          const auto report = simulation.advance();
          ASSERT_TRUE(report.accepted);
          stopped += report.bodies[0].count("stopped_positions");
          EXPECT_EQ(report.bodies[0].count("unsolved_positions"), 0);
          most = std::max(most, deepest(model, simulation));
        }
        if (positions == mpm::Positions::Forward)
          forward = most;
        else
          EXPECT_LE(most, 1e-12);
        if (positions == mpm::Positions::Forward)
          EXPECT_EQ(stopped, 0);
        else
          EXPECT_GT(stopped, 0);
      }
      EXPECT_GT(forward, 1e-3) << "nothing would have gone in";
    }
  }
}

// A plate that turns and comes up pushes what rests on it before it.
TEST(MpmPositions, MovingObstaclesDoNotOverrunThem) {
  for (const Boundary kind : {Boundary::Sticky, Boundary::Separating}) {
    MpmBody body = block(5e4);
    body.description.positions = mpm::Positions::Backward;
    body.description.boundaries = {kind};
    body.description.largest_substep = 0.0067;  // poses at the end of a substep and at the beginning of the next differ by rounding
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    Obstacle plate = obstacle(box(Vec3(-1, -0.4, -1), Vec3(2, -0.02, 2)), 0.5);
    plate.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(0, 1.5, 0)}};
    plate.motion.angle = {{0, 1}, {0, 1.0}};
    plate.motion.axis = Vec3::UnitZ();
    plate.motion.pivot = Vec3(0.25, 0, 0);
    model.obstacles = {plate};
    step::Simulation simulation(model);
    for (int k = 0; k < 12; ++k) {
      ASSERT_TRUE(simulation.advance().accepted);
      EXPECT_LE(deepest(model, simulation), 1e-12) << k;
    }
    double lowest = 1e300;
    for (const Vec3& x : points(simulation).x) lowest = std::min(lowest, x[1]);
    EXPECT_GT(lowest, 0.05) << "it was not lifted";
  }
}

TEST(MpmPositions, SameBitsForAnyNumberOfThreads) {
  std::vector<std::vector<Vec3>> found;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    MpmBody body = block(2e4);
    body.description.parts[0].velocity = Vec3(1, -3, 0);
    body.description.positions = mpm::Positions::Backward;
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    add_floor(model, -0.05, Boundary::Sticky);
    step::Simulation simulation(model);
    for (int k = 0; k < 4; ++k) ASSERT_TRUE(simulation.advance().accepted);
    found.push_back(points(simulation).x);
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace lope::matter
