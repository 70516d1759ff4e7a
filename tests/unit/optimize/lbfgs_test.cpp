#include <lope/base/random.h>
#include <lope/optimize/lbfgs.h>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/optimize/test_objectives.h>

namespace lope::optimize {
namespace {

constexpr int nodes = 60;

// E = ½ (x − c)ᵀ A (x − c), A the Hessian of a chain at rest.
class Quadratic final : public Objective {
 public:
  Quadratic()
      : chain_(nodes, 100, 1), centre_(chain_.size()), difference_(chain_.size()), product_(chain_.size()) {
    for (std::size_t k = 2; k < centre_.size(); ++k) centre_[k] = random_unit(3, k);
    std::vector<double> rest(chain_.size(), 0.0);
    for (std::size_t i = 0; i < nodes; ++i) rest[2 * i] = static_cast<double>(i);
    chain_.move_to(rest);
  }
  std::span<const double> minimiser() const { return centre_; }
  std::size_t size() const override { return chain_.size(); }
  int block_size() const override { return 2; }
  std::span<const std::uint8_t> fixed_blocks() const override { return chain_.fixed_blocks(); }
  const CharacteristicScales& scales() const override { return chain_.scales(); }
  void move_to(std::span<const double> x) override {
    linalg::add_scaled(x, -1, centre_, difference_);
    chain_.hessian(HessianKind::Raw).multiply(difference_, product_);
    product_[0] = product_[1] = 0;
  }
  double value(double) override { return 0.5 * linalg::dot(difference_, product_); }
  double value_noise() override { return 1e-15 * value(0); }
  void gradient(std::span<double> g) override { linalg::copy(product_, g); }
  const linalg::BlockMatrix& hessian(HessianKind kind) override { return chain_.hessian(kind); }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
    hessian(kind).multiply(d, y);
  }
  std::vector<std::vector<int>> cover(int parts) const override { return chain_.cover(parts); }
  ScalarModel scalar_model() override { return chain_.scalar_model(); }

