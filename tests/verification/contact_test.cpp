// Obstacles: nothing enters a constraint, forces balance weights, friction follows Coulomb's law, methods
// agree.
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/optimize/methods.h>

#include <verification/models.h>

#include <numbers>

namespace lope::verification {
namespace {

step::Obstacle obstacle(Expected<geometry::LevelSetPtr> shape, double friction = 0) {
  step::Obstacle made;
  made.name = "obstacle";
  made.shape = shape.value();
  made.friction = friction;
  return made;
}

step::Obstacle floor(double friction = 0) {
  return obstacle(geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}), friction);
}

geometry::Mesh ball(double radius, double edge, const Vec3& center) {
  return geometry::tetrahedralize(geometry::Sphere{center, radius}, edge, {}).value();
}

// The deepest that any vertex is inside any obstacle at the current time.
double deepest(const step::Simulation& simulation) {
  double depth = 0;
  const step::Model& model = simulation.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto& x = simulation.state().nodes(b).x;
    for (const step::Obstacle& o : model.obstacles) {
      const auto shape = geometry::moved(o.shape, o.pose(simulation.state().time));
      for (std::size_t k = 0; k < x.size(); k += 3)
        depth = std::max(depth, -shape->value({x[k], x[k + 1], x[k + 2]}));
    }
  }
  return depth;
}

double mass(const matter::SolidBody& body) {
  double volume = 0;
  for (const auto& t : body.mesh.tetrahedra) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k)
      edges.col(k) = body.mesh.vertices[static_cast<std::size_t>(t[static_cast<std::size_t>(k) + 1])] -
                     body.mesh.vertices[static_cast<std::size_t>(t[0])];
    volume += edges.col(0).dot(Vec3(edges(1, 1) * edges(2, 2) - edges(2, 1) * edges(1, 2),
                                    edges(2, 1) * edges(0, 2) - edges(0, 1) * edges(2, 2),
                                    edges(0, 1) * edges(1, 2) - edges(1, 1) * edges(0, 2))) /
              6;
  }
  return 1000 * volume;
}

class ContactMethods : public testing::TestWithParam<optimize::Method> {};
INSTANTIATE_TEST_SUITE_P(All, ContactMethods,
                         testing::Values(optimize::Method::Newton, optimize::Method::NewtonPcg,
                                         optimize::Method::Gast15),
                         [](const auto& chosen) {
                           std::string name(optimize::name_of(chosen.param));
                           std::erase(name, '-');
                           return name;
                         });

// A ball thrown hard into a corner of floor, sphere and rotating box: no vertex is ever inside.
TEST_P(ContactMethods, NothingEntersAConstraint) {
  step::Model model;
  model.step = 1.0 / 24;
  model.solver.method = GetParam();
  model.bodies = {solid(ball(0.5, 0.2, Vec3(0, 1, 0)), 3, 4e4, 0.4)};
  kinds::solid(model).initial_velocities.assign(kinds::solid(model).mesh.vertices.size(), Vec3(2, -8, 0));
  step::Obstacle mixer = obstacle(geometry::level_set(geometry::Box{Vec3(1.3, 0.4, 0), Vec3(0.6, 0.8, 1.5)}));
  mixer.motion.angle = {{0, 1}, {0, 1}, geometry::AfterLastKey::Extend};
  mixer.motion.axis = Vec3::UnitY();
  mixer.motion.pivot = Vec3(1.3, 0, 0);
  model.obstacles = {floor(0.3), obstacle(geometry::level_set(geometry::Sphere{Vec3(0.2, -0.3, 0.3), 0.6})),
                     mixer};
  step::Simulation simulation(model);
  int touched = 0, converged = 0;
  for (int i = 0; i < 24; ++i) {
    const step::StepReport report = simulation.advance();
    ASSERT_TRUE(report.accepted);
    converged += report.converged() ? 1 : 0;
    EXPECT_TRUE(report.converged()) << "step " << report.step << ": " << report.islands[0].solve.reason << ", "
                                    << report.islands[0].solve.measure << " of " << report.islands[0].solve.tolerance;
    EXPECT_LE(deepest(simulation), 1e-12) << "step " << report.step;
    EXPECT_LE(report.islands[0].contact.deepest, 1e-12);
    touched = std::max(touched, report.islands[0].contact.obstacle_pairs);
  }
  EXPECT_GT(touched, 10);
  EXPECT_EQ(converged, 24);
}

TEST_P(ContactMethods, ABallAtRestIsCarriedByTheGround) {
  step::Model model;
  model.step = 1.0 / 24;
  model.solver.method = GetParam();
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-6};
  model.bodies = {solid(ball(0.5, 0.25, Vec3(0, 0.5, 0)), 3, 1e5, 0.4)};
  model.obstacles = {floor()};
  step::Simulation simulation(model);
  step::StepReport report;
  for (int i = 0; i < 120; ++i) {
    report = simulation.advance();
    ASSERT_TRUE(report.converged()) << report.islands[0].solve.reason;
  }
  const double weight = mass(kinds::solid(model)) * 9.81;
  EXPECT_NEAR(report.islands[0].contact.obstacle_force[0][1], weight, 0.01 * weight);
  EXPECT_LT(report.bodies[0].energy.kinetic, 1e-4 * weight);
}

