// Barriers in whole steps: nothing ever crosses, counted exactly after every step; what is conserved stays so; states and threads give the
// same bits.
#include <lope/base/parallel.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/rigid_fit.h>
#include <lope/geometry/topology.h>
#include <lope/geometry/transform.h>

#include <support/crossings.h>
#include <verification/models.h>

namespace lope::verification {
namespace {

step::Model barrier_model(double h) {
  step::Model model;
  model.step = h;
  model.body_contact.model = step::BodyContactModel::Barrier;
  return model;
}

matter::SolidBody at(geometry::Mesh mesh, const Vec3& place, const Vec3& velocity, double young, int dimension = 3) {
  for (Vec3& v : mesh.vertices) v += place;
  const std::size_t count = mesh.vertices.size();
  matter::SolidBody body = solid(std::move(mesh), dimension, young, 0.4);
  body.initial_velocities.assign(count, velocity);
  body.self_contact = true;
  return body;
}

Vec3 momentum(step::Simulation& simulation) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t b = 0; b < simulation.model().bodies.size(); ++b) sum += simulation.report(b).momentum;
  return sum;
}

// Kinetic and elastic.
double energy_of(step::Simulation& simulation) {
  double sum = 0;
  for (std::size_t b = 0; b < simulation.model().bodies.size(); ++b) {
    const matter::Energies energy = simulation.energies(b);
    sum += energy.kinetic + energy.elastic;
  }
  return sum;
}

step::StepReport advance(step::Simulation& simulation) {
  const step::StepReport report = simulation.advance();
  EXPECT_TRUE(report.converged()) << "step " << report.step << ": " << (report.culprit() ? report.culprit()->solve.reason : "");
  EXPECT_EQ(count_crossings(simulation), 0u) << "step " << report.step;
  return report;
}

// Two soft boxes thrown at each other.
step::Model colliding_boxes(double h, double speed, double young) {
  step::Model model = barrier_model(h);
  model.gravity = Vec3::Zero();
  geometry::Mesh turned = box({0.4, 0.4, 0.4}, {4, 4, 4});
  geometry::rotate(turned, Vec3(1, 2, 0.5).normalized(), 0.6);
  model.add(at(box({0.4, 0.4, 0.4}, {4, 4, 4}), Vec3(-0.45, 0, 0), Vec3(speed, 0, 0), young));
  model.add(at(turned, Vec3(0.45, 0.05, 0.03), Vec3(-speed, 0, 0), young));
  return model;
}

TEST(Barrier, BoxesThatCollideNeverCross) {
  for (const double speed : {2.0, 6.0}) {
    step::Simulation simulation(colliding_boxes(1.0 / 24, speed, 1e5));
    bool touched = false;
    for (int i = 0; i < 10; ++i) touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
    EXPECT_TRUE(touched);
  }
  // Twice as far per step as they are long: they may slip past each other, as nothing else holds them, but not through.
  step::Simulation fast(colliding_boxes(1.0 / 24, 20, 1e5));
  for (int i = 0; i < 3; ++i) advance(fast);
}

// From a bullet's steps to long strides, from jelly to hard rubber, from millimetres to ten metres.
TEST(Barrier, AtAnyScaleNothingCrosses) {
  struct Scale {
    double h, size, young, speed;
  };
  for (const Scale& scale : {Scale{1e-5, 0.002, 1e6, 20}, Scale{1e-3, 1, 1e8, 20}, Scale{1.0 / 24, 25, 1e4, 30}}) {
    step::Model model = colliding_boxes(scale.h, 0, scale.young);
    for (std::size_t b = 0; b < 2; ++b) {
      auto& body = kinds::solid(model, b);
      for (Vec3& v : body.mesh.vertices) v *= scale.size;
      body.initial_velocities.assign(body.mesh.vertices.size(), Vec3(b == 0 ? scale.speed : -scale.speed, 0, 0));
    }
    // Until they have been in contact for a while.
    step::Simulation simulation(model);
    const int steps = static_cast<int>(std::ceil(0.35 * scale.size / (scale.speed * scale.h))) + 3;
    bool touched = false;
    for (int i = 0; i < std::min(steps, 60); ++i)
      touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
    EXPECT_TRUE(touched || steps > 60) << scale.size;
  }
}

TEST(Barrier, ImpactsKeepMomentumAndGainNoEnergy) {
  step::Model model = colliding_boxes(0.005, 2, 1e5);
  kinds::solid(model, 1).initial_velocities.assign(kinds::solid(model, 1).mesh.vertices.size(), Vec3(-0.5, 0.3, 0));
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-9};
  step::Simulation simulation(model);
  const Vec3 before = momentum(simulation);
  const double energy = energy_of(simulation);
  bool touched = false;
  for (int i = 0; i < 60; ++i) {
    touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
    EXPECT_LT((momentum(simulation) - before).norm(), 1e-5 * before.norm());
    EXPECT_LE(energy_of(simulation), energy * (1 + 1e-9)) << "what is in the barrier is missing here, and never negative";
  }
  EXPECT_TRUE(touched);
}

