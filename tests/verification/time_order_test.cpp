// The time schemes converge with their orders: 1, 2, 2 (NUMERICS §1).
#include <verification/models.h>

namespace lope::verification {
namespace {

std::vector<double> final_positions(step::Scheme scheme, int steps, double damping) {
  step::Model model;
  model.scheme = scheme;
  model.step = 0.2 / steps;
  model.solids = {solid(rectangle({1, 0.4}, {6, 3}), 2, 2e4)};
  model.solids[0].mass_damping = damping;
  model.solids[0].stiffness_damping = 0.002 * damping;
  step::Handle clamp;
  for (std::size_t i = 0; i < model.solids[0].mesh.vertices.size(); ++i) {
    if (model.solids[0].mesh.vertices[i][0] < -0.49) clamp.vertices.push_back(static_cast<int>(i));
  }
  model.solids[0].handles = {clamp};
  solve_tightly(model);
  model.solver.stopping.tolerance = 1e-13;
  step::Simulation simulation(model);
  for (int i = 0; i < steps; ++i) simulation.advance();
  return simulation.state().bodies[0].x;
}

struct Case {
  step::Scheme scheme;
  double order;
  double damping;
};

class Order : public testing::TestWithParam<Case> {};
// Lagged damping is first order in time whatever the scheme: the second-order schemes are tested without the lagged
// part in their damped case.
INSTANTIATE_TEST_SUITE_P(All, Order,
                         testing::Values(Case{step::Scheme::BackwardEuler, 1, 0}, Case{step::Scheme::Bdf2, 2, 0},
                                         Case{step::Scheme::Trapezoid, 2, 0},
                                         Case{step::Scheme::BackwardEuler, 1, 1}));

TEST_P(Order, IsAsStated) {
  const auto [scheme, order, damping] = GetParam();
  const step::Scheme reference_scheme = damping > 0 ? scheme : step::Scheme::Trapezoid;
  const auto reference = final_positions(reference_scheme, damping > 0 ? 4096 : 1024, damping);
  const double coarse = distance(final_positions(scheme, 64, damping), reference);
  const double fine = distance(final_positions(scheme, 128, damping), reference);
  EXPECT_NEAR(std::log2(coarse / fine), order, 0.25) << coarse << " " << fine;
}

}  // namespace
}  // namespace lope::verification
