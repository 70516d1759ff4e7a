// What whoever holds a model may add to its bodies: forces, scripts of handles, energies. And states that are handed over.
#include <lope/optimize/check_derivatives.h>

#include <algorithm>
#include <cmath>

#include "step_models.h"

namespace lope::step {
namespace {

matter::NodalBody& body(Model& model) { return dynamic_cast<matter::NodalBody&>(*model.bodies[0]); }

Model free_block() {
  Model model;
  model.step = 0.01;
  model.bodies = {solid(box({0.4, 0.4, 0.4}, {3, 3, 3}), 3, 1e5, 0.3)};
  return model;
}

// ½ k |x_i − x_j|², of two nodes that no element needs to couple.
class Spring final : public matter::ContactTerm {
 public:
  Spring(std::size_t i, std::size_t j, double k) : i_(i), j_(j), k_(k) {}
  void move_to(std::span<const double> x) override { way_ = matter::node(x, i_, 3) - matter::node(x, j_, 3); }
  double value() override { return 0.5 * k_ * way_.squaredNorm(); }
  double value_noise() override { return 1e-15 * value(); }
  void add_gradient(std::span<double> g) override {
    for (Eigen::Index c = 0; c < 3; ++c) {
      g[3 * i_ + static_cast<std::size_t>(c)] += k_ * way_[c];
      g[3 * j_ + static_cast<std::size_t>(c)] -= k_ * way_[c];
    }
  }
  void add_hessian(optimize::HessianKind, linalg::BlockAssembler& hessian) override {
    for (const std::size_t node : {i_, j_}) {
      for (std::int64_t c = 0; c < 3; ++c)
        hessian.blocks()[hessian.pattern().diagonal(static_cast<int>(node)) * 9 + 4 * c] += k_;
    }
    const linalg::Coupling apart{
        static_cast<int>(i_), static_cast<int>(j_), {-k_, 0, 0, 0, -k_, 0, 0, 0, -k_}};
    hessian.add_couplings(std::span(&apart, 1));
  }
  void add_hessian_times(optimize::HessianKind, std::span<const double> p, std::span<double> y) override {
    for (std::size_t c = 0; c < 3; ++c) {
      const double force = k_ * (p[3 * i_ + c] - p[3 * j_ + c]);
      y[3 * i_ + c] += force;
      y[3 * j_ + c] -= force;
    }
  }

 private:
  std::size_t i_, j_;
  double k_;
  Vec3 way_ = Vec3::Zero();
};

TEST(Additions, AForceOfTheWeightLetsABodyFloat) {
  Model model = free_block();
  const std::vector<double> masses = [&] {
    Simulation simulation(model);
    const auto span = simulation.matter(0).nodal()->objective().masses();
    return std::vector<double>(span.begin(), span.end());
  }();
  body(model).forces.push_back([&](double, std::span<const double>, std::span<double> force) {
    for (std::size_t i = 0; i < masses.size(); ++i) force[3 * i + 1] += 9.81 * masses[i];
  });
  Simulation simulation(model);
  const std::vector<double> start = simulation.state().nodes(0).x;
  for (int k = 0; k < 5; ++k) EXPECT_TRUE(simulation.advance().converged());
  EXPECT_LT(verification::distance(simulation.state().nodes(0).x, start), 1e-8);
}

// Bits of a motion that says the same.
TEST(Additions, AScriptTakesThePlaceOfAMotion) {
  Model given = held_bar(), scripted = held_bar();
  Handle& handle = body(scripted).handles[1];
  const geometry::Motion motion = handle.motion;
  handle.motion = {};
  handle.script = [motion](double time, std::span<const double> anchor, std::span<double> places) {
    for (std::size_t k = 0; k < anchor.size(); k += 3) {
      const Vec3 p = motion.position(Vec3(anchor[k], anchor[k + 1], anchor[k + 2]), time);
      std::copy_n(p.data(), 3, &places[k]);
    }
  };
  Simulation one(given), other(scripted);
  for (int k = 0; k < 8; ++k) {
    one.advance();
    other.advance();
  }
  expect_same(one.state().nodes(0), other.state().nodes(0));
}

Model tied_blocks(Scheme scheme) {
  Model model = stacked_blocks();
  model.obstacles.clear();
  model.scheme = scheme;
  model.gravity = Vec3::Zero();
  auto& upper = dynamic_cast<matter::NodalBody&>(*model.bodies[1]);
  upper.initial_velocities.clear();
  const std::size_t last = upper.rest_positions().size() - 1;
  upper.energies.push_back(
      [last](std::size_t first) { return std::make_unique<Spring>(first, first + last, 40.0); });
  return model;
}

// Of the second body of an island; its nodes are at opposite corners.
TEST(Additions, AnEnergyIsMinimisedWithTheBodys) {
  Simulation simulation(tied_blocks(Scheme::BackwardEuler));
  const auto length = [&] {
    const auto& x = simulation.state().nodes(1).x;
    return (matter::node(x, 0, 3) - matter::node(x, x.size() / 3 - 1, 3)).norm();
  };
  const double before = length();
  {
    Simulation::StepProblem problem = simulation.step_problem(0, 0.01);
    EXPECT_LT(check_derivatives(problem.objective, problem.start).largest(), 1e-5);
  }
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(simulation.advance().converged());
  EXPECT_LT(length(), before - 1e-3);
  EXPECT_LT(simulation.report(1).momentum.norm(), 1e-3);
}

// What the body takes out of the energy is no gain that a scheme of second order would have to be replaced for.
TEST(Additions, AnEnergyIsPartOfTheBalance) {
  for (const Scheme scheme : {Scheme::Bdf2, Scheme::Trapezoid}) {
    Simulation simulation(tied_blocks(scheme));
    for (int k = 0; k < 6; ++k) {
      const StepReport report = simulation.advance();
      ASSERT_TRUE(report.accepted);
      for (const IslandReport& island : report.islands)
        EXPECT_FALSE(island.fell_back) << "step " << report.step;
    }
  }
}

TEST(HandOver, TheStateStaysWithWhoHasIt) {
  for (const bool water : {false, true}) {
    const Model model = water ? water_and_bar() : held_bar();
    Simulation watched(model), alone(model);
    for (int k = 0; k < 3; ++k) {
      watched.advance();
      alone.advance();
    }
    const ArrayView view = watched.state().bodies[0]->arrays().front();
    const auto numbers = std::get<std::span<const double>>(view.values);
    const std::vector<double> before(numbers.begin(), numbers.end());
    std::vector<Polymorphic<matter::BodyState>> kept;
    for (std::size_t i = 0; i < model.bodies.size(); ++i) kept.push_back(watched.hand_over(i));
    watched.advance();
    alone.advance();
    EXPECT_TRUE(std::equal(before.begin(), before.end(), numbers.begin(), numbers.end()));
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const auto mine = watched.state().bodies[i]->arrays(), theirs = alone.state().bodies[i]->arrays();
      ASSERT_EQ(mine.size(), theirs.size());
      for (std::size_t k = 0; k < mine.size(); ++k) {
        std::visit(
            [&](auto values) {
              const auto other = std::get<decltype(values)>(theirs[k].values);
              EXPECT_TRUE(std::ranges::equal(values, other)) << mine[k].name;
            },
            mine[k].values);
      }
    }
    watched.hand_over(0);
    EXPECT_TRUE(watched.take_back() && alone.take_back());
    expect_same(watched.state().nodes(0), alone.state().nodes(0));
  }
}

}  // namespace
}  // namespace lope::step