// Three boxes on the ground, in strides of 1/24 s: they come to rest, do not sink in, and the ground carries all of them.
TEST(Barrier, AStackRests) {
  step::Model model = barrier_model(1.0 / 24);
  model.body_contact.friction = 0.3;
  for (int k = 0; k < 3; ++k)
    model.add(at(box({0.4, 0.4, 0.4}, {4, 4, 4}), Vec3(0.01 * k, 0.201 + 0.402 * k, 0.007 * k), Vec3::Zero(), 1e6));
  step::Obstacle ground;
  ground.name = "ground";
  ground.shape = geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}).value();
  ground.friction = 0.5;
  model.obstacles = {ground};
  step::Simulation simulation(model);
  step::StepReport report;
  for (int i = 0; i < 36; ++i) report = advance(simulation);
  const double weight = 3 * 0.064 * 1000 * 9.81;
  EXPECT_NEAR(report.islands[0].contact.obstacle_force[0][1], weight, 0.01 * weight);
  EXPECT_GT(report.islands[0].contact.smallest_gap, 1e-4);
  double kinetic = 0;
  for (std::size_t b = 0; b < 3; ++b) kinetic += simulation.report(b).energy.kinetic;
  EXPECT_LT(kinetic, 1e-4 * weight);
  EXPECT_NEAR(simulation.state().nodes(2).x[1] - simulation.state().nodes(0).x[1], 0.8, 0.02);
}

// Thin plates that would pass each other by twenty times their thickness in one step.
// Two plates of 2 m and 2 cm fly into each other, a little beside the middle. They come to a halt, turning slowly.
step::Model colliding_plates() {
  step::Model model = barrier_model(1.0 / 24);
  model.gravity = Vec3::Zero();
  const geometry::Mesh plate = box({2, 0.02, 2}, {8, 2, 8});
  model.add(at(plate, Vec3(0, -0.2, 0), Vec3(0, 10, 0), 1e8));
  model.add(at(plate, Vec3(0.05, 0.2, 0.03), Vec3(0, -10, 0), 1e8));
  return model;
}

TEST(Barrier, ThinPlatesDoNotPassThroughEachOther) {
  step::Simulation simulation(colliding_plates());
  for (int i = 0; i < 8; ++i) advance(simulation);
  const auto place = [&](std::size_t b) {
    const std::vector<Vec3>& rest = as<matter::SolidBody>(simulation.model().bodies[b]).mesh.vertices;
    std::vector<Vec3> now;
    for (std::size_t i = 0; i < rest.size(); ++i) now.push_back(matter::node(simulation.state().nodes(b).x, i, 3));
    return geometry::rigid_fit(3, rest, now, std::vector<double>(rest.size(), 1.0));
  };
  const geometry::RigidPose lower = place(0), upper = place(1);
  const Vec3 apart = upper.place(Vec3(0.05, 0.2, 0.03)) - lower.place(Vec3(0, -0.2, 0));
  const Vec3 normal = lower.place(Vec3(0, 1, 0)) - lower.place(Vec3::Zero());
  EXPECT_GT(apart.dot(normal), 0.02);  // their thickness
}

// What is left of their energy in the second step is decided by contacts that the first ones bring about: an accuracy that does not see
// them leaves three quarters of it out.
TEST(Barrier, TheDefaultAccuracySeesNewContacts) {
  step::Model model = colliding_plates();
  step::Simulation usual(model);
  model.solver.stopping.tolerance = 1e-8;
  step::Simulation tight(model);
  for (int i = 0; i < 2; ++i) {
    advance(usual);
    advance(tight);
  }
  EXPECT_NEAR(energy_of(usual), energy_of(tight), 0.05 * energy_of(tight));
}

TEST(Barrier, InThePlane) {
  step::Model model = barrier_model(1.0 / 48);
  model.gravity = Vec3(0, -9.81, 0);
  for (int k = 0; k < 2; ++k)
    model.add(at(rectangle({0.5, 0.3}, {6, 4}), Vec3(0.1 * k, 0.2 + 0.45 * k, 0), Vec3(0, -4.0 * k, 0), 1e5, 2));
  step::Obstacle ground;
  ground.name = "ground";
  ground.shape = geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}).value();
  model.obstacles = {ground};
  step::Simulation simulation(model);
  bool touched = false;
  for (int i = 0; i < 24; ++i) touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
  EXPECT_TRUE(touched);
}

