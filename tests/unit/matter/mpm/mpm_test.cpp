// Steps of material points: motions that are known, conservation, obstacles, resuming, bits.
#include <lope/base/parallel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "small_scenes.h"

namespace lope::matter {
namespace {

TEST(Mpm, FreeFallIsExact) {
  MpmBody body = block(1e6);
  body.description.parts[0].velocity = Vec3(0.3, 1.0, -0.2);
  step::Simulation simulation(model_of(body, Vec3(0, -9.81, 0)));
  const auto start = points(simulation);
  double time = 0;
  std::int64_t substeps = 0;
  Vec3 moved = Vec3::Zero(), velocity(0.3, 1.0, -0.2);
  for (int k = 0; k < 10; ++k) {
    const step::StepReport report = simulation.advance();
    ASSERT_TRUE(report.accepted);
    EXPECT_TRUE(report.islands[0].solve.converged());
    // Backward Euler, over substeps of which there is one while the points are slow.
    const std::int64_t count = report.bodies[0].count("substeps");
    substeps += count;
    const double h = 0.02 / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i) {
      velocity += h * Vec3(0, -9.81, 0);
      moved += h * velocity;
    }
    time += 0.02;
  }
  const auto& end = points(simulation);
  for (std::size_t p = 0; p < end.size(); ++p) {
    const auto id = static_cast<std::size_t>(end.id[p]);
    EXPECT_LT((end.v[p] - velocity).norm(), 1e-10);
    EXPECT_LT((end.F[p] - Mat3::Identity()).norm(), 1e-10);
    EXPECT_LT((end.x[p] - start.x[id] - moved).norm(), substeps == 10 ? 1e-10 : 1e-2);
  }
  EXPECT_NEAR(moved[1], time - 0.5 * 9.81 * time * time, 0.5 * 9.81 * 0.02 * time + 1e-9);
}

TEST(Mpm, KeepsMomentumWhileItDeforms) {
  for (const double young : {1e4, 1e9}) {
    MpmBody body = block(young);
    body.description.parts[0].angular_velocity = Vec3(1, 2, 3);
    body.description.parts[0].velocity = Vec3(0.5, 0, 0);
    step::Model model = model_of(body);
    model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-10};
    step::Simulation simulation(model);
    const auto start = points(simulation);
    const Vec3 p = mpm::momentum(start), L = mpm::angular_momentum(start, 0.1);
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(simulation.advance().accepted);
    const auto& end = points(simulation);
    EXPECT_LT((mpm::momentum(end) - p).norm(), 1e-7 * p.norm());
    // Backward Euler turns along tangents: the grid's part of angular momentum is kept, not that of the moved points.
    EXPECT_LT((mpm::angular_momentum(end, 0.1) - L).norm(), 0.05 * L.norm());
  }
}

TEST(Mpm, RestsOnAFloor) {
  for (const mpm::Boundary kind : {mpm::Boundary::Sticky, mpm::Boundary::Slip, mpm::Boundary::Separating}) {
    step::Model model = model_of(block(1e6), Vec3(0, -9.81, 0));
    add_floor(model, 0.1, kind);
    step::Simulation simulation(model);
    for (int k = 0; k < 20; ++k) {
      const auto report = simulation.advance();
      ASSERT_TRUE(report.accepted);
      EXPECT_TRUE(report.islands[0].solve.converged()) << report.islands[0].solve.reason;
    }
    const auto& end = points(simulation);
    double lowest = 1;
    for (const Vec3& x : end.x) lowest = std::min(lowest, x[1]);
    EXPECT_GT(lowest, -0.05);
    EXPECT_LT(std::sqrt(2 * simulation.energies(0).kinetic / (60.0)), 0.02);
  }
}

