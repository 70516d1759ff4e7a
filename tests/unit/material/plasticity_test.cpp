// Flow rules: the yield surface, volume, energy, idempotence.
#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/material/plasticity.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace lope::material {
namespace {

template <int d>
Vec<d> some_stretches(std::uint64_t number, double strain) {
  Vec<d> sigma;
  for (int i = 0; i < d; ++i)
    sigma[i] = std::exp(strain * (2 * random_unit(7, number * 3 + static_cast<std::uint64_t>(i)) - 1));
  std::sort(sigma.data(), sigma.data() + d, std::greater<>());
  return sigma;
}

struct Case {
  Parameters elastic;
  Plasticity plasticity;
  double strain;  // of the trials
};

std::vector<Case> cases() {
  const double E = 6.9e10, nu = 0.33;
  const double degrees = std::numbers::pi / 180;
  return {
      {from_young_poisson(Density::FixedCorotated, E, nu), {.flow = Flow::VonMises, .yield = 2.4e8}, 0.1},
      {from_young_poisson(Density::FixedCorotated, E, nu), {.flow = Flow::VonMises, .yield = 2.4e8}, 0.006},
      {from_young_poisson(Density::StvkHencky, E, nu), {.flow = Flow::VonMises, .yield = 2.4e8}, 0.1},
      {from_young_poisson(Density::NeoHookean, 2.1e5, nu), {.flow = Flow::VonMises, .yield = 720}, 0.3},
      {from_young_poisson(Density::FixedCorotated, 2.1e5, nu), {.flow = Flow::Bingham, .yield = 720, .viscosity = 30}, 0.2},
      {from_young_poisson(Density::FixedCorotated, 1.4e5, 0.2),
       {.flow = Flow::Snow, .compression = 0.025, .stretch = 0.0075, .hardening = 10}, 0.1},
      {from_young_poisson(Density::StvkHencky, 3.5e7, 0.3), {.flow = Flow::DruckerPrager, .friction_angle = 35 * degrees},
       0.1},
  };
}

bool keeps_volume(const Plasticity& plasticity) {
  return plasticity.flow == Flow::VonMises || plasticity.flow == Flow::Bingham;
}

template <int d>
void check_rules() {
  for (const Case& c : cases()) {
    int flowed = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
      const Vec<d> trial = some_stretches<d>(number, c.strain);
      const double start = initial_plastic_variable(c.plasticity);
      double variable = start;
      const Vec<d> kept = flow<d>(c.elastic, c.plasticity, trial, 0.01, variable);
      flowed += (kept - trial).norm() > 1e-12;
      const double before = energy_of_stretches<d>(c.elastic, trial), after = energy_of_stretches<d>(c.elastic, kept);
      EXPECT_LE(after, before * (1 + 1e-12));
      const double allowed = c.plasticity.yield * (1 + 1e-9);
      if (c.plasticity.flow == Flow::VonMises) {
        EXPECT_LE(equivalent_stress<d>(c.elastic, kept), allowed);
      }
      if (keeps_volume(c.plasticity)) {
        EXPECT_NEAR(kept.prod() / trial.prod(), 1, 1e-13);
      }
      if (c.plasticity.flow == Flow::Snow) {
        EXPECT_NEAR(kept.prod() * variable, trial.prod(), 1e-13);
      }
      if (c.plasticity.flow == Flow::Bingham) continue;
      // Once more: nothing happens. (The volume correction of sand starts afresh.)
      double again = c.plasticity.flow == Flow::DruckerPrager ? 0 : variable;
      const Vec<d> twice = flow<d>(c.elastic, c.plasticity, kept, 0.01, again);
      EXPECT_NEAR((twice - kept).norm(), 0, 1e-9 * c.strain);
    }
    EXPECT_GT(flowed, 20);
  }
}

TEST(Plasticity, RulesIn3D) { check_rules<3>(); }
TEST(Plasticity, RulesIn2D) { check_rules<2>(); }

TEST(Plasticity, NothingFlowsBelowYield) {
  const Parameters elastic = from_young_poisson(Density::FixedCorotated, 6.9e10, 0.33);
  const Plasticity metal{.flow = Flow::VonMises, .yield = 2.4e8};
  const Vec3 sigma(1.002, 1.0, 0.9995);
  ASSERT_LT(equivalent_stress<3>(elastic, sigma), metal.yield);
  double variable = 0;
  EXPECT_EQ(flow<3>(elastic, metal, sigma, 0.01, variable), sigma);
  EXPECT_EQ(variable, 0);
  // Pressure alone never makes a metal flow.
  EXPECT_EQ(flow<3>(elastic, metal, Vec3::Constant(0.8), 0.01, variable), Vec3::Constant(0.8));
}