// Whatever minimises: no accepted state of any method holds a crossing.
TEST(Barrier, NoMethodCrosses) {
  for (const optimize::MethodInfo& method : optimize::methods()) {
    if (method.method == optimize::Method::AdmmPd) continue;  // knows nothing of contact
    step::Model model = colliding_boxes(1.0 / 24, 6, 1e5);
    model.solver.method = method.method;
    model.solver.max_iterations = 60;  // converged or not
    step::Simulation simulation(model);
    for (int i = 0; i < 4; ++i) {
      const step::StepReport report = simulation.advance();
      // Without a line search there may be no result, and then that is said.
      EXPECT_TRUE(report.accepted || method.method == optimize::Method::NewtonRaw)
          << method.name << ": " << (report.culprit() ? report.culprit()->solve.reason : "");
      EXPECT_EQ(count_crossings(simulation), 0u) << method.name;
    }
  }
}

// A body that is led into another one, farther per step than the gap between them, pushes it away.
TEST(Barrier, ScriptsPushAndDoNotCross) {
  step::Model model = barrier_model(1.0 / 24);
  model.gravity = Vec3::Zero();
  model.add(at(box({0.3, 0.3, 0.3}, {3, 3, 3}), Vec3(-0.35, 0, 0), Vec3::Zero(), 1e5));
  model.add(at(box({0.3, 0.3, 0.3}, {4, 4, 4}), Vec3(0, 0.02, 0.01), Vec3::Zero(), 1e5));
  matter::Handle led;
  for (int v = 0; v < static_cast<int>(kinds::solid(model, 0).mesh.vertices.size()); ++v) led.vertices.push_back(v);
  led.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(4, 0, 0)}, geometry::AfterLastKey::Extend};
  kinds::solid(model, 0).handles = {led};
  step::Simulation simulation(model);
  for (int i = 0; i < 6; ++i) advance(simulation);
  EXPECT_NEAR(simulation.state().nodes(0).x[0], kinds::solid(model, 0).mesh.vertices[0][0] + 1, 1e-12);
  EXPECT_GT(simulation.report(1).momentum[0], 0.027 * 1000 * 3.5);
}