TEST(Mpm, SeparatingFloorLetsGo) {
  // Thrown upwards from the floor: it leaves a separating one as in free flight, and is held by a slippery one.
  for (const mpm::Boundary kind : {mpm::Boundary::Slip, mpm::Boundary::Separating}) {
    MpmBody body = block(1e7);
    body.description.parts[0].velocity = Vec3(0, 2, 0);
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    add_floor(model, 0.05, kind);
    step::Simulation simulation(model);
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(simulation.advance().accepted);
    double mean = 0;
    const auto& end = points(simulation);
    for (const Vec3& v : end.v) mean += v[1] / static_cast<double>(end.size());
    if (kind == mpm::Boundary::Separating) {
      EXPECT_NEAR(mean, 2 - 9.81 * 0.1, 0.02);
    } else {
      EXPECT_LT(mean, 0.7);
    }
  }
}

TEST(Mpm, FrictionDecidesWhetherABlockSlides) {
  // Gravity at 30° to the floor's normal: μ = 1 holds, μ = 0.2 slides with g (sin 30° − μ cos 30°).
  const Vec3 gravity = 9.81 * Vec3(0.5, -std::sqrt(0.75), 0);
  for (const double friction : {0.2, 1.0}) {
    step::Model model = model_of(block(1e7), gravity);
    add_floor(model, 0.05, mpm::Boundary::Separating, friction);
    step::Simulation simulation(model);
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(simulation.advance().accepted);
    double mean = 0;
    const auto& end = points(simulation);
    for (const Vec3& v : end.v) mean += v[0] / static_cast<double>(end.size());
    const double expected = friction == 1 ? 0 : 0.4 * 9.81 * (0.5 - friction * std::sqrt(0.75));
    EXPECT_NEAR(mean, expected, 0.06);
  }
}

TEST(Mpm, StickyObstacleCarries) {
  step::Model model = model_of(block(1e6));
  Obstacle clamp = obstacle(box(Vec3(-0.2, -0.2, -0.2), Vec3(0.2, 0.7, 0.7)));
  clamp.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(0.3, 0, 0)}};
  model.obstacles.push_back(clamp);
  as<MpmBody>(model.bodies[0]).description.boundaries = {mpm::Boundary::Sticky};
  step::Simulation simulation(model);
  const auto start = points(simulation);
  for (int k = 0; k < 30; ++k) ASSERT_TRUE(simulation.advance().accepted);
  const auto& end = points(simulation);
  for (std::size_t p = 0; p < end.size(); ++p) {
    const auto id = static_cast<std::size_t>(end.id[p]);
    if (start.x[id][0] < 0.05) {
      EXPECT_NEAR(end.x[p][0] - start.x[id][0], 0.18, 1e-6);
    }
  }
}

TEST(Mpm, ImplicitAndExplicitAgreeOnASwingingBlock) {
  // A soft block, held at one end, sags; small steps of both schemes lead to the same place.
  std::vector<double> lowest;
  for (const mpm::Stepping stepping : {mpm::Stepping::Implicit, mpm::Stepping::Explicit}) {
    MpmBody body = block(1e5);
    body.description.stepping = stepping;
    body.description.largest_substep = 1e-3;
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    model.obstacles.push_back(obstacle(box(Vec3(-0.3, -0.3, -0.3), Vec3(0.1, 0.8, 0.8))));
    as<MpmBody>(model.bodies[0]).description.boundaries = {mpm::Boundary::Sticky};
    step::Simulation simulation(model);
    double y = 0;
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(simulation.advance().accepted);
    const auto& end = points(simulation);
    for (std::size_t p = 0; p < end.size(); ++p) y += end.x[p][1] / static_cast<double>(end.size());
    lowest.push_back(y);
  }
  EXPECT_LT(lowest[0], 0.2 - 2e-3);  // it has sagged
  EXPECT_NEAR(lowest[0], lowest[1], 0.1 * (0.2 - lowest[0]));
}

