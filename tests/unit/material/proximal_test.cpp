#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/material/proximal.h>
#include <lope/material/registry.h>

#include <cmath>

#include <gtest/gtest.h>

namespace lope::material {
namespace {

template <int d>
double penalised(const Parameters& parameters, double weight, const Vec<d>& target, const Vec<d>& sigma) {
  return energy_of_stretches<d>(parameters, sigma) + 0.5 * weight * (sigma - target).squaredNorm();
}

// Targets from compressed to stretched, and inverted ones; the smallest stretch last.
template <int d>
Vec<d> random_target(std::uint64_t seed) {
  Vec<d> target;
  for (int i = 0; i < d; ++i) target[i] = 0.2 + 2.5 * random_unit(seed, static_cast<std::uint64_t>(i));
  std::sort(target.data(), target.data() + d, std::greater<>());
  if (seed % 4 == 0) target[d - 1] = -target[d - 1];
  return target;
}

template <int d>
void expect_local_minimum(const DensityEntry& density, std::uint64_t seed) {
  const Parameters parameters = from_young_poisson(density.density, 1e5, 0.4);
  const double weight = 2 * parameters.mu + parameters.lambda;
  const Vec<d> target = random_target<d>(seed);
  const Vec<d> sigma = proximal_stretches<d>(parameters, weight, target);
  ASSERT_TRUE(sigma.allFinite()) << density.name << " seed " << seed;
  const double least = penalised<d>(parameters, weight, target, sigma);
  ASSERT_TRUE(std::isfinite(least)) << density.name << " seed " << seed;
  const Vec<d> force = principal_stress<d>(parameters, sigma) + weight * (sigma - target);
  EXPECT_LT(force.norm(), 1e-6 * weight)
      << density.name << " seed " << seed << " target " << target.transpose();
  for (int i = 0; i < d; ++i) {
    for (const double move : {-1e-3, 1e-3}) {
      EXPECT_GT(penalised<d>(parameters, weight, target, sigma + move * Vec<d>::Unit(i)), least)
          << density.name << " seed " << seed;
    }
  }
}

TEST(Proximal, IsALocalMinimumForEveryDensity) {
  for (const DensityEntry& density : densities()) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      expect_local_minimum<2>(density, seed);
      expect_local_minimum<3>(density, seed);
    }
  }
}

TEST(Proximal, RestStaysAtRest) {
  for (const DensityEntry& density : densities()) {
    const Parameters parameters = from_young_poisson(density.density, 1e5, 0.3);
    EXPECT_LT((proximal_stretches<3>(parameters, 1e5, Vec3::Ones()) - Vec3::Ones()).norm(), 1e-12)
        << density.name;
  }
}

// The heavier the weight, the nearer the target; without bound, the target itself.
TEST(Proximal, FollowsTheWeight) {
  const Parameters parameters = from_young_poisson(Density::FixedCorotated, 1e5, 0.4);
  const Vec3 target(1.6, 1.1, 0.7);
  double distance = 10;
  for (const double weight : {1e3, 1e5, 1e7, 1e9}) {
    const double now = (proximal_stretches<3>(parameters, weight, target) - target).norm();
    EXPECT_LT(now, distance) << weight;
    distance = now;
  }
  EXPECT_LT(distance, 1e-3);
}

}  // namespace
}  // namespace lope::material
