#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/material/registry.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <Eigen/LU>
#include <gtest/gtest.h>
#include <support/dense.h>

namespace lope::material {
namespace {

template <int d>
using Tangent = Eigen::Matrix<double, d * d, d * d>;

template <int d>
Mat<d> random_matrix(std::uint64_t seed) {
  Mat<d> A;
  for (int i = 0; i < d * d; ++i) A(i) = 2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1;
  return A;
}
template <int d>
Mat<d> random_rotation(std::uint64_t seed) {
  Mat<d> Q = reference::orthogonal_factor(random_matrix<d>(seed));
  if (Q.determinant() < 0) Q.col(0) *= -1;
  return Q;
}

struct State {
  std::string name;
  Eigen::Matrix3d F;  // the upper left d×d block counts
  bool smooth =
      true;  // false: at or near a pole of twist (σ_i + σ_j = 0), where no difference quotient converges
};

// Random, stretched, compressed, inverted and degenerate.
template <int d>
std::vector<State> states(bool positive_only) {
  std::vector<State> list;
  const auto add = [&](std::string name, const Vec<d>& s, bool smooth = true) {
    if (positive_only && s.prod() <= 0) return;
    State state{std::move(name), Mat3::Identity(), smooth};
    const auto seed = static_cast<std::uint64_t>(list.size());
    state.F.topLeftCorner<d, d>() =
        random_rotation<d>(2 * seed) * s.asDiagonal() * random_rotation<d>(2 * seed + 1).transpose();
    list.push_back(state);
  };
  const auto stretches = [](double a, double b, double c) {
    Vec<d> s;
    s[0] = a;
    s[d - 1] = c;
    if (d == 3) s[1] = b;
    return s;
  };
  add("rest", stretches(1, 1, 1));
  add("random", stretches(1.3, 1.1, 0.7));
  add("stretched", stretches(4, 0.8, 0.5));
  add("strongly stretched", stretches(30, 5, 0.2));
  add("compressed", stretches(0.9, 0.5, 0.1));
  add("uniformly compressed", stretches(0.3, 0.3, 0.3));
  add("uniformly stretched", stretches(2, 2, 2));
  add("two equal", stretches(1.4, 0.6, 0.6));
  add("two nearly equal", stretches(1.4, 0.6 + 1e-9, 0.6));
  add("flat", stretches(1.2, 0.8, 0));
  add("inverted", stretches(1.2, 0.9, -0.3));
  add("strongly inverted", stretches(2.5, 1.8, -1.1));
  add("at the pole", stretches(1.2, 0.6, -0.6), d == 2);
  add("collapsed to a line", stretches(1, 0, 0), d == 2);
  add("collapsed to a point", stretches(0, 0, 0), false);
  return list;
}

// Relative to the stiffness at that state.
template <int d>
void check_derivatives(const DensityEntry& entry) {
  const Parameters parameters = from_young_poisson(entry.density, 1e5, 0.4);
  for (const State& state : states<d>(entry.defined_only_for_positive_J)) {
    if (!state.smooth) continue;
    SCOPED_TRACE(std::string(entry.name) + " " + std::to_string(d) + "D " + state.name);
    const Mat<d> F = state.F.topLeftCorner<d, d>();
    const Mat<d> P = stress<d>(parameters, F);
    const Tangent<d> C = stress_derivative<d>(parameters, F, Definiteness::Raw);
    // Central differences of fourth order.
    const double h = 1e-4 * std::max(0.1, std::abs(principal_stretches<d>(F).sigma[d - 1]));
    const double scale = std::max(C.norm(), parameters.mu);
    for (int k = 0; k < d * d; ++k) {
      const auto at = [&](double step) {
        Mat<d> moved = F;
        moved(k) += step;
        return moved;
      };
      const auto psi = [&](double step) { return energy<d>(parameters, at(step)); };
      const auto stress_at = [&](double step) { return stress<d>(parameters, at(step)); };
      const double slope = (8 * (psi(h) - psi(-h)) - (psi(2 * h) - psi(-2 * h))) / (12 * h);
      EXPECT_NEAR(slope, P(k), 1e-6 * std::max(P.norm(), 1e-2 * scale));
      const Mat<d> column =
          (8 * (stress_at(h) - stress_at(-h)) - (stress_at(2 * h) - stress_at(-2 * h))) / (12 * h);
      EXPECT_LT((column.reshaped() - C.col(k)).norm(), 1e-6 * scale) << "entry " << k;
    }
    EXPECT_LT((C - C.transpose()).norm(), 1e-12 * scale);
  }
}

template <int d>
void check_projection(const DensityEntry& entry) {
  const Parameters parameters = from_young_poisson(entry.density, 1e5, 0.4);
  for (const State& state : states<d>(entry.defined_only_for_positive_J)) {
    SCOPED_TRACE(std::string(entry.name) + " " + std::to_string(d) + "D " + state.name);
    const Mat<d> F = state.F.topLeftCorner<d, d>();
    const Tangent<d> raw = stress_derivative<d>(parameters, F, Definiteness::Raw);
    const Tangent<d> projected = stress_derivative<d>(parameters, F, Definiteness::Projected);
    ASSERT_TRUE(raw.allFinite());
    EXPECT_LE((projected - reference::nearest_semidefinite(raw)).norm(), 1e-13 * raw.norm());
    EXPECT_GE(reference::eigenvalues(projected)[0], -1e-10 * projected.norm());
    if (reference::eigenvalues(raw)[0] >= 0) {
      EXPECT_LE((projected - raw).norm(), 1e-13 * raw.norm());
    }
  }
}

// Linear elasticity: dP = 2μ sym(dF) + λ tr(dF) I. ARAP has no λ.
template <int d>
void check_rest_state(const DensityEntry& entry) {
  SCOPED_TRACE(std::string(entry.name) + " " + std::to_string(d) + "D");
  const Parameters parameters = from_young_poisson(entry.density, 3e4, 0.3);
  const double lambda = entry.density == Density::Arap ? 0 : parameters.lambda;
  const Mat<d> R = random_rotation<d>(5);
  EXPECT_NEAR(energy<d>(parameters, R), 0, 1e-25 * parameters.mu);
  EXPECT_LT(stress<d>(parameters, R).norm(), 1e-14 * parameters.mu);
  const Tangent<d> C = stress_derivative<d>(parameters, Mat<d>::Identity(), Definiteness::Raw);
  for (int k = 0; k < d * d; ++k) {
    Mat<d> dF = Mat<d>::Zero();
    dF(k) = 1;
    const Mat<d> expected = parameters.mu * (dF + dF.transpose()) + lambda * dF.trace() * Mat<d>::Identity();
    EXPECT_LT((C.col(k) - expected.reshaped()).norm(), 1e-14 * C.norm());
  }
}

TEST(Material, DerivativesAgreeWithDifferences) {
  for (const DensityEntry& entry : densities()) {
    check_derivatives<2>(entry);
    check_derivatives<3>(entry);
  }
}

TEST(Material, ProjectionAgreesWithAFullEigenDecomposition) {
  for (const DensityEntry& entry : densities()) {
    check_projection<2>(entry);
    check_projection<3>(entry);
  }
}

TEST(Material, RestIsFreeOfStressAndLinearisesToTheLameParameters) {
  for (const DensityEntry& entry : densities()) {
    check_rest_state<2>(entry);
    check_rest_state<3>(entry);
  }
}

TEST(Material, EnergyIsInfiniteOutsideTheDomain) {
  for (const DensityEntry& entry : densities()) {
    const Parameters parameters = from_young_poisson(entry.density, 1e5, 0.4);
    for (const double last : {0.0, -1e-12, -0.5}) {
      const double value = energy<3>(parameters, Vec3(1.1, 0.9, last).asDiagonal().toDenseMatrix());
      EXPECT_EQ(std::isinf(value), entry.defined_only_for_positive_J) << entry.name << " at " << last;
      EXPECT_GT(value, 0) << entry.name;
    }
    Mat3 bad = Mat3::Identity();
    bad(1, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(energy<3>(parameters, bad))) << entry.name;
  }
}

// Half of what makes a density usable for large rotations and isotropic: ψ(R F Q) = ψ(F).
TEST(Material, EnergyIgnoresRotationsOnBothSides) {
  for (const DensityEntry& entry : densities()) {
    const Parameters parameters = from_young_poisson(entry.density, 1e5, 0.4);
    const Mat3 F = Mat3::Identity() + 0.4 * random_matrix<3>(11);
    const double value = energy<3>(parameters, F);
    EXPECT_NEAR(energy<3>(parameters, Mat3(random_rotation<3>(1) * F * random_rotation<3>(2))), value,
                1e-12 * value)
        << entry.name;
  }
}

TEST(Material, StiffnessScaleOfFixedCorotated) {
  EXPECT_NEAR(rest_stiffness_norm<3>(from_young_poisson(Density::FixedCorotated, 1e5, 0.4)), 524890.66,
              0.005);
}

TEST(Material, ExtrapolatedNeoHookeanIsNeoHookeanAboveItsThreshold) {
  const Parameters plain = from_young_poisson(Density::NeoHookean, 1e5, 0.4);
  Parameters extrapolated = plain;
  extrapolated.density = Density::NeoHookeanExtrapolated;
  const Mat3 above = Vec3(0.9, 0.6, 0.3).asDiagonal().toDenseMatrix();  // J = 0.162 > 1/8
  EXPECT_NEAR(energy<3>(extrapolated, above), energy<3>(plain, above), 1e-12 * energy<3>(plain, above));
  const Mat3 below = Vec3(0.9, 0.6, 0.1).asDiagonal().toDenseMatrix();
  EXPECT_LT(energy<3>(extrapolated, below), energy<3>(plain, below));
}

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const DensityEntry& candidate : densities()) {
    EXPECT_TRUE(names.insert(candidate.name).second) << candidate.name;
    ASSERT_NE(find_density(candidate.name), nullptr);
    EXPECT_EQ(find_density(candidate.name)->density, candidate.density);
    EXPECT_EQ(entry(candidate.density).name, candidate.name);
  }
  EXPECT_EQ(find_density("fixed_corotated"), nullptr);
}

}  // namespace
}  // namespace lope::material
