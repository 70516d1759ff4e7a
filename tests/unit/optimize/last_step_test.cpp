#include <lope/linalg/sparse_cholesky.h>
#include <lope/optimize/methods.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace lope::optimize {
namespace {

// Two points that hardly anything holds, pressed against each other by a stiff contact, which no factor sees but for its diagonal. The
// preconditioned residual is that of the contact; how both move together must be found all the same.
TEST(DisplacementEstimate, SeesHowBodiesMoveTogetherThroughAStiffContact) {
  constexpr double soft = 1, stiff = 1e6;
  linalg::BlockMatrix h(linalg::BlockPattern::diagonal_only(2), 2);
  for (int i = 0; i < 2; ++i) {
    double* block = h.block(h.pattern().diagonal(i));
    block[0] = soft + stiff;
    block[3] = soft;
  }
  linalg::SparseCholesky<double> factor;
  factor.update(h);
  h.set_couplings(std::array{linalg::Coupling{0, 1, {-stiff, 0, 0, 0}}});
  const std::vector<double> gradient = {1 + 20, 0, 1 - 20, 0};
  std::vector<double> error(4);
  linalg::ConjugateGradient cg;
  const DisplacementEstimate estimate = estimate_displacement(linalg::local_space(), h, factor, cg, gradient, error, 100);
  EXPECT_TRUE(estimate.trustworthy);
  EXPECT_NEAR(error[0], 1 / soft, 0.1);
  EXPECT_NEAR(error[2], 1 / soft, 0.1);
}

// ½|p|²_M + ½ K max(0, n·p − c)²: a point that moves easily along y, and a slanted wall, which is seen from where begin_iteration()
// finds the point behind it on.
class PointAtAWall final : public Objective {
 public:
  PointAtAWall() : matrix_(linalg::BlockPattern::diagonal_only(1), 2) {
    scales_ = {.global = 1, .per_block = {1}, .length = 1};
  }
  std::size_t size() const override { return 2; }
  int block_size() const override { return 2; }
  std::span<const std::uint8_t> fixed_blocks() const override { return fixed_; }
  const CharacteristicScales& scales() const override { return scales_; }
  bool has_kinks() const override { return true; }
  bool begin_iteration() override {
    const bool before = std::exchange(seen_, depth() >= 0);
    return before != seen_;
  }
  void move_to(std::span<const double> x) override { p_ = {x[0], x[1]}; }
  double value(double) override { return 0.5 * (mass[0] * p_[0] * p_[0] + mass[1] * p_[1] * p_[1] + wall * pressed() * pressed()); }
  double value_noise() override { return 1e-16 * value(0); }
  void gradient(std::span<double> g) override {
    for (std::size_t k = 0; k < 2; ++k) g[k] = mass[k] * p_[k] + wall * pressed() * normal[k];
  }
  const linalg::BlockMatrix& hessian(HessianKind) override {
    const double k = pressed() > 0 ? wall : 0;
    double* block = matrix_.block(0);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) block[2 * i + j] = k * normal[i] * normal[j] + (i == j ? mass[i] : 0);
    }
    return matrix_;
  }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override { hessian(kind).multiply(d, y); }

  // Of a wall without end of stiffness: p = c M⁻¹n / nᵀM⁻¹n.
  static std::array<double, 2> minimiser() {
    const double share = normal[0] * normal[0] / mass[0] + normal[1] * normal[1] / mass[1];
    return {distance * normal[0] / mass[0] / share, distance * normal[1] / mass[1] / share};
  }

 private:
  static constexpr std::array<double, 2> mass = {1, 1e-6}, normal = {1, 1e-2};
  static constexpr double distance = -0.05, wall = 1e6;
  double depth() const { return normal[0] * p_[0] + normal[1] * p_[1] - distance; }
  double pressed() const { return seen_ ? std::max(0.0, depth()) : 0; }

  std::array<double, 2> p_ = {};
  bool seen_ = false;
  linalg::BlockMatrix matrix_;
  std::array<std::uint8_t, 1> fixed_ = {0};
  CharacteristicScales scales_;
};

// The first estimate, 9 cm to where the point would be without a wall, is within the accuracy. There it is behind the wall, which
// turns it away by metres.
TEST(LastStep, ThatMeetsSomethingNewIsNotTheLast) {
  for (const Method method : {Method::Newton, Method::NewtonPcg, Method::Gast15, Method::LbfgsH}) {
    PointAtAWall point;
    std::vector<double> x = {-0.09, 0};
    MinimizerOptions options;
    options.stopping.tolerance = 0.1;
    const auto summary = make_minimizer(method, point.size())->minimize(point, x, options);
    ASSERT_TRUE(summary.converged()) << name_of(method) << ": " << summary.reason;
    EXPECT_GT(summary.iterations, 0);
    const auto expected = PointAtAWall::minimiser();
    ASSERT_LT(expected[1], -4);
    EXPECT_NEAR(x[0], expected[0], 0.3) << name_of(method);
    EXPECT_NEAR(x[1], expected[1], 0.3) << name_of(method);
  }
}

}  // namespace
}  // namespace lope::optimize
