// Conservation, equilibrium and free fall (NUMERICS §9).
#include <verification/models.h>

namespace lope::verification {
namespace {

class Schemes : public testing::TestWithParam<step::Scheme> {};
INSTANTIATE_TEST_SUITE_P(All, Schemes,
                         testing::Values(step::Scheme::BackwardEuler, step::Scheme::Bdf2, step::Scheme::Trapezoid));

TEST_P(Schemes, LinearMomentumIsConserved) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.scheme = GetParam();
  model.step = 0.02;
  model.bodies = {solid(box({1, 0.4, 0.3}, {6, 4, 3}), 3, 1e5)};
  kinds::solid(model).initial_velocities = spin(kinds::solid(model).mesh, 3, {0.5, -0.2, 0.1});
  solve_tightly(model);
  step::Simulation simulation(model);
  const double mass = 1000 * 1 * 0.4 * 0.3;
  for (int i = 0; i < 20; ++i) {
    const auto report = simulation.advance();
    ASSERT_TRUE(report.converged()) << report.islands[0].solve.reason;
    EXPECT_LT((report.bodies[0].momentum - mass * Vec3(0.5, -0.2, 0.1)).norm(), 1e-6 * mass);
  }
}

TEST_P(Schemes, RestStaysAtRest) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.scheme = GetParam();
  model.bodies = {solid(box({1, 1, 1}, {4, 4, 4}), 3, 1e6)};
  step::Simulation simulation(model);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(simulation.advance().islands[0].solve.iterations, 0);
  for (const double v : simulation.state().nodes(0).v) EXPECT_NEAR(v, 0, 1e-12);
}

TEST_P(Schemes, FreeFallFollowsTheScheme) {
  step::Model model;
  model.gravity = Vec3(0, -10, 0);
  model.scheme = GetParam();
  model.step = 0.05;
  model.bodies = {solid(box({1, 1, 1}, {3, 3, 3}), 3, 1e6)};
  step::Simulation simulation(model);
  const double start = simulation.state().nodes(0).x[1];
  for (int i = 0; i < 10; ++i) simulation.advance();
  // Constant acceleration: the velocity is exact for all schemes, the position for the second-order ones up to their
  // first step.
  EXPECT_NEAR(simulation.state().nodes(0).v[1], -5, 1e-9);
  const double fallen = start - simulation.state().nodes(0).x[1];
  EXPECT_NEAR(fallen, 1.25, GetParam() == step::Scheme::Trapezoid ? 1e-9 : 0.13);
}

TEST(Energy, BackwardEulerDampsAndTrapezoidAlmostConserves) {
  const auto energy_ratio = [](step::Scheme scheme) {
    step::Model model;
    model.gravity = Vec3::Zero();
    model.scheme = scheme;
    model.step = 0.01;
    model.bodies = {solid(rectangle({1, 0.5}, {7, 4}), 2, 1e5)};
    for (const Vec3& p : kinds::solid(model).mesh.vertices) kinds::solid(model).initial_positions.emplace_back(1.05 * p[0], p[1], 0);
    solve_tightly(model);
    step::Simulation simulation(model);
    const double before = simulation.energies(0).total();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(simulation.advance().converged());
    return simulation.energies(0).total() / before;
  };
  EXPECT_LT(energy_ratio(step::Scheme::BackwardEuler), 0.5);
  EXPECT_NEAR(energy_ratio(step::Scheme::Trapezoid), 1, 0.05);
}

TEST(Damping, RayleighDampingStopsAVibrationAndNotAFlight) {
  step::Model model;
  model.gravity = Vec3::Zero();
  model.scheme = step::Scheme::Trapezoid;
  model.step = 0.01;
  model.bodies = {solid(rectangle({1, 0.5}, {7, 4}), 2, 1e5)};
  kinds::solid(model).stiffness_damping = 0.05;
  for (const Vec3& p : kinds::solid(model).mesh.vertices) kinds::solid(model).initial_positions.emplace_back(1.05 * p[0], p[1], 0);
  kinds::solid(model).initial_velocities.assign(kinds::solid(model).mesh.vertices.size(), Vec3(1, 0, 0));
  solve_tightly(model);
  step::Simulation simulation(model);
  const double elastic = simulation.energies(0).elastic;
  for (int i = 0; i < 200; ++i) {
    const auto report = simulation.advance();
    ASSERT_TRUE(report.converged()) << i << ": " << report.islands[0].solve.reason << " " << report.islands[0].solve.measure;
  }
  EXPECT_LT(simulation.energies(0).elastic, 1e-3 * elastic);
  EXPECT_NEAR(simulation.energies(0).kinetic, 0.5 * 1000 * 0.5, 0.5);  // flight at 1 m/s goes on
}

}  // namespace
}  // namespace lope::verification
