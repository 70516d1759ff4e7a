#include <lope/optimize/line_search.h>

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

namespace lope::optimize {
namespace {

// A function of one variable dressed up as an objective (the second coordinate does nothing).
class Curve final : public Objective {
 public:
  Curve(std::function<double(double)> f, std::function<double(double)> df, double bound)
      : f_(std::move(f)), df_(std::move(df)), bound_(bound) {}
  std::size_t size() const override { return 2; }
  int block_size() const override { return 2; }
  std::span<const std::uint8_t> fixed_blocks() const override { return fixed_; }
  const CharacteristicScales& scales() const override { return scales_; }
  void move_to(std::span<const double> x) override { x_ = x[0]; }
  double value(double) override { return f_(x_); }
  double value_noise() override { return 0; }
  void gradient(std::span<double> g) override {
    g[0] = df_(x_);
    g[1] = 0;
  }
  const linalg::BlockMatrix& hessian(HessianKind) override { return matrix_; }
  void hessian_times(HessianKind, std::span<const double>, std::span<double>) override {}
  double largest_step(std::span<const double>) const override { return bound_; }

 private:
  std::function<double(double)> f_, df_;
  double bound_, x_ = 0;
  std::vector<std::uint8_t> fixed_{0};
  CharacteristicScales scales_;
  linalg::BlockMatrix matrix_{linalg::BlockPattern::from_groups(1, {}, 2), 2};
};

struct Case {
  const char* name;
  std::function<double(double)> f, df;
};

const std::vector<Case> cases = {
    {"far minimum", [](double x) { return (x - 40) * (x - 40); }, [](double x) { return 2 * (x - 40); }},
    {"near minimum", [](double x) { return std::pow(x - 0.01, 2) * 50; },
     [](double x) { return 100 * (x - 0.01); }},
    {"wavy", [](double x) { return -x - 2 * std::sin(3 * x) / 3 + 0.05 * x * x; },
     [](double x) { return -1 - 2 * std::cos(3 * x) + 0.1 * x; }},
    {"wall",
     [](double x) { return x < 0.3 ? -std::log(0.3 - x) - 8 * x : std::numeric_limits<double>::infinity(); },
     [](double x) { return 1 / (0.3 - x) - 8; }},
};

TEST(StrongWolfe, ConditionsHold) {
  for (const Case& c : cases) {
    Curve curve(c.f, c.df, std::numeric_limits<double>::infinity());
    const std::vector<double> x = {0, 0}, d = {1, 0};
    std::vector<double> trial(2);
    const double value = c.f(0), slope = c.df(0);
    const LineSearchResult r = LineSearch().strong_wolfe(curve, {x, d, value, slope}, {}, trial);
    ASSERT_TRUE(r.success) << c.name;
    EXPECT_LE(c.f(r.step), value + 1e-4 * r.step * slope) << c.name;
    EXPECT_LE(std::abs(c.df(r.step)), 0.9 * std::abs(slope)) << c.name;
    EXPECT_EQ(trial[0], r.step);
  }
}

TEST(StrongWolfe, TakesTheFullStepFirst) {
  Curve curve([](double x) { return (x - 1) * (x - 1); }, [](double x) { return 2 * (x - 1); },
              std::numeric_limits<double>::infinity());
  const std::vector<double> x = {0, 0}, d = {1, 0};
  std::vector<double> trial(2);
  const LineSearchResult r = LineSearch().strong_wolfe(curve, {x, d, 1, -2}, {}, trial);
  EXPECT_EQ(r.step, 1);
  EXPECT_EQ(r.evaluations, 1);
}

TEST(Backtracking, DecreasesAndRespectsTheBound) {
  for (const Case& c : cases) {
    Curve curve(c.f, c.df, 0.25);
    const std::vector<double> x = {0, 0}, d = {1, 0};
    std::vector<double> trial(2);
    const LineSearchResult r = LineSearch().backtrack(curve, {x, d, c.f(0), c.df(0)}, {}, trial);
    ASSERT_TRUE(r.success) << c.name;
    EXPECT_LE(r.step, 0.25);
    EXPECT_LE(r.value, c.f(0) + 1e-4 * r.step * c.df(0)) << c.name;
  }
}

TEST(Backtracking, LengthensAFirstStepThatIsTooShortUnlessToldNotTo) {
  Curve curve(cases[0].f, cases[0].df, std::numeric_limits<double>::infinity());
  const std::vector<double> x = {0, 0}, d = {1, 0};
  std::vector<double> trial(2);
  const LineSearchStart start = {x, d, cases[0].f(0), cases[0].df(0)};
  EXPECT_GT(LineSearch().backtrack(curve, start, {}, trial).step, 8);
  const LineSearchResult r = LineSearch().backtrack(curve, start, {.lengthens = false}, trial);
  EXPECT_EQ(r.step, 1);
  EXPECT_EQ(r.evaluations, 1);
}

TEST(Backtracking, AdmitsDefeatUphill) {
  Curve curve([](double x) { return x; }, [](double) { return 1.0; },
              std::numeric_limits<double>::infinity());
  const std::vector<double> x = {0, 0}, d = {1, 0};
  std::vector<double> trial(2);
  EXPECT_FALSE(LineSearch().backtrack(curve, {x, d, 0, 0}, {}, trial).success);
}

}  // namespace
}  // namespace lope::optimize