TEST(Mpm, MethodsAgreeWithStiffAndSoftMatterTogether) {
  // Young's moduli 10⁴ apart, glued together.
  std::vector<std::vector<Vec3>> found;
  using optimize::Method;
  struct Way {
    Method method;
    mpm::Embedding embedding = mpm::Embedding::Linear;
  };
  for (const auto& [method, embedding] :
       {Way{Method::NewtonPcg}, Way{Method::LbfgsCg}, Way{Method::Hot}, Way{Method::NewtonMgpcg},
        Way{Method::Hot, mpm::Embedding::Quadratic}, Way{Method::NewtonMgpcg, mpm::Embedding::Quadratic}}) {
    MpmBody body = block(1e5);
    body.description.method = method;
    body.description.embedding = embedding;
    body.description.parts[0].velocity = Vec3(0, 0, 1);
    body.description.parts.push_back(part(box(Vec3(0.5, 0, 0), Vec3(0.8, 0.4, 0.3)), elastic(1e9)));
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-8};
    step::Simulation simulation(model);
    for (int k = 0; k < 2; ++k) {
      const auto report = simulation.advance();
      ASSERT_TRUE(report.accepted);
      EXPECT_TRUE(report.islands[0].solve.converged()) << optimize::name_of(method) << report.islands[0].solve.reason;
    }
    const auto& end = points(simulation);
    auto& x = found.emplace_back(end.size());
    for (std::size_t p = 0; p < end.size(); ++p) x[static_cast<std::size_t>(end.id[p])] = end.x[p];
  }
  for (std::size_t k = 1; k < found.size(); ++k) {
    for (std::size_t p = 0; p < found[0].size(); ++p) EXPECT_LT((found[k][p] - found[0][p]).norm(), 1e-6) << k;
  }
}

MpmBody metal_and_sand() {
  MpmBody body = block(1e5);
  body.description.parts[0].velocity = Vec3(0, -1, 0);
  body.description.parts[0].material.elastic.density = material::Density::StvkHencky;
  body.description.parts[0].material.plasticity = {.flow = material::Flow::DruckerPrager, .friction_angle = 0.6};
  mpm::Material metal = elastic(1e8);
  metal.plasticity = {.flow = material::Flow::VonMises, .yield = 1e4};
  body.description.parts.push_back(part(box(Vec3(0.1, 0.45, 0), Vec3(0.4, 0.7, 0.3)), metal));
  body.description.parts.back().velocity = Vec3(0, -2, 0);
  return body;
}

TEST(Mpm, SameBitsForAnyNumberOfThreadsAndAfterResuming) {
  step::Model model = model_of(metal_and_sand(), Vec3(0, -9.81, 0));
  add_floor(model, 0.05, mpm::Boundary::Separating, 0.5);
  const auto same = [](const mpm::Particles<3>& a, const mpm::Particles<3>& b) {
    return a.x == b.x && a.v == b.v && a.F == b.F && a.plastic == b.plastic && a.id == b.id && a.affine == b.affine;
  };
  step::Simulation one(model), two(model), resumed(model);
  {
    const ThreadLimit limit(1);
    for (int k = 0; k < 4; ++k) ASSERT_TRUE(one.advance().accepted);
  }
  for (int k = 0; k < 2; ++k) ASSERT_TRUE(two.advance().accepted);
  ASSERT_TRUE(resumed.restore(two.state()).has_value());
  for (int k = 0; k < 2; ++k) {
    ASSERT_TRUE(two.advance().accepted);
    ASSERT_TRUE(resumed.advance().accepted);
  }
  EXPECT_TRUE(same(points(one), points(two)));
  EXPECT_TRUE(same(points(resumed), points(two)));
  // A step that is taken back and taken again.
  ASSERT_TRUE(two.take_back());
  ASSERT_TRUE(two.advance().accepted);
  EXPECT_TRUE(same(points(one), points(two)));
  // Through named arrays, as files hold it.
  NamedArrays arrays;
  arrays.add("", as<MpmState>(two.state().bodies[0]).arrays());
  ArrayReader reader(arrays);
  MpmState read;
  read.particles = mpm::Particles<3>{};
  read.read(reader);
  EXPECT_EQ(reader.missing(), "");
  EXPECT_TRUE(same(std::get<mpm::Particles<3>>(read.particles), points(one)));
}

