// The time schemes converge with their orders: 1, 2, 2 (NUMERICS §1).
#include <verification/models.h>

namespace lope::verification {
namespace {

struct Damping {
  double mass = 0, stiffness = 0;
};

std::vector<double> final_positions(step::Scheme scheme, int steps, Damping damping) {
  step::Model model;
  model.scheme = scheme;
  model.step = 0.2 / steps;
  model.bodies = {solid(rectangle({1, 0.4}, {6, 3}), 2, 2e4)};
  kinds::solid(model).mass_damping = damping.mass;
  kinds::solid(model).stiffness_damping = damping.stiffness;
  matter::Handle clamp;
  for (std::size_t i = 0; i < kinds::solid(model).mesh.vertices.size(); ++i) {
    if (kinds::solid(model).mesh.vertices[i][0] < -0.49) clamp.vertices.push_back(static_cast<int>(i));
  }
  kinds::solid(model).handles = {clamp};
  solve_tightly(model);
  model.solver.stopping.tolerance = 1e-13;
  step::Simulation simulation(model);
  for (int i = 0; i < steps; ++i) simulation.advance();
  return simulation.state().nodes(0).x;
}

struct Case {
  step::Scheme scheme;
  double order;
  Damping damping;
};

class Order : public testing::TestWithParam<Case> {};
// Lagged Rayleigh damping is first order in time whatever the scheme, so the second-order schemes are damped by mass.
INSTANTIATE_TEST_SUITE_P(All, Order,
                         testing::Values(Case{step::Scheme::BackwardEuler, 1, {}}, Case{step::Scheme::Bdf2, 2, {}},
                                         Case{step::Scheme::Trapezoid, 2, {}},
                                         Case{step::Scheme::BackwardEuler, 1, {3, 0.002}},
                                         Case{step::Scheme::Bdf2, 2, {3, 0}},
                                         Case{step::Scheme::Trapezoid, 2, {3, 0}}));

TEST_P(Order, IsAsStated) {
  const auto [scheme, order, damping] = GetParam();
  // The trapezoid rule is the reference, except for lagged damping, where it would be of first order too.
  const bool lagged = damping.stiffness > 0;
  const auto reference = final_positions(lagged ? scheme : step::Scheme::Trapezoid, lagged ? 4096 : 1024, damping);
  const double coarse = distance(final_positions(scheme, 64, damping), reference);
  const double fine = distance(final_positions(scheme, 128, damping), reference);
  EXPECT_NEAR(std::log2(coarse / fine), order, 0.25) << coarse << " " << fine;
}

}  // namespace
}  // namespace lope::verification
