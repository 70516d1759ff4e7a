// Flow inside a minimisation: its stress is that after the return mapping, its derivatives are those of its energy.
#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/material/plasticity.h>
#include <lope/material/yielding_hencky.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace lope::material {
namespace {

const Parameters elastic = from_young_poisson(Density::StvkHencky, 2e5, 0.3);

struct Law {
  const char* name;
  Plasticity plasticity;
  double variable;  // plastic
};
std::vector<Law> laws() {
  return {{"metal", {.flow = Flow::VonMises, .yield = 4e3}, 0.1},
          {"clay", {.flow = Flow::Bingham, .yield = 4e3, .viscosity = 300}, 0.1},
          {"sand", {.flow = Flow::DruckerPrager, .friction_angle = 0.6}, 0},
          {"sand that was thrown apart", {.flow = Flow::DruckerPrager, .friction_angle = 0.6}, 0.03}};
}
constexpr double h = 0.01;

template <int d>
Column<double, d> column(const Vec<d>& v) {
  Column<double, d> made;
  for (int i = 0; i < d; ++i) made[i] = v[i];
  return made;
}
template <int d>
Vec<d> vector(const Column<double, d>& c) {
  Vec<d> made;
  for (int i = 0; i < d; ++i) made[i] = c[i];
  return made;
}

// Descending.
template <int d>
Vec<d> stretches(std::uint64_t number) {
  Vec<d> sigma;
  for (int i = 0; i < d; ++i)
    sigma[i] = std::exp(0.15 * (2 * random_unit(3, number * 3 + static_cast<std::uint64_t>(i)) - 1.2));
  std::sort(sigma.data(), sigma.data() + d, std::greater<>());
  return sigma;
}

template <int d>
YieldingLame<double> constants(const Law& law, const Vec<d>& sigma) {
  const Yielding made = yielding<d>(elastic, law.plasticity, std::log(sigma.prod()), h, law.variable);
  return {elastic.mu, elastic.lambda, made.yield, made.left, made.correction, made.tension};
}

template <int d>
void check_stress() {
  for (const Law& law : laws()) {
    SCOPED_TRACE(law.name);
    int flowed = 0, kept = 0, open = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
      const Vec<d> trial = stretches<d>(number);
      double variable = law.variable;
      const Vec<d> after = flow<d>(elastic, law.plasticity, trial, h, variable);
      ((after - trial).norm() > 1e-12 ? flowed : kept) += 1;
      open += (after - Vec<d>::Ones()).norm() == 0;
      Column<double, d> g;
      YieldingHencky::gradient<double, d>(constants<d>(law, trial), column<d>(trial), g);
      const Vec<d> kirchhoff = trial.cwiseProduct(vector<d>(g));
      const Vec<d> expected = after.cwiseProduct(principal_stress<d>(elastic, after));
      EXPECT_LT((kirchhoff - expected).norm(), 1e-10 * elastic.mu) << number;
    }
    EXPECT_GT(flowed, 20);
    if (law.variable == 0 || law.plasticity.flow != Flow::DruckerPrager) {
      EXPECT_GT(kept, 3);
    }
    if (law.plasticity.flow == Flow::DruckerPrager) {
      EXPECT_GT(open, 10);
    }
  }
}
TEST(Yielding, StressIsThatAfterTheReturn) {
  check_stress<2>();
  check_stress<3>();
}

// With the lag held. Central differences of ψ and ψ_i, and of P for flip and twist.
template <int d>
void check_derivatives() {
  for (const Law& law : laws()) {
    SCOPED_TRACE(law.name);
    for (std::uint64_t number = 0; number < 50; ++number) {
      const Vec<d> sigma = stretches<d>(number);
      const YieldingLame<double> m =
          constants<d>(law, stretches<d>(number % 7));  // the pressure of another point
      const double strain = (sigma.array().log() - sigma.array().log().mean()).matrix().norm();
      const double trace = std::log(sigma.prod()) + m.correction;
      if (std::abs(strain - m.yield) < 1e-3 || std::abs(trace) < 1e-3)
        continue;  // the kinks of the second derivative
      Column<double, d> g;
      StretchHessian<double, d> H;
      YieldingHencky::gradient<double, d>(m, column<d>(sigma), g);
      YieldingHencky::hessian<double, d>(m, column<d>(sigma), H);
      const double t = 1e-6;
      for (int i = 0; i < d; ++i) {
        const auto at = [&](double step) {
          Vec<d> moved = sigma;
          moved[i] += step;
          return column<d>(moved);
        };
        const double up = YieldingHencky::energy<double, d>(m, at(t)),
                     down = YieldingHencky::energy<double, d>(m, at(-t));
        EXPECT_NEAR((up - down) / (2 * t), g[i], 1e-6 * elastic.mu);
        Column<double, d> ahead, behind;
        YieldingHencky::gradient<double, d>(m, at(t), ahead);
        YieldingHencky::gradient<double, d>(m, at(-t), behind);
        for (int j = 0; j < d; ++j)
          EXPECT_NEAR((ahead[j] - behind[j]) / (2 * t), H.stretch(i, j), 1e-5 * elastic.mu);
      }
      for (int pair = 0; pair < H.pairs; ++pair) {
        const int i = first_of_pair<d>(pair), j = second_of_pair<d>(pair);
        if (sigma[i] - sigma[j] > 1e-3) {
          EXPECT_NEAR(H.flip[pair], (g[i] - g[j]) / (sigma[i] - sigma[j]),
                      1e-9 * elastic.mu / (sigma[i] - sigma[j]));
        }
        EXPECT_NEAR(H.twist[pair], (g[i] + g[j]) / (sigma[i] + sigma[j]), 1e-9 * elastic.mu);
      }
    }
  }
}
TEST(Yielding, DerivativesAreThoseOfTheEnergy) {
  check_derivatives<2>();
  check_derivatives<3>();
}

TEST(Yielding, BelowYieldItIsStvkHencky) {
  const Vec3 sigma(1.01, 1.0, 0.985);
  const YieldingLame<double> m{elastic.mu, elastic.lambda, std::numeric_limits<double>::infinity(), 0, 0, 1};
  EXPECT_NEAR((YieldingHencky::energy<double, 3>(m, column<3>(sigma))),
              energy_of_stretches<3>(elastic, sigma), 1e-12 * elastic.mu);
  EXPECT_EQ((YieldingHencky::energy<double, 3>(m, column<3>(Vec3(1, 1, -0.1)))),
            std::numeric_limits<double>::infinity());
  const YieldingLame<double> yielding{elastic.mu, elastic.lambda, 1e-3, 0, 0, 1};
  StretchHessian<double, 3> H;
  YieldingHencky::hessian<double, 3>(yielding, column<3>(Vec3::Ones()), H);
  for (int pair = 0; pair < 3; ++pair) EXPECT_NEAR(H.flip[pair], 2 * elastic.mu, 1e-9 * elastic.mu);
}

}  // namespace
}  // namespace lope::material