TEST(Mpm, PlasticityActsAndVolumeStays) {
  step::Model model = model_of(metal_and_sand(), Vec3(0, -9.81, 0));
  add_floor(model, 0.05, mpm::Boundary::Sticky);
  step::Simulation simulation(model);
  for (int k = 0; k < 15; ++k) ASSERT_TRUE(simulation.advance().accepted);
  const auto& end = points(simulation);
  double flowed = 0;
  for (std::size_t p = 0; p < end.size(); ++p) {
    EXPECT_GT(end.F[p].determinant(), 0.3);
    EXPECT_LT(end.F[p].determinant(), 1.5);
    if (end.part[p] == 1) flowed = std::max(flowed, end.plastic[p]);
  }
  EXPECT_GT(flowed, 1e-3);
}

TEST(Mpm, InThePlane) {
  MpmBody body;
  body.name = "points";
  body.dimension = body.description.dimension = 2;
  body.description.dx = 0.05;
  const double endless = std::numeric_limits<double>::infinity();
  body.description.parts = {part(*geometry::level_set(geometry::Box{Vec3(0.25, 0.25, 0), Vec3(0.5, 0.5, endless)}), elastic(1e5))};
  step::Model model = model_of(body, Vec3(0, -9.81, 0));
  add_floor(model, 0.0, mpm::Boundary::Separating);
  step::Simulation simulation(model);
  for (int k = 0; k < 20; ++k) {
    const auto report = simulation.advance();
    ASSERT_TRUE(report.accepted);
    EXPECT_TRUE(report.islands[0].solve.converged());
  }
  const auto& end = std::get<mpm::Particles<2>>(as<MpmState>(simulation.state().bodies[0]).particles);
  double mass = 0;
  for (std::size_t p = 0; p < end.size(); ++p) {
    mass += end.mass[p];
    EXPECT_GT(end.x[p][1], -0.06);
  }
  EXPECT_NEAR(mass, 250, 0.5);
}

// A bar, a stiff piece between soft ones, is sheared by obstacles that hold its ends: conjugate gradients per substep to the displacement
// accuracy. Without groups of rows (linalg/row_groups.h) a stiff piece takes seven times as many as a soft one.
double iterations_with_middle(double young) {
  MpmBody body = block(1e5);
  body.description.method = optimize::Method::NewtonMgpcg;
  body.description.parts = {part(box(Vec3(0, 0, 0), Vec3(0.5, 0.6, 0.5)), elastic(1e5)),
                            part(box(Vec3(0, 0.6, 0), Vec3(0.5, 1.2, 0.5)), elastic(young)),
                            part(box(Vec3(0, 1.2, 0), Vec3(0.5, 1.8, 0.5)), elastic(1e5))};
  step::Model model = model_of(body);
  model.obstacles = {obstacle(box(Vec3(-0.2, -0.2, -0.2), Vec3(0.7, 0.2, 0.7))),
                     obstacle(box(Vec3(-0.2, 1.6, -0.2), Vec3(0.7, 2, 0.7)))};
  model.obstacles[1].motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(0.5, 0, 0.3)}};
  as<MpmBody>(model.bodies[0]).description.boundaries = {mpm::Boundary::Sticky, mpm::Boundary::Sticky};
  step::Simulation simulation(model);
  double iterations = 0, substeps = 0;
  for (int k = 0; k < 4; ++k) {
    const auto report = simulation.advance();
    EXPECT_TRUE(report.islands[0].solve.converged());
    iterations += static_cast<double>(report.islands[0].solve.linear_iterations);
    substeps += static_cast<double>(report.bodies[0].count("substeps"));
  }
  return iterations / substeps;
}

TEST(Mpm, StiffPiecesHardlyCostIterations) {
  const double soft = iterations_with_middle(1e5), stiff = iterations_with_middle(1e10);
  EXPECT_LT(stiff, 3 * soft);
}

