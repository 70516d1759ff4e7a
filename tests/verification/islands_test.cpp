// Bodies of one island are solved together and come out as if each were alone; a rejected step changes
// nothing; a released node feels its forces at once.
#include <lope/matter/island_objective.h>

#include <verification/models.h>

namespace lope::verification {
namespace {

step::Model two_blocks(bool together) {
  step::Model model;
  model.step = 0.02;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-9};
  model.bodies = {solid(box({1, 0.4, 0.4}, {5, 3, 3}), 3, 1e5, 0.4),
                  solid(box({0.6, 0.4, 0.4}, {4, 3, 3}), 3, 1e4, 0.3)};
  for (std::size_t b = 0; b < 2; ++b) {
    matter::SolidBody& body = kinds::solid(model, b);
    body.touches_others = body.self_contact = together;
    body.stiffness_damping = 1e-3 * static_cast<double>(b);
    matter::Handle handle;
    for (std::size_t i = 0; i < body.mesh.vertices.size(); ++i) {
      if (body.mesh.vertices[i][0] < -0.29) handle.vertices.push_back(static_cast<int>(i));
    }
    body.handles = {handle};
    for (Vec3& p : body.mesh.vertices) p += Vec3(0, 0, 3.0 * static_cast<double>(b));
  }
  return model;
}

TEST(Islands, BodiesThatDoNotTouchMoveAsIfAlone) {
  const step::Model joint = two_blocks(true), apart = two_blocks(false);
  step::Simulation one(joint), two(apart);
  ASSERT_EQ(one.island_count(), 1u);
  ASSERT_EQ(two.island_count(), 2u);
  for (int i = 0; i < 10; ++i) {
    const step::StepReport a = one.advance(), b = two.advance();
    ASSERT_TRUE(a.converged() && b.converged());
    for (std::size_t body = 0; body < 2; ++body) {
      EXPECT_EQ(a.bodies[body].island, 0u);
      EXPECT_EQ(b.bodies[body].island, body);
      const auto &x = one.state().nodes(body).x, &y = two.state().nodes(body).x;
      for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(x[k], y[k], 1e-8) << "body " << body;
    }
  }
}

// Assembled and matrix-free products agree, over both bodies and the fixed rows.
TEST(Islands, HessianIsTheBodiesSideBySide) {
  const step::Model model = two_blocks(true);
  step::Simulation simulation(model);
  auto problem = simulation.step_problem(0, model.step);
  for (std::size_t k = 0; k < problem.start.size(); ++k)
    problem.start[k] += 0.02 * std::sin(3.7 * static_cast<double>(k));
  problem.objective.move_to(problem.start);
  std::vector<double> p(problem.start.size()), y(p.size()), z(p.size());
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = std::cos(1.3 * static_cast<double>(k));
  const auto fixed = problem.objective.fixed_blocks();
  for (std::size_t k = 0; k < p.size(); ++k) p[k] *= fixed[k / 3] ? 0 : 1;
  for (const auto kind : {optimize::HessianKind::Raw, optimize::HessianKind::Projected}) {
    problem.objective.hessian(kind).multiply(p, y);
    problem.objective.hessian_times(kind, p, z);
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      largest = std::max(largest, std::abs(z[k]));
      difference = std::max(difference, std::abs(y[k] - z[k]));
    }
    EXPECT_LT(difference, 1e-12 * largest);
  }
}

// Neo-Hookean elements that begin inverted have no finite energy: the step cannot be taken.
TEST(Islands, ARejectedStepLeavesTheStateUntouched) {
  step::Model model;
  model.bodies = {solid(box({1, 1, 1}, {3, 3, 3}), 3, 1e5, 0.4, material::Density::NeoHookean)};
  matter::SolidBody& body = kinds::solid(model);
  body.handles = {{.vertices = {0, 1, 2}, .motion = {}}};
  body.initial_positions = body.mesh.vertices;
  for (Vec3& p : body.initial_positions) p[0] = -p[0];
  step::Simulation simulation(model);
  const step::State before = simulation.state();
  const step::StepReport report = simulation.advance();
  EXPECT_FALSE(report.accepted);
  EXPECT_TRUE(report.bodies.empty());
  EXPECT_EQ(simulation.state().step, 0);
  EXPECT_EQ(simulation.state().time, 0);
  EXPECT_EQ(simulation.state().nodes(0).anchors, before.nodes(0).anchors);
  EXPECT_EQ(simulation.state().nodes(0).x, before.nodes(0).x);
}

// Free fall from rest is exact for the trapezoid: ½ g h² in the first step after release.
TEST(Islands, ReleasedNodesFallAtOnceWithTheTrapezoid) {
  step::Model model;
  model.scheme = step::Scheme::Trapezoid;
  model.gravity = Vec3(0, -10, 0);
  model.step = 0.1;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-12};
  model.bodies = {solid(box({1, 1, 1}, {2, 2, 2}), 3, 1e5, 0.4)};
  matter::Handle all;
  for (std::size_t i = 0; i < kinds::solid(model).mesh.vertices.size(); ++i)
    all.vertices.push_back(static_cast<int>(i));
  all.end = 0.2;
  kinds::solid(model).handles = {all};
  step::Simulation simulation(model);
  const double start = simulation.state().nodes(0).x[1];
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(simulation.advance().converged());
    const double t = 0.1 * std::max(0, i - 2);
    EXPECT_NEAR(simulation.state().nodes(0).x[1], start - 5 * t * t, 1e-9) << "step " << i;
  }
}

}  // namespace
}  // namespace lope::verification