TEST(Plasticity, UniaxialYield) {
  // In uniaxial stress q is the axial Kirchhoff stress.
  const Parameters elastic = from_young_poisson(Density::StvkHencky, 200e9, 0.3);
  const double strain = 1e-3;
  const Vec3 sigma(std::exp(strain), std::exp(-0.3 * strain), std::exp(-0.3 * strain));
  EXPECT_NEAR(equivalent_stress<3>(elastic, sigma) / (200e9 * strain), 1, 1e-10);
}

TEST(Plasticity, BinghamIsVonMisesWithoutViscosityAndRelaxesWithIt) {
  const Parameters elastic = from_young_poisson(Density::StvkHencky, 2.1e5, 0.33);
  const Vec3 trial(1.1, 1.0, 0.92);
  double a = 0, b = 0, c = 0;
  const Vec3 thin = flow<3>(elastic, {.flow = Flow::Bingham, .yield = 720, .viscosity = 0}, trial, 0.01, a);
  const Vec3 plain = flow<3>(elastic, {.flow = Flow::VonMises, .yield = 720}, trial, 0.01, b);
  EXPECT_EQ(thin, plain);
  const double eta = 500, h = 0.002, q = equivalent_stress<3>(elastic, trial);
  const Vec3 thick = flow<3>(elastic, {.flow = Flow::Bingham, .yield = 720, .viscosity = eta}, trial, h, c);
  // q₁ solves q₁ = q − 3μ h (q₁ − yield)/η.
  const double after = equivalent_stress<3>(elastic, thick);
  EXPECT_NEAR(after, q - 3 * elastic.mu * h * (after - 720) / eta, 1e-9 * q);
}

TEST(Plasticity, SandHoldsNoTensionAndItsFrictionIsTheAngle) {
  const double angle = 30 * std::numbers::pi / 180;
  const Parameters elastic = from_young_poisson(Density::StvkHencky, 3.5e7, 0.3);
  const Plasticity sand{.flow = Flow::DruckerPrager, .friction_angle = angle};
  double variable = 0;
  EXPECT_EQ(flow<3>(elastic, sand, Vec3(1.2, 1.0, 0.99), 0.01, variable), Vec3::Ones());
  EXPECT_NEAR(variable, std::log(1.2 * 0.99), 1e-14);
  // What was gained is taken off a compression that follows: no stress until it is used up.
  EXPECT_EQ(flow<3>(elastic, sand, Vec3::Constant(0.99), 0.01, variable), Vec3::Ones());
  // Triaxial compression: (τ₁ − τ₃)/(τ₁ + τ₃) = sin φ on Drucker and Prager's cone through Mohr and Coulomb's outer edges.
  variable = 0;
  const Vec3 kept = flow<3>(elastic, sand, Vec3(1.02, 1.02, 0.93), 0.01, variable);
  const Vec3 stress = kept.cwiseProduct(principal_stress<3>(elastic, kept));
  EXPECT_NEAR((stress[0] - stress[2]) / -(stress[0] + stress[2]), std::sin(angle), 1e-9);
}

TEST(Plasticity, SnowHardensUnderCompression) {
  const Parameters elastic = from_young_poisson(Density::FixedCorotated, 1.4e5, 0.2);
  const Plasticity snow{.flow = Flow::Snow, .compression = 0.025, .stretch = 0.0075, .hardening = 10};
  double variable = 1;
  flow<3>(elastic, snow, Vec3::Constant(0.96), 0.01, variable);
  EXPECT_LT(variable, 1);
  EXPECT_NEAR(hardened(elastic, snow, variable).mu / elastic.mu, std::exp(10 * (1 - variable)), 1e-12);
  EXPECT_EQ(hardened(elastic, snow, 1).mu, elastic.mu);
  EXPECT_NEAR(hardened(elastic, snow, -5).mu / elastic.mu, std::exp(5.0), 1e-9);
}

TEST(Plasticity, TableHasNames) {
  for (const FlowEntry& entry : flows()) EXPECT_EQ(find_flow(entry.name)->flow, entry.flow);
  EXPECT_EQ(find_flow("jam"), nullptr);
}

}  // namespace
}  // namespace lope::material