 private:
  SpringChain chain_;
  std::vector<double> centre_, difference_, product_;
};

MinimizerSummary solve(Objective& objective, std::vector<double>& x, const LbfgsOptions& options,
                       double tolerance = 1e-9) {
  x.assign(objective.size(), 0.0);
  MinimizerOptions minimizer_options;
  minimizer_options.stopping = {StoppingTest::GradientNorm, tolerance};
  minimizer_options.max_iterations = 2000;
  return Lbfgs(options).minimize(objective, x, minimizer_options);
}

double distance(std::span<const double> x, std::span<const double> y) {
  std::vector<double> difference(x.begin(), x.end());
  linalg::combine(-1, y, 1, difference);
  return linalg::norm(difference);
}

TEST(Lbfgs, SolvesAQuadraticInOneStepWithTheExactInverse) {
  Quadratic objective;
  std::vector<double> x;
  LbfgsOptions options;
  options.inverse.kind = InverseKind::Cholesky;
  const auto summary = solve(objective, x, options);
  ASSERT_TRUE(summary.converged());
  EXPECT_EQ(summary.iterations, 1);
  EXPECT_DOUBLE_EQ(summary.history.back().step_length, 1);
  EXPECT_LT(distance(x, objective.minimiser()), 1e-9);
}

// On a quadratic with exact line searches and a full window L-BFGS is CG with D as the preconditioner: it
// ends after as many steps as D⁻¹A has distinct eigenvalues. Eq. 14 is the exact line search here.
TEST(Lbfgs, EndsAfterAsManyStepsAsThereAreInterfaces) {
  Quadratic objective;
  for (const auto weighting : {linalg::Weighting::Symmetric, linalg::Weighting::OneSided}) {
    std::vector<double> x;
    LbfgsOptions options;
    options.inverse.kind = InverseKind::Subdomains;
    options.inverse.subdomains = 3;
    options.inverse.weighting = weighting;
    options.window = 40;
    const auto summary = solve(objective, x, options, 1e-7);
    ASSERT_TRUE(summary.converged()) << summary.reason;
    EXPECT_LE(summary.iterations, 14);
    EXPECT_LT(distance(x, objective.minimiser()), 1e-6);
  }
}

// The first iterate of DOT as printed, by hand: x − α D∇E with the averaged solves of six subdomains (eq. 13) and the α of
// eq. 14; later ones have five pairs.
TEST(Lbfgs, DotAsPrintedTakesTheStepsOfThePaper) {
  const LbfgsOptions printed = dot_as_printed();
  EXPECT_EQ(printed.window, 5);
  EXPECT_EQ(printed.renew_after, 0);
  EXPECT_FALSE(printed.keep_between || printed.inverse.single_precision);
  EXPECT_EQ(printed.inverse.coarse_size, 0);

  Quadratic objective;
  std::vector<double> x(objective.size(), 0.0), g(x.size()), p(x.size()), hp(x.size());
  linalg::Schwarz<double> averaged(linalg::Weighting::OneSided);
  averaged.set_cover(objective.cover(6));
  const linalg::BlockMatrix& hessian = objective.hessian(HessianKind::Projected);
  ASSERT_TRUE(averaged.update(hessian));
  objective.move_to(x);
  objective.gradient(g);
  averaged.apply(g, p);
  hessian.multiply(p, hp);
  const double step = std::max(0.1, linalg::dot(p, g) / linalg::dot(p, hp));

  MinimizerOptions one;
  one.stopping = {StoppingTest::GradientNorm, 1e-9};
  one.max_iterations = 1;
  const auto summary = Lbfgs(printed).minimize(objective, x, one);
  EXPECT_EQ(summary.outcome, Outcome::IterationLimit);
  EXPECT_NEAR(summary.history.back().step_length, step, 1e-12);
  linalg::combine(step, p, 1, x);
  EXPECT_LT(linalg::norm(x), 1e-12);
}

TEST(Lbfgs, TakesTheInverseAtTheReference) {
  SpringChain chain(nodes, 100, 1);
  std::vector<double> reference(chain.size(), 0.0), start(chain.size());
  for (std::size_t i = 0; i < nodes; ++i) reference[2 * i] = static_cast<double>(i);
  for (std::size_t k = 2; k < start.size(); ++k) start[k] = reference[k] + 0.02 * (random_unit(5, k) - 0.5);
  LbfgsOptions options;
  options.inverse.kind = InverseKind::Cholesky;
  MinimizerOptions at_start, at_reference;
  at_start.stopping = at_reference.stopping = {StoppingTest::GradientNorm, 1e-9};
  at_reference.reference = reference;
  auto x = start, y = start;
  const auto first = Lbfgs(options).minimize(chain, x, at_start);
  const auto second = Lbfgs(options).minimize(chain, y, at_reference);
  ASSERT_TRUE(first.converged() && second.converged());
  EXPECT_LT(distance(x, reference), 1e-8);
  EXPECT_LT(distance(y, reference), 1e-8);
  EXPECT_LE(second.iterations, first.iterations);  // the Hessian at the minimiser is the better model
}

TEST(Lbfgs, WithoutAScalarModelTheLaplacianFails) {
  class NoModel final : public Objective {
   public:
    std::size_t size() const override { return chain_.size(); }
    int block_size() const override { return 2; }
    std::span<const std::uint8_t> fixed_blocks() const override { return chain_.fixed_blocks(); }
    void move_to(std::span<const double> x) override { chain_.move_to(x); }
    double value(double) override { return chain_.value(0); }
    double value_noise() override { return chain_.value_noise(); }
    void gradient(std::span<double> g) override { chain_.gradient(g); }
    const linalg::BlockMatrix& hessian(HessianKind kind) override { return chain_.hessian(kind); }
    void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
      chain_.hessian_times(kind, d, y);
    }
    const CharacteristicScales& scales() const override { return chain_.scales(); }

   private:
    SpringChain chain_{nodes, 100, 1};
  } objective;
  std::vector<double> x;
  LbfgsOptions options;
  options.inverse.kind = InverseKind::Laplacian;
  const auto summary = solve(objective, x, options);
  EXPECT_EQ(summary.outcome, Outcome::Failed);
  EXPECT_FALSE(summary.reason.empty());
}

TEST(Subdomains, TheirNumberDependsOnTheSizeAlone) {
  InverseOptions options;
  options.subdomain_size = 100;
  EXPECT_EQ(subdomain_count(options, 10), 1);
  EXPECT_EQ(subdomain_count(options, 1000), 10);
  options.subdomains = 6;
  EXPECT_EQ(subdomain_count(options, 1000), 6);
}

}  // namespace
}  // namespace lope::optimize