TEST(Contact, APenaltyCarriesTheSameWeightWithLittlePenetration) {
  step::Model model;
  model.step = 1.0 / 24;
  model.bodies = {solid(ball(0.5, 0.25, Vec3(0, 0.5, 0)), 3, 1e5, 0.4)};
  model.obstacles = {floor()};
  model.obstacles[0].contact = step::ContactKind::Penalty;
  step::Simulation simulation(model);
  step::StepReport report;
  for (int i = 0; i < 120; ++i) {
    report = simulation.advance();
    ASSERT_TRUE(report.converged()) << report.islands[0].solve.reason;
  }
  const double weight = mass(kinds::solid(model)) * 9.81;
  EXPECT_NEAR(report.islands[0].contact.obstacle_force[0][1], weight, 0.01 * weight);
  EXPECT_GT(report.islands[0].contact.deepest, 0);
  EXPECT_LT(report.islands[0].contact.deepest, 0.02);
}

// A block on an incline (the incline is horizontal here, gravity leans): it slides with g(sin θ − μ cos θ),
// or not at all.
TEST(Contact, ABlockSlidesDownAnIncline) {
  const double g = 9.81, angle = 0.5, slope = std::tan(angle);
  for (const double mu : {0.0, 0.5 * slope, 1.5 * slope}) {
    step::Model model;
    model.step = 2e-3;
    model.gravity = g * Vec3(std::sin(angle), -std::cos(angle), 0);
    model.bodies = {solid(box({0.4, 0.2, 0.4}, {4, 3, 4}), 3, 1e7, 0.3)};
    for (Vec3& p : kinds::solid(model).mesh.vertices) p[1] += 0.1;
    model.obstacles = {floor(mu)};
    solve_tightly(model);  // a step's motion is shorter than the usual accuracy
    step::Simulation simulation(model);
    const double whole = mass(kinds::solid(model));
    double speed = 0;
    const double start = simulation.state().nodes(0).x[0];
    for (int i = 0; i < 250; ++i) {
      const step::StepReport report = simulation.advance();
      ASSERT_TRUE(report.converged());
      speed = report.bodies[0].momentum[0] / whole;
    }
    const double expected = mu > slope ? 0 : g * (std::sin(angle) - mu * std::cos(angle)) * 0.5;
    // Friction takes momentum from touching nodes only (here a third of the mass), before the next solve
    // shares it: a block that should stick creeps with about g h sin θ m/m_touching.
    const double creep = mu > slope ? 5 * g * model.step * std::sin(angle) : 0;
    EXPECT_NEAR(speed, expected, 0.01 * g * std::sin(angle) * 0.5 + creep) << "mu " << mu;
    const double way = simulation.state().nodes(0).x[0] - start;
    EXPECT_NEAR(way, 0.5 * expected * 0.5, 0.5 * model.step * g + 0.01 + 0.5 * creep) << "mu " << mu;
  }
}

// Steel at frame rate: a nanometre is tens of newtons at a node, so that normal forces, and with them friction, are right only if the nodes that
// carry the block are found together (ObstacleConstraints::revise) and the end of a step is in balance.
TEST(Contact, ABlockOfSteelSlidesAtFrameRate) {
  const double g = 9.81, angle = std::numbers::pi / 6;
  for (const double mu : {0.0, 0.2, 0.4}) {
    step::Model model;
    model.step = 1.0 / 24;
    model.gravity = g * Vec3(std::sin(angle), -std::cos(angle), 0);
    model.bodies = {solid(box({0.4, 0.4, 0.4}, {4, 4, 4}), 3, 2e11, 0.4)};
    for (Vec3& p : kinds::solid(model).mesh.vertices) p[1] += 0.2;
    model.obstacles = {floor(mu)};
    step::Simulation simulation(model);
    double speed = 0;
    for (int i = 0; i < 24; ++i) {
      const step::StepReport report = simulation.advance();
      ASSERT_TRUE(report.converged()) << "mu " << mu << ", step " << report.step;
      speed = report.bodies[0].momentum[0] / mass(kinds::solid(model));
    }
    EXPECT_NEAR(speed, g * (std::sin(angle) - mu * std::cos(angle)), 0.002 * g) << "mu " << mu;
  }
}

