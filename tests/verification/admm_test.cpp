// ADMM-PD: its pieces fit together, easy steps converge to the same minimiser, and what it does not reach it
// does not claim.
#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/matter/step_objective.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/split_objective.h>

#include <papers/penalty_admm.h>
#include <support/vectors.h>
#include <verification/models.h>

namespace lope::verification {
namespace {

// A bar under gravity, held at one end.
step::Model hanging_bar(material::Density density = material::Density::FixedCorotated) {
  step::Model model;
  model.step = 0.02;
  model.bodies = {solid(box({1, 0.25, 0.25}, {9, 3, 3}), 3, 1e5, 0.3, density)};
  matter::Handle clamp;
  for (std::size_t i = 0; i < kinds::solid(model).mesh.vertices.size(); ++i) {
    if (kinds::solid(model).mesh.vertices[i][0] < -0.49) clamp.vertices.push_back(static_cast<int>(i));
  }
  kinds::solid(model).handles = {clamp};
  return model;
}

std::vector<double> noise(std::size_t size, double scale, std::uint64_t seed) {
  std::vector<double> result(size);
  for (std::size_t k = 0; k < size; ++k) result[k] = scale * (2 * random_unit(seed, k) - 1);
  return result;
}

// ∇E = ∇Q + DᵀV P(Dx): with p = P/(2μ + λ), the weights w = V(2μ + λ) make Vp of it.
TEST(AdmmPd, SplitIsTheSameFunction) {
  step::Model model = hanging_bar();
  kinds::solid(model).mass_damping = 0.3;
  kinds::solid(model).stiffness_damping = 0.01;
  step::Simulation simulation(model);
  auto problem = simulation.step_problem(0, model.step);
  optimize::SplitObjective* split = problem.objective.split();
  ASSERT_NE(split, nullptr);
  std::vector<double> x = problem.start;
  const auto moved = noise(x.size(), 0.02, 1);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!problem.objective.fixed_blocks()[k / 3]) x[k] += moved[k];
  }
  std::vector<double> F(split->reduced_size()), g(x.size()), expected(x.size());
  split->reduce(x, F);
  const material::Parameters& parameters = kinds::solid(model).materials[0];
  for (std::size_t e = 0; e < F.size(); e += 9) {
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> element(F.data() + e);
    element = material::stress<3>(parameters, element) / (2 * parameters.mu + parameters.lambda);
  }
  split->quadratic_gradient(x, g);
  split->add_transposed(F, g);
  problem.objective.move_to(x);
  problem.objective.gradient(expected);
  EXPECT_LT(distance(g, expected), 1e-10 * (1 + linalg::norm(expected)));
}

// The global matrix is Hess Q + DᵀWD (no stiffness damping).
TEST(AdmmPd, ScalarModelIsTheGlobalMatrix) {
  step::Model model = hanging_bar();
  kinds::solid(model).mass_damping = 0.3;
  step::Simulation simulation(model);
  auto problem = simulation.step_problem(0, model.step);
  optimize::SplitObjective* split = problem.objective.split();
  ASSERT_NE(split, nullptr);
  const auto fixed = problem.objective.fixed_blocks();
  std::vector<double> step = noise(problem.start.size(), 1, 2);
  for (std::size_t k = 0; k < step.size(); ++k) {
    if (fixed[k / 3]) step[k] = 0;
  }
  std::vector<double> before(step.size()), after(step.size()), moved = problem.start,
                                                               F(split->reduced_size());
  split->quadratic_gradient(moved, before);
  linalg::combine(1, step, 1, moved);
  split->quadratic_gradient(moved, after);
  linalg::combine(-1, before, 1, after);
  split->reduce(step, F);
  split->add_transposed(F, after);
  const auto* scalar = problem.objective.scalar_model().matrix;
  ASSERT_NE(scalar, nullptr);
  const std::size_t n = step.size() / 3;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> component(n), product(n);
    for (std::size_t i = 0; i < n; ++i) component[i] = step[3 * i + c];
    scalar->multiply(component, product);
    for (std::size_t i = 0; i < n; ++i) {
      if (!fixed[i]) {
        EXPECT_NEAR(product[i], after[3 * i + c], 1e-9 * linalg::norm(after)) << i;
      }
    }
  }
}

class AdmmDensities : public testing::TestWithParam<material::Density> {};
INSTANTIATE_TEST_SUITE_P(All, AdmmDensities,
                         testing::Values(material::Density::FixedCorotated, material::Density::Arap,
                                         material::Density::StableNeoHookean, material::Density::NeoHookean));

TEST_P(AdmmDensities, FindsNewtonsMinimiserOfEasySteps) {
  const step::Model model = hanging_bar(GetParam());
  step::Simulation simulation(model);
  optimize::MinimizerOptions options;
  options.stopping.tolerance = 2e-4;
  options.max_iterations = 3000;
  const auto admm = optimize::make_minimizer(optimize::Method::AdmmPd,
                                             simulation.step_problem(0, model.step).objective.size());
  for (int i = 0; i < 4; ++i) {
    auto problem = simulation.step_problem(0, model.step);
    std::vector<double> exact = problem.start;
    optimize::MinimizerOptions tight;
    tight.stopping.tolerance = 1e-10;
    ASSERT_TRUE(optimize::make_minimizer(optimize::Method::Newton, exact.size())
                    ->minimize(problem.objective, exact, tight)
                    .converged());
    const auto summary = admm->minimize(problem.objective, problem.start, options);
    ASSERT_TRUE(summary.converged()) << summary.reason;
    EXPECT_LT(distance(problem.start, exact), 3 * options.stopping.tolerance) << "step " << i;
    ASSERT_TRUE(simulation.advance().converged());
  }
}

TEST(AdmmPd, SaysWhenItDoesNotConverge) {
  step::Model model = hanging_bar();
  model.solver.method = optimize::Method::AdmmPd;
  model.solver.max_iterations = 20;
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-9};
  step::Simulation simulation(model);
  const step::StepReport report = simulation.advance();
  ASSERT_EQ(report.islands.size(), 1u);
  EXPECT_EQ(report.islands[0].solve.outcome, optimize::Outcome::IterationLimit);
  EXPECT_EQ(report.islands[0].solve.iterations, 20);
  EXPECT_FALSE(report.converged());
}

// The alternation that DOT §4.6 leaves converges, slowly, to the minimiser, whatever the weights.
TEST(PenaltyAdmm, FindsTheMinimiserOfAStep) {
  const step::Model model = hanging_bar();
  step::Simulation simulation(model);
  auto problem = simulation.step_problem(0, model.step);
  optimize::MinimizerOptions options;
  options.stopping = {optimize::StoppingTest::CharacteristicGlobal, 1e-9};
  options.max_iterations = 400;
  std::vector<double> expected = problem.start;
  ASSERT_TRUE(optimize::make_minimizer(optimize::Method::Newton, expected.size())
                  ->minimize(problem.objective, expected, options)
                  .converged());
  ASSERT_GT(distance(expected, problem.start), 1e-4);
  for (const double weight : {0.3, 1.0}) {
    std::vector<double> x = problem.start;
    const auto admm = bench::make_penalty_admm(kinds::solid(model), model.step, {.subdomains = 3, .weight = weight});
    const auto summary = admm->minimize(problem.objective, x, options);
    EXPECT_TRUE(summary.converged()) << summary.reason << " " << summary.measure;
    EXPECT_GT(summary.iterations, 5);
    EXPECT_LT(distance(x, expected), 1e-3 * distance(expected, problem.start)) << weight;
  }
}

}  // namespace
}  // namespace lope::verification
