// Projective dynamics on a chain of springs: it finds the minimum, it is faster with Chebyshev's weights and with levels, it never goes up,
// and it says when it has not arrived.
#include <lope/base/random.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/projective_dynamics.h>
#include <lope/optimize/projective_step.h>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/optimize/test_objectives.h>

namespace lope::optimize {
namespace {

using Global = ProjectiveDynamicsOptions::Global;

constexpr int nodes = 40;

std::vector<double> chain_with_noise(double noise) {
  std::vector<double> x(2 * nodes);
  for (std::size_t k = 2; k < x.size(); ++k)
    x[k] = (k % 2 == 0 ? static_cast<double>(k / 2) : 0.0) + noise * (random_unit(5, k) - 0.5);
  return x;
}

MinimizerSummary run(const ProjectiveDynamicsOptions& choice, std::vector<double>& x,
                     const StoppingOptions& stopping, int max_iterations, double pull = 20,
                     double model_scale = 1) {
  SpringChain chain(nodes, 100, pull);
  chain.scale_model(model_scale);
  MinimizerOptions options;
  options.stopping = stopping;
  options.max_iterations = max_iterations;
  return ProjectiveDynamics(choice).minimize(chain, x, options);
}

void expect_never_up(const MinimizerSummary& summary) {
  for (std::size_t k = 1; k < summary.history.size(); ++k)
    EXPECT_LE(summary.history[k].value, summary.history[k - 1].value * (1 + 1e-12) + 2e-12) << k;
}

double distance_to_minimum(const std::vector<double>& x) {
  std::vector<double> difference = chain_with_noise(0);
  linalg::combine(1, x, -1, difference);
  return linalg::max_block_norm(difference, 2);
}

TEST(ProjectiveDynamics, EveryKindFindsTheMinimumAndNeverGoesUp) {
  for (const Global global : {Global::Direct, Global::GaussSeidel, Global::FullMultigrid}) {
    for (const bool accelerates : {false, true}) {
      for (const double radius : {0.0, 0.7}) {
        for (const auto test : {StoppingTest::Displacement, StoppingTest::GradientNorm}) {
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(global) << accelerates << radius << static_cast<int>(test));
          std::vector<double> x = chain_with_noise(0.2);
          const auto summary = run(
              {.global = global, .sweeps = radius > 0 ? 3 : 1, .radius = radius, .accelerates = accelerates},
              x, {test, 1e-6}, 3000);
          ASSERT_TRUE(summary.converged()) << summary.reason;
          EXPECT_LE(distance_to_minimum(x), 3e-6);
          EXPECT_LE(summary.measure, summary.tolerance);
          expect_never_up(summary);
        }
      }
    }
  }
}

// Soft modes of a chain under a weak pull go slowly.
TEST(ProjectiveDynamics, ChebyshevAndLevelsSaveIterations) {
  const auto iterations = [](const ProjectiveDynamicsOptions& choice) {
    std::vector<double> x = chain_with_noise(0.2);
    const auto summary = run(choice, x, {StoppingTest::GradientNorm, 1e-5}, 20000, 2);
    EXPECT_TRUE(summary.converged()) << summary.reason;
    return summary.iterations;
  };
  const int direct = iterations({.global = Global::Direct});
  EXPECT_LT(2 * iterations({.global = Global::Direct, .accelerates = true}), direct);
  const int sweeps = iterations({.global = Global::GaussSeidel});
  EXPECT_LT(2 * iterations({.global = Global::GaussSeidel, .accelerates = true}), sweeps);
  EXPECT_GT(sweeps, direct);
}

// A factor of half of what bounds the Hessian would make the iteration run away: steps are halved, the energy falls all the same.
TEST(ProjectiveDynamics, ShortensStepsWhereTheMatrixIsTooSmall) {
  std::vector<double> x = chain_with_noise(0.2);
  const auto summary = run({}, x, {StoppingTest::GradientNorm, 1e-5}, 3000, 20, 0.25);
  ASSERT_TRUE(summary.converged()) << summary.reason;
  expect_never_up(summary);
  EXPECT_TRUE(std::any_of(summary.history.begin(), summary.history.end(),
                          [](const Iteration& i) { return i.line_search_steps > 1; }));
  EXPECT_LE(distance_to_minimum(x), 1e-5);
}

TEST(ProjectiveDynamics, SaysThatItHasNotArrived) {
  std::vector<double> x = chain_with_noise(0.5);
  const auto summary = run({}, x, {StoppingTest::Displacement, 1e-9}, 20, 1);
  EXPECT_EQ(summary.outcome, Outcome::IterationLimit);
  EXPECT_GT(distance_to_minimum(x), 1e-9);
}

TEST(ProjectiveDynamics, SaysWhatItMisses) {
  for (const Global global : {Global::Direct, Global::GaussSeidel, Global::FullMultigrid}) {
    SpringChain chain(nodes, 100, 1);
    chain.forget_structure();
    std::vector<double> x = chain_with_noise(0.1);
    const auto summary = ProjectiveDynamics({.global = global}).minimize(chain, x, {});
    EXPECT_EQ(summary.outcome, Outcome::Failed);
    EXPECT_NE(summary.reason.find("scalar model"), std::string::npos) << summary.reason;
  }
}

// The matrix is made once for as long as it stays what it is, and the result is the same with it at hand.
TEST(ProjectiveDynamics, TheMatrixAtHandGivesTheSameBits) {
  for (const Global global : {Global::Direct, Global::GaussSeidel, Global::FullMultigrid}) {
    SpringChain chain(nodes, 100, 20);
    ProjectiveDynamics used({.global = global, .accelerates = true}),
        fresh({.global = global, .accelerates = true});
    MinimizerOptions options;
    options.stopping = {StoppingTest::GradientNorm, 1e-4};
    options.max_iterations = 2000;
    std::vector<double> first = chain_with_noise(0.4), second = chain_with_noise(0.2), expected = second;
    used.minimize(chain, first, options);
    used.minimize(chain, second, options);
    fresh.minimize(chain, expected, options);
    EXPECT_EQ(second, expected);
  }
}

}  // namespace
}  // namespace lope::optimize