// A flat one is pressed in every step, and the nodes that carry it are found in a few iterations: products and factors in single precision would move it
// as a whole several times too far (linalg::survives_rounding).
TEST(Contact, AFlatBlockOfSteelIsPressedInEveryStep) {
  const double g = 9.81, angle = 0.5;
  for (const step::Scheme scheme : {step::Scheme::BackwardEuler, step::Scheme::Bdf2}) {
    for (const double mu : {0.0, 0.2, 0.4, 1.0}) {
      step::Model model;
      model.step = 1.0 / 24;
      model.scheme = scheme;
      model.gravity = g * Vec3(std::sin(angle), -std::cos(angle), 0);
      model.bodies = {solid(box({0.4, 0.2, 0.4}, {4, 3, 4}), 3, 2e11, 0.3)};
      for (Vec3& p : kinds::solid(model).mesh.vertices) p[1] += 0.1;
      model.obstacles = {floor(mu)};
      step::Simulation simulation(model);
      const double whole = mass(kinds::solid(model)), weight = whole * g * std::cos(angle);
      double speed = 0;
      int iterations = 0;
      for (int i = 0; i < 24; ++i) {
        const step::StepReport report = simulation.advance();
        ASSERT_TRUE(report.converged()) << "mu " << mu << ", step " << report.step;
        EXPECT_NEAR(report.islands[0].contact.obstacle_force[0][1], weight, 0.01 * weight)
            << "mu " << mu << ", step " << report.step;
        iterations += report.islands[0].solve.iterations;
        speed = report.bodies[0].momentum[0] / whole;
      }
      EXPECT_LE(iterations, 6 * 24) << "mu " << mu;
      EXPECT_NEAR(speed, std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle))), 1e-3 * g)
          << "mu " << mu;
    }
  }
}

// A conveyor under a block drags it along with μg until both move together. The block, which is elastic, swings a
// little when it begins to stick.
TEST(Contact, AConveyorTakesABlockAlong) {
  step::Model model;
  model.step = 5e-3;
  model.bodies = {solid(box({0.4, 0.2, 0.4}, {3, 3, 3}), 3, 1e6, 0.3)};
  for (Vec3& p : kinds::solid(model).mesh.vertices) p[1] += 0.1;
  model.obstacles = {floor(0.5)};
  model.obstacles[0].motion.displacement = {
      {0, 1}, {Vec3::Zero(), Vec3(1, 0, 0)}, geometry::AfterLastKey::Extend};
  step::Simulation simulation(model);
  const double whole = mass(kinds::solid(model));
  double before = 0;
  for (int i = 1; i <= 100; ++i) {
    const step::StepReport report = simulation.advance();
    ASSERT_TRUE(report.converged());
    const double speed = report.bodies[0].momentum[0] / whole;
    EXPECT_LE(speed, 1.02);
    before = speed;
    if (i <= 40) {
      EXPECT_NEAR(speed, 0.5 * 9.81 * 5e-3 * i, 0.02) << i;
    }
  }
  EXPECT_NEAR(before, 1, 2e-3);
}

// The step problems of one trajectory, solved by every method.
TEST(Contact, MethodsFindTheSameMinimiser) {
  step::Model model;
  model.step = 1.0 / 24;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-6};
  model.bodies = {solid(ball(0.5, 0.25, Vec3(0, 0.7, 0)), 3, 5e4, 0.4)};
  kinds::solid(model).initial_velocities.assign(kinds::solid(model).mesh.vertices.size(), Vec3(1, -3, 0));
  model.obstacles = {floor(), obstacle(geometry::level_set(geometry::Sphere{Vec3(0.8, 0.1, 0), 0.4}))};
  step::Simulation simulation(model);
  optimize::MinimizerOptions options;
  options.stopping = model.solver.stopping;
  for (int i = 0; i < 12; ++i) {
    std::vector<std::vector<double>> solutions;
    for (const auto method :
         {optimize::Method::Newton, optimize::Method::NewtonPcg, optimize::Method::Gast15}) {
      auto problem = simulation.step_problem(0, model.step);
      const auto summary = optimize::make_minimizer(method, problem.objective.size())
                               ->minimize(problem.objective, problem.start, options);
      EXPECT_TRUE(summary.converged())
          << optimize::name_of(method) << ", step " << i << ": " << summary.reason;
      solutions.push_back(problem.start);
    }
    EXPECT_LT(distance(solutions[0], solutions[1]), 1e-5);
    EXPECT_LT(distance(solutions[0], solutions[2]), 1e-5);
    ASSERT_TRUE(simulation.advance().accepted);
  }
}

// Vertices that begin inside are put outside without gaining speed.
TEST(Contact, StartsOutsideWithoutAKick) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.step = 1.0 / 24;
  model.bodies = {solid(box({1, 1, 1}, {3, 3, 3}), 3, 1e3, 0.3)};
  for (Vec3& p : kinds::solid(model).mesh.vertices) p[1] += 0.45;
  model.obstacles = {floor()};
  const step::Simulation simulation(model);
  EXPECT_LE(deepest(simulation), 1e-15);
  for (const double v : simulation.state().nodes(0).v) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace lope::verification
