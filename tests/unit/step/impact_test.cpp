// Bounces at frame-rate steps: a step in which contact takes energy is taken in parts.
#include "step_models.h"

namespace lope::step {
namespace {

// A box of rubber that hits the ground after 0.3 s; the steps are those of a film.
Model falling_box(Scheme scheme, double impact_step) {
  Model model;
  model.step = 1.0 / 24;
  model.scheme = scheme;
  model.dissipation = scheme == Scheme::Trapezoid ? 0.2 : 0;
  model.bodies = {solid(box({0.2, 0.2, 0.2}, {4, 4, 4}), 3, 1e6)};
  model.obstacles = {obstacle(ground(-0.55), ContactKind::Constraint, 0)};
  model.impact_step = impact_step;
  return model;
}

struct Bounce {
  double height = 0;  // of the centre, after the first contact
  double most_energy = 0, start_energy = 0;
  int divided = 0;  // steps
};

// Until the top of the first bounce is over.
Bounce bounce(const Model& model) {
  Simulation simulation(model);
  Bounce result;
  result.start_energy = simulation.energies(0).total();
  double lowest = 0;
  for (std::int64_t i = 1; static_cast<double>(i) * model.step < 0.55; ++i) {
    const StepReport report = simulation.advance();
    EXPECT_TRUE(report.converged()) << i;
    EXPECT_EQ(report.step, i);
    EXPECT_EQ(simulation.state().step, i);
    EXPECT_NEAR(simulation.state().time, static_cast<double>(i) * model.step, 1e-9);
    result.divided += report.parts > 1 ? 1 : 0;
    result.most_energy = std::max(result.most_energy, report.bodies[0].energy.total());
    double height = 0;
    const std::vector<double>& x = simulation.state().nodes(0).x;
    for (std::size_t k = 1; k < x.size(); k += 3) height += 3 * x[k] / static_cast<double>(x.size());
    if (height < lowest) lowest = result.height = height;
    result.height = std::max(result.height, height);
  }
  return result;
}

TEST(Impact, WithoutPartsTheBounceIsLost) {
  const Bounce lost = bounce(falling_box(Scheme::BackwardEuler, 0));
  EXPECT_EQ(lost.divided, 0);
  EXPECT_LT(lost.height, -0.44);  // it lies on the ground
}

// The bounce is the one of a run all of whose steps are short, and there is never more energy than at the start.
TEST(Impact, PartsKeepIt) {
  for (const Scheme scheme : {Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Trapezoid}) {
    const Bounce divided = bounce(falling_box(scheme, 1e-3));
    Model shorter = falling_box(scheme, 0);
    shorter.step /= 42;
    const Bounce expected = bounce(shorter);
    EXPECT_GT(expected.height, -0.42);
    // Backward Euler falls more slowly in long steps, and with a step of it BDF-2 begins anew where the length changes.
    const double allowed = scheme == Scheme::Trapezoid ? 0.01 : 0.04;
    EXPECT_NEAR(divided.height, expected.height, allowed) << static_cast<int>(scheme);
    EXPECT_GT(divided.divided, 0);
    EXPECT_LT(divided.divided, 4);  // while it flies, steps are whole
    EXPECT_LE(divided.most_energy, divided.start_energy + 0.01 * std::abs(divided.start_energy) + 1e-9);
  }
}

TEST(Impact, ABodyAtRestTakesWholeSteps) {
  Model model = falling_box(Scheme::BackwardEuler, 1e-3);
  model.obstacles = {obstacle(ground(-0.1), ContactKind::Constraint, 0)};
  Simulation simulation(model);
  for (int i = 0; i < 24; ++i) simulation.advance();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(simulation.advance().parts, 1) << i;
}

// A step in parts is one step: it is taken back as a whole, and taken again with the same bits.
TEST(Impact, IsOneStepToTakeBack) {
  Simulation simulation(falling_box(Scheme::Trapezoid, 2e-3));
  while (true) {
    const State before = simulation.state();
    if (simulation.advance().parts == 1) {
      ASSERT_LT(simulation.state().step, 24);
      continue;
    }
    const State after = simulation.state();
    ASSERT_TRUE(simulation.take_back());
    EXPECT_EQ(simulation.state().step, before.step);
    EXPECT_EQ(simulation.state().time, before.time);
    EXPECT_EQ(simulation.state().nodes(0).x, before.nodes(0).x);
    EXPECT_EQ(simulation.state().nodes(0).v, before.nodes(0).v);
    simulation.advance();
    EXPECT_EQ(simulation.state().nodes(0).x, after.nodes(0).x);
    EXPECT_EQ(simulation.state().nodes(0).v, after.nodes(0).v);
    break;
  }
}

// Broken off in the middle: nothing has happened.
TEST(Impact, AnInterruptedStepLeavesTheState) {
  Simulation simulation(falling_box(Scheme::Trapezoid, 2e-3));
  State before = simulation.state();
  while (simulation.advance().parts == 1) before = simulation.state();
  ASSERT_TRUE(simulation.take_back());
  int asked = 0;
  simulation.set_stop_request([&] { return ++asked > 12; });
  const StepReport report = simulation.advance();
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.accepted);
  EXPECT_EQ(simulation.state().step, before.step);
  EXPECT_EQ(simulation.state().time, before.time);
  EXPECT_EQ(simulation.state().nodes(0).x, before.nodes(0).x);
  EXPECT_EQ(simulation.state().nodes(0).v, before.nodes(0).v);
}

}  // namespace
}  // namespace lope::step