TEST(Mpm, SkinsFollowTheirParts) {
  MpmBody body = block(1e5);
  body.description.parts.push_back(part(box(Vec3(1, 0, 0), Vec3(1.4, 0.4, 0.4)), elastic(1e5)));
  body.description.parts.push_back(part(box(Vec3(2, 0, 0), Vec3(2.4, 0.4, 0.4)), elastic(1e5)));
  body.description.parts[1].has_skin = body.description.parts[2].has_skin = true;
  body.description.parts[2].velocity = Vec3(0, 1, 0);
  step::Simulation simulation(model_of(body));
  ASSERT_TRUE(simulation.advance().accepted);
  geometry::Drawable drawn;
  simulation.matter(0).draw(*simulation.state().bodies[0], 0, {}, drawn);
  EXPECT_EQ(drawn.points.count(), points(simulation).size());
  const geometry::DrawnField* part_of = geometry::find_field(drawn.surface.element_fields, "part");
  const geometry::DrawnField* velocity = geometry::find_field(drawn.surface.vertex_fields, "velocity");
  ASSERT_TRUE(part_of && velocity);
  ASSERT_EQ(3 * part_of->values.size(), drawn.surface.triangles.size());
  ASSERT_EQ(velocity->values.size(), drawn.surface.positions.size());
  double volume[3] = {};
  for (std::size_t t = 0; t < part_of->values.size(); ++t) {
    Vec3 corner[3];
    const auto part_number = static_cast<std::size_t>(part_of->values[t]);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto at = 3 * static_cast<std::size_t>(drawn.surface.triangles[3 * t + k]);
      corner[k] =
          Vec3(drawn.surface.positions[at], drawn.surface.positions[at + 1], drawn.surface.positions[at + 2]);
      EXPECT_NEAR(corner[k][0], part_number == 1 ? 1.2 : 2.2, 0.3);
      EXPECT_NEAR(velocity->values[at + 1], part_number == 1 ? 0 : 1, 1e-3);
    }
    volume[part_number] += corner[0].dot(corner[1].cross(corner[2])) / 6;
  }
  EXPECT_EQ(volume[0], 0);
  for (const int k : {1, 2}) EXPECT_NEAR(volume[k], 0.064, 0.012);
}

TEST(Mpm, RefusesPointsWithoutMassOrVolumeOrPlace) {
  using Points = mpm::Particles<3>;
  step::Simulation simulation(model_of(block(1e5)));
  const double infinite = std::numeric_limits<double>::infinity(), none = std::nan("");
  const std::vector<std::function<void(Points&)>> spoil = {
      [](Points& p) { p.mass[3] = 0; },          [&](Points& p) { p.mass[3] = infinite; },
      [](Points& p) { p.volume[3] = -1; },       [](Points& p) { p.volume[3] = 0; },
      [&](Points& p) { p.x[3][1] = none; },      [&](Points& p) { p.v[3][0] = infinite; },
      [&](Points& p) { p.F[3](2, 2) = none; }};
  for (std::size_t k = 0; k < spoil.size(); ++k) {
    step::State broken = simulation.state();
    auto& points_of = std::get<Points>(as<MpmState>(broken.bodies[0]).particles);
    spoil[k](points_of);
    const auto restored = simulation.restore(broken);
    ASSERT_FALSE(restored.has_value()) << k;
    EXPECT_NE(restored.error().message.find(std::to_string(points_of.id[3])), std::string::npos) << restored.error().message;
  }
}

TEST(Mpm, RefusesStatesOfOtherScenes) {
  step::Simulation simulation(model_of(block(1e5)));
  step::State broken = simulation.state();
  std::get<mpm::Particles<3>>(as<MpmState>(broken.bodies[0]).particles).mass[3] = 0;
  EXPECT_FALSE(simulation.restore(broken).has_value());
  broken = simulation.state();
  std::get<mpm::Particles<3>>(as<MpmState>(broken.bodies[0]).particles).part[3] = 7;
  EXPECT_FALSE(simulation.restore(broken).has_value());
}

TEST(Mpm, PointsThatFlyAwayFailTheStepAndKeepTheState) {
  MpmBody body = block(1e5);
  body.description.parts[0].velocity = Vec3(1e9, 0, 0);
  step::Simulation simulation(model_of(body));
  const auto before = points(simulation).x;
  const auto report = simulation.advance();
  EXPECT_FALSE(report.accepted);
  EXPECT_NE(report.islands[0].solve.reason.find("so fast"), std::string::npos);
  EXPECT_EQ(points(simulation).x, before);
}

}  // namespace
}  // namespace lope::matter