// Led against a body that is held but for one vertex it does not arrive, and says so.
TEST(Barrier, AScriptThatForcesACrossingIsNotConverged) {
  step::Model model = barrier_model(1.0 / 24);
  model.gravity = Vec3::Zero();
  model.add(at(box({0.3, 0.3, 0.3}, {3, 3, 3}), Vec3(-0.35, 0, 0), Vec3::Zero(), 1e5));
  model.add(at(box({0.3, 0.3, 0.3}, {3, 3, 3}), Vec3(0, 0.02, 0.01), Vec3::Zero(), 1e5));
  matter::Handle led, held;
  for (int v = 0; v < static_cast<int>(kinds::solid(model, 0).mesh.vertices.size()); ++v) led.vertices.push_back(v);
  led.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(6, 0, 0)}, geometry::AfterLastKey::Extend};
  const auto& mesh = kinds::solid(model, 1).mesh;
  for (int v = 1; v < static_cast<int>(mesh.vertices.size()); ++v) held.vertices.push_back(v);  // all but one
  kinds::solid(model, 0).handles = {led};
  kinds::solid(model, 1).handles = {held};
  step::Simulation simulation(model);
  bool said = false;
  for (int i = 0; i < 4 && !said; ++i) {
    const step::StepReport report = simulation.advance();
    said = !report.converged() && report.culprit()->solve.reason.find("scripted") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

// A plate of triangles moves up with what lies on it.
TEST(Barrier, ATriangulatedObstacleCarriesAndPushes) {
  step::Model model;  // bodies against each other by penalties: barriers are for the obstacle alone
  model.step = 1.0 / 48;
  model.add(at(box({0.3, 0.3, 0.3}, {4, 4, 4}), Vec3(0, 0.16, 0), Vec3::Zero(), 1e5));
  kinds::solid(model).self_contact = false;
  auto plate = std::make_shared<geometry::Mesh>();
  plate->vertices = {Vec3(-1, 0, -1), Vec3(1, 0, -1), Vec3(1, 0, 1), Vec3(-1, 0, 1)};
  plate->triangles = {{0, 2, 1}, {0, 3, 2}};
  step::Obstacle lift;
  lift.name = "lift";
  lift.shape = geometry::level_set(geometry::HalfSpace{Vec3(0, -5, 0), Vec3::UnitY()}).value();
  lift.surface = plate;
  lift.contact = step::ContactKind::Barrier;
  lift.friction = 0.5;
  lift.motion.displacement = {{0, 1}, {Vec3::Zero(), Vec3(0.2, 1, 0)}, geometry::AfterLastKey::Extend};
  model.obstacles = {lift};
  step::Simulation simulation(model);
  step::StepReport report;
  for (int i = 0; i < 48; ++i) report = advance(simulation);
  const double weight = 0.027 * 1000 * 9.81;
  EXPECT_NEAR(report.islands[0].contact.obstacle_force[0][1], weight, 0.1 * weight);
  const Vec3 speed = simulation.report(0).momentum / 27;
  EXPECT_NEAR(speed[1], 1, 0.05);
  EXPECT_NEAR(speed[0], 0.2, 0.02) << "friction takes it along";
}

// Coulomb's law on a slope of triangles: sticks, or slides with g (sin − μ cos).
TEST(Barrier, FrictionOnASlope) {
  const double angle = 0.4;
  for (const double friction : {0.2, 0.6}) {
    step::Model model = barrier_model(1.0 / 96);
    model.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
    model.add(at(box({0.3, 0.2, 0.3}, {4, 3, 4}), Vec3(0, 0.1005, 0), Vec3::Zero(), 1e6));
    auto plate = std::make_shared<geometry::Mesh>();
    plate->vertices = {Vec3(-3, 0, -3), Vec3(3, 0, -3), Vec3(3, 0, 3), Vec3(-3, 0, 3)};
    plate->triangles = {{0, 2, 1}, {0, 3, 2}};
    step::Obstacle slope;
    slope.name = "slope";
    slope.shape = geometry::level_set(geometry::HalfSpace{Vec3(0, -5, 0), Vec3::UnitY()}).value();
    slope.surface = plate;
    slope.contact = step::ContactKind::Barrier;
    slope.friction = friction;
    model.obstacles = {slope};
    step::Simulation simulation(model);
    for (int i = 0; i < 12; ++i) advance(simulation);  // come down
    const double before = simulation.report(0).momentum[0] / 18;
    for (int i = 0; i < 36; ++i) advance(simulation);
    const double gained = simulation.report(0).momentum[0] / 18 - before, time = 36.0 / 96;
    const double expected = std::max(0.0, 9.81 * (std::sin(angle) - friction * std::cos(angle))) * time;
    EXPECT_NEAR(gained, expected, 0.03 * 9.81 * time) << friction;
    if (friction > std::tan(angle)) {
      EXPECT_LT(std::abs(simulation.report(0).momentum[0] / 18), 1e-3);
    }
  }
}

// What is saved is enough, what is undone has no effect, and threads do not matter.
TEST(Barrier, StatesRollBackAndThreadsGiveTheSameBits) {
  step::Model model = colliding_boxes(1.0 / 48, 6, 5e4);
  model.body_contact.friction = 0.3;
  const auto run = [&](int threads, bool broken) {
    const ThreadLimit limit(threads);
    auto simulation = std::make_unique<step::Simulation>(model);
    for (int i = 0; i < 8; ++i) {
      simulation->advance();
      if (!broken) continue;
      if (i == 4) {
        EXPECT_TRUE(simulation->take_back());
        simulation->advance();
      }
      if (i == 5) {
        auto again = std::make_unique<step::Simulation>(model);
        EXPECT_TRUE(again->restore(simulation->state()).has_value());
        simulation = std::move(again);
      }
    }
    std::vector<double> all = simulation->state().nodes(0).x;
    const std::vector<double>& v = simulation->state().nodes(1).v;
    all.insert(all.end(), v.begin(), v.end());
    all.push_back(simulation->state().barriers[0].least_part);
    return all;
  };
  const std::vector<double> reference = run(1, false);
  EXPECT_EQ(reference, run(2, false));
  EXPECT_EQ(reference, run(2, true));
}

// OPT Fig. 7 in small: a ring collapses onto itself.
TEST(Barrier, ARingThatCollapsesOntoItselfDoesNotCross) {
  step::Model model = barrier_model(1.0 / 60);
  geometry::MeshingOptions options;
  auto ring = at(geometry::tetrahedralize(geometry::Torus{Vec3(0, 0.65, 0), Vec3(0, 0.25, 1), 0.42, 0.17}, 0.12, options).value(),
                 Vec3::Zero(), Vec3(0, -4, 0), 1.5e4);
  model.add(std::move(ring));
  step::Obstacle ground;
  ground.name = "ground";
  ground.shape = geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}).value();
  ground.friction = 0.3;
  model.obstacles = {ground};
  step::Simulation simulation(model);
  bool touched = false;
  for (int i = 0; i < 36; ++i) touched = advance(simulation).islands[0].contact.body_pairs > 0 || touched;
  EXPECT_TRUE(touched) << "it should have met itself";
}

}  // namespace
}  // namespace lope::verification
