#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/material/evaluate.h>
#include <lope/material/registry.h>
#include <lope/matter/solid/elastic_elements.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "unit/matter/solid/block_mesh.h"
#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <support/dense.h>

namespace lope::matter {
namespace {

using linalg::BlockMatrix;
using material::Density;
using material::DensityEntry;
using material::Parameters;
using optimize::HessianKind;

constexpr HessianKind both_kinds[] = {HessianKind::Raw, HessianKind::Projected};

Parameters rubber(Density density) { return material::from_young_poisson(density, 1e5, 0.4); }

template <int d>
std::vector<double> mapped(const std::vector<double>& x, const Mat<d>& A) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); i += d) {
    Eigen::Map<Vec<d>>(result.data() + i) =
        A * Eigen::Map<const Vec<d>>(x.data() + i) + Vec<d>::Constant(0.3);
  }
  return result;
}

std::vector<double> noise(std::size_t size, double amplitude, std::uint64_t seed) {
  std::vector<double> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = amplitude * (2 * random_unit(seed, i) - 1);
  return result;
}

std::vector<double> sum(std::vector<double> a, const std::vector<double>& b, double scale = 1) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += scale * b[i];
  return a;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result += a[i] * b[i];
  return result;
}

double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

template <int d>
std::vector<double> gradient(const ElasticElements<d>& elements) {
  std::vector<double> g(static_cast<std::size_t>(elements.node_count()) * d, 0.0);
  elements.add_gradient(g);
  return g;
}

template <int d>
Eigen::MatrixXd dense_hessian(const ElasticElements<d>& elements, HessianKind kind) {
  BlockMatrix H(elements.pattern(), d);
  H.set_zero();
  elements.add_hessian(kind, 1, H);
  const auto n = static_cast<Eigen::Index>(H.size());
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  for (int row = 0; row < H.pattern().rows(); ++row) {
    for (std::int64_t slot = H.pattern().row_start()[row]; slot < H.pattern().row_start()[row + 1]; ++slot) {
      const int column = H.pattern().column()[slot];
      for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) dense(d * row + i, d * column + j) = H.block(slot)[d * i + j];
      }
    }
  }
  return dense;
}

// Deformed strongly, but with every J > 0 where that is asked for.
template <int d>
std::vector<double> deformed(const BlockMesh<d>& mesh, bool positive, double cell) {
  Mat<d> A = Mat<d>::Identity();
  A(0, 0) = 1.4;
  A(1, 0) = 0.3;
  A(1, 1) = 0.7;
  return sum(mapped<d>(mesh.positions, A), noise(mesh.positions.size(), (positive ? 0.1 : 0.9) * cell, 23));
}

template <int d>
class Dimension {
 public:
  static constexpr int value = d;
};
template <class D>
class ElasticElementsTest : public ::testing::Test {};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>>;
TYPED_TEST_SUITE(ElasticElementsTest, Dimensions);

TYPED_TEST(ElasticElementsTest, DerivativesAgreeWithDifferencesOfTheValue) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(2, 0.2);
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(entry.density)});
    const std::vector<double> x = deformed(mesh, entry.defined_only_for_positive_J, 0.5);
    elements.move_to(x);
    const std::vector<double> g = gradient(elements);
    const Eigen::MatrixXd H = dense_hessian(elements, HessianKind::Raw);
    EXPECT_LT((H - H.transpose()).norm(), 1e-15 * H.norm());
    if (!entry.defined_only_for_positive_J) {
      EXPECT_GT(elements.inverted_count(), 0);
    }
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::vector<double> direction = noise(x.size(), 1, 100 + seed);
      const double h = 2e-5;
      const auto value_at = [&](double step) {
        elements.move_to(sum(x, direction, step));
        return elements.value();
      };
      const auto gradient_at = [&](double step) {
        elements.move_to(sum(x, direction, step));
        return gradient(elements);
      };
      const double slope =
          (8 * (value_at(h) - value_at(-h)) - (value_at(2 * h) - value_at(-2 * h))) / (12 * h);
      EXPECT_NEAR(slope, dot(g, direction), 1e-6 * norm(g) * norm(direction));
      std::vector<double> change = sum(gradient_at(h), gradient_at(-h), -1);
      change = sum(sum(std::vector<double>(x.size(), 0.0), change, 8),
                   sum(gradient_at(2 * h), gradient_at(-2 * h), -1), -1);
      const Eigen::VectorXd p = Eigen::Map<const Eigen::VectorXd>(direction.data(), H.rows());
      const Eigen::VectorXd difference =
          Eigen::Map<const Eigen::VectorXd>(change.data(), H.rows()) / (12 * h);
      EXPECT_LT((H * p - difference).norm(), 1e-6 * H.norm() * p.norm());
    }
  }
}

TYPED_TEST(ElasticElementsTest, UniformStretchGivesTheAnalyticStressAndNoInteriorForce) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(4, 0.25);
  Mat<d> F = Mat<d>::Identity() * 1.2;
  F(0, 1) = 0.35;
  F(1, 1) = 0.8;
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(entry.density)});
    const std::vector<double> x = mapped<d>(mesh.positions, F);
    elements.move_to(x);
    EXPECT_NEAR(elements.value(), material::energy<d>(rubber(entry.density), F), 1e-10 * elements.value());
    const std::vector<double> g = gradient(elements);
    // The virial Σ g_i ⊗ X_i is the stress times the volume.
    Mat<d> virial = Mat<d>::Zero();
    for (std::size_t i = 0; i < g.size(); i += d) {
      const Vec<d> X = Eigen::Map<const Vec<d>>(mesh.positions.data() + i);
      const Vec<d> force = Eigen::Map<const Vec<d>>(g.data() + i);
      virial += force * X.transpose();
      if ((X.array() > 1e-9).all() && (X.array() < 1 - 1e-9).all()) {
        EXPECT_LT(force.norm(), 1e-12 * norm(g));
      }
    }
    const Mat<d> P = material::stress<d>(rubber(entry.density), F);
    EXPECT_LT((virial - P).norm(), 1e-12 * P.norm());
    Mat<d> read;
    elements.deformation(3, read);
    EXPECT_LT((read - F).norm(), 1e-13);
    for (const double J : elements.determinants()) EXPECT_NEAR(J, F.determinant(), 1e-12);
  }
}

TYPED_TEST(ElasticElementsTest, RigidMotionGivesNoForceAndNoEnergy) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(3, 0.2);
  Mat<d> R = Mat<d>::Identity();
  R.template topLeftCorner<2, 2>() = Eigen::Rotation2Dd(2.1).toRotationMatrix();
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(entry.density)});
    elements.move_to(mapped<d>(mesh.positions, R));
    EXPECT_LT(norm(gradient(elements)), 1e-12 * 1e5);
    EXPECT_NEAR(elements.value(), 0, 1e-24 * 1e5);
    EXPECT_EQ(elements.inverted_count(), 0);
  }
}

TYPED_TEST(ElasticElementsTest, ForcesSumToZero) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(5, 0.2);
  ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(Density::FixedCorotated)});
  elements.move_to(deformed(mesh, false, 0.2));
  const std::vector<double> g = gradient(elements);
  Vec<d> total = Vec<d>::Zero();
  for (std::size_t i = 0; i < g.size(); i += d) total += Eigen::Map<const Vec<d>>(g.data() + i);
  EXPECT_LT(total.norm(), 1e-13 * norm(g) * std::sqrt(static_cast<double>(g.size())));
}

// Three densities in stripes, so that clusters hold several kinds of batches with padding.
template <int d>
struct MixedBody {
  BlockMesh<d> mesh = block_mesh<d>(d == 3 ? 7 : 20, 0.2);
  std::vector<Parameters> materials = {rubber(Density::FixedCorotated), rubber(Density::NeoHookean),
                                       rubber(Density::StableNeoHookean)};
  std::vector<int> material_of_element;
  MixedBody() {
    for (std::size_t e = 0; e < mesh.elements.size() / (d + 1); ++e) {
      material_of_element.push_back(static_cast<int>(e / 5 % 3));
    }
  }
  ElasticElements<d> elements(Isa isa = selected_isa()) const {
    return ElasticElements<d>(mesh.positions, mesh.elements, materials, material_of_element, isa);
  }
  std::vector<double> point() const { return deformed(mesh, true, d == 3 ? 1.0 / 7 : 1.0 / 20); }
};

struct Results {
  double value = 0, magnitude = 0;
  std::vector<double> g, H, y;
};
template <int d>
Results everything(const MixedBody<d>& body, HessianKind kind, Isa isa = selected_isa()) {
  ElasticElements<d> elements = body.elements(isa);
  elements.move_to(body.point());
  Results results;
  results.value = elements.value();
  results.magnitude = elements.value_magnitude();
  results.g = gradient(elements);
  BlockMatrix H(elements.pattern(), d);
  H.set_zero();
  elements.add_hessian(kind, 0.7, H);
  results.H.assign(H.values().begin(), H.values().end());
  results.y.assign(results.g.size(), 0.0);
  elements.add_hessian_times(kind, 0.7, noise(results.g.size(), 1, 9), results.y);
  return results;
}

TYPED_TEST(ElasticElementsTest, MixedDensitiesAddUpElementByElement) {
  constexpr int d = TypeParam::value;
  const MixedBody<d> body;
  ElasticElements<d> elements = body.elements();
  elements.move_to(body.point());
  ASSERT_GT(elements.cluster_count(), 2);
  ASSERT_GT(elements.colour_count(), 1);
  double expected = 0;
  const std::vector<double> density = elements.energy_density();
  for (int e = 0; e < elements.element_count(); ++e) {
    Mat<d> F;
    elements.deformation(e, F);
    const double psi =
        material::energy<d>(body.materials[static_cast<std::size_t>(body.material_of_element[e])], F);
    EXPECT_NEAR(density[static_cast<std::size_t>(e)], psi, 1e-10 * std::abs(psi) + 1e-9);
    expected += elements.volumes()[e] * psi;
  }
  EXPECT_NEAR(elements.value(), expected, 1e-12 * expected);
  EXPECT_GE(elements.value_magnitude(), elements.value());
}

TYPED_TEST(ElasticElementsTest, MatrixFreeProductEqualsTheAssembledOne) {
  constexpr int d = TypeParam::value;
  const MixedBody<d> body;
  ElasticElements<d> elements = body.elements();
  elements.move_to(body.point());
  for (const HessianKind kind : both_kinds) {
    BlockMatrix H(elements.pattern(), d);
    H.set_zero();
    elements.add_hessian(kind, 1.5, H);
    elements.add_hessian(kind, -0.5, H);
    const std::vector<double> p = noise(H.size(), 1, 9);
    std::vector<double> assembled(H.size()), free(H.size(), 0.0);
    H.multiply(p, assembled);
    elements.add_hessian_times(kind, 1, p, free);
    EXPECT_LT(norm(sum(assembled, free, -1)), 1e-13 * norm(assembled));
    std::vector<double> diagonal(H.size() * d), alone(H.size() * d, 0.0);
    H.diagonal_blocks(diagonal);
    elements.add_hessian_diagonal(kind, 1.5, alone.data());
    elements.add_hessian_diagonal(kind, -0.5, alone.data());
    EXPECT_LT(norm(sum(diagonal, alone, -1)), 1e-13 * norm(diagonal));
  }
}

TYPED_TEST(ElasticElementsTest, ProjectedHessianIsPositiveSemiDefinite) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(3, 0.2);
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(entry.density)});
    elements.move_to(deformed(mesh, entry.defined_only_for_positive_J, 0.33));
    const Eigen::MatrixXd H = dense_hessian(elements, HessianKind::Projected);
    const Eigen::VectorXd values = reference::eigenvalues(H);
    EXPECT_GT(values[0], -1e-10 * H.norm());
    if (!entry.defined_only_for_positive_J && entry.density != Density::NeoHookeanExtrapolated) {
      // The state is such that there was something to project.
      const Eigen::MatrixXd raw = dense_hessian(elements, HessianKind::Raw);
      EXPECT_LT(reference::eigenvalues(raw)[0], -1e-6 * raw.norm());
    }
  }
}

TYPED_TEST(ElasticElementsTest, SameBitsForAnyNumberOfThreads) {
  constexpr int d = TypeParam::value;
  const MixedBody<d> body;
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    return everything(body, HessianKind::Projected);
  };
  const Results one = run(1), two = run(2), all = run(0);
  for (const Results& other : {two, all}) {
    EXPECT_EQ(one.value, other.value);
    EXPECT_EQ(one.magnitude, other.magnitude);
    EXPECT_EQ(one.g, other.g);
    EXPECT_EQ(one.H, other.H);
    EXPECT_EQ(one.y, other.y);
  }
}

TYPED_TEST(ElasticElementsTest, SameBitsForFusedInstructionSets) {
  constexpr int d = TypeParam::value;
  const MixedBody<d> body;
  for (const HessianKind kind : both_kinds) {
    const Results selected = everything(body, kind, supported_isas().back());
    for (const Isa isa : supported_isas()) {
      if (is_fused(isa) != is_fused(supported_isas().back())) continue;
      SCOPED_TRACE(name(isa));
      const Results other = everything(body, kind, isa);
      EXPECT_EQ(selected.value, other.value);
      EXPECT_EQ(selected.magnitude, other.magnitude);
      EXPECT_EQ(selected.g, other.g);
      EXPECT_EQ(selected.H, other.H);
      EXPECT_EQ(selected.y, other.y);
    }
  }
}

TYPED_TEST(ElasticElementsTest, InstructionSetsAgreeToRounding) {
  constexpr int d = TypeParam::value;
  const MixedBody<d> body;
  for (const HessianKind kind : both_kinds) {
    const Results baseline = everything(body, kind, Isa::Baseline);
    for (const Isa isa : supported_isas()) {
      SCOPED_TRACE(name(isa));
      const Results other = everything(body, kind, isa);
      EXPECT_NEAR(other.value, baseline.value, 1e-13 * baseline.magnitude);
      EXPECT_LT(norm(sum(other.g, baseline.g, -1)), 1e-13 * norm(baseline.g));
      EXPECT_LT(norm(sum(other.H, baseline.H, -1)), 1e-13 * norm(baseline.H));
      EXPECT_LT(norm(sum(other.y, baseline.y, -1)), 1e-13 * norm(baseline.y));
    }
  }
}

TYPED_TEST(ElasticElementsTest, HessianIsSymmetricToTheLastBit) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(4, 0.2);
  ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(Density::StableNeoHookean)});
  elements.move_to(deformed(mesh, false, 0.25));
  const Eigen::MatrixXd H = dense_hessian(elements, HessianKind::Projected);
  EXPECT_EQ((H - H.transpose()).cwiseAbs().maxCoeff(), 0);
}

TYPED_TEST(ElasticElementsTest, LargestStepKeepsTheLogarithmsDefined) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(4, 0.2);
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {rubber(entry.density)});
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      elements.move_to(mesh.positions);
      const std::vector<double> direction = noise(mesh.positions.size(), 1, seed);
      const double step = elements.largest_step(direction);
      if (!entry.defined_only_for_positive_J) {
        EXPECT_TRUE(std::isinf(step));
        continue;
      }
      elements.move_to(sum(mesh.positions, direction, step));
      EXPECT_EQ(elements.inverted_count(), 0);
      EXPECT_TRUE(std::isfinite(elements.value()));
      // And the bound is sharp: a little beyond it something inverts.
      elements.move_to(sum(mesh.positions, direction, step / 0.9 * 1.001));
      EXPECT_GT(elements.inverted_count(), 0);
      EXPECT_EQ(elements.value(), std::numeric_limits<double>::infinity());
      EXPECT_EQ(elements.largest_step(direction), 0);
    }
  }
}

// The stress tensor of an element.
Mat3 tensor(const std::vector<double>& stress, int element) {
  const double* s = stress.data() + std::ptrdiff_t{6} * element;
  Mat3 result;
  result << s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2];
  return result;
}

template <int d>
Mat<d> some_rotation() {
  if constexpr (d == 2) {
    return Eigen::Rotation2Dd(0.7).toRotationMatrix();
  } else {
    return Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  }
}

// Fixed corotated: ψ = μ Σ(s − 1)² + λ/2 (J − 1)², hence σ_i = (2μ(s_i − 1) s_i)/J + λ(J − 1) along the stretches s; in plane
// strain the third is 1. Turned with the body.
TYPED_TEST(ElasticElementsTest, StressOfAUniformStretchIsThatOfTheFormula) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(2, 0.2);
  const Parameters parameters = rubber(Density::FixedCorotated);
  ElasticElements<d> elements(mesh.positions, mesh.elements, {parameters});
  const Vec3 s(1.5, 0.9, d == 3 ? 1.1 : 1);
  const double J = s.prod();
  const Vec3 expected = 2 * parameters.mu / J * (s.array() - 1) * s.array() + parameters.lambda * (J - 1);
  for (const Mat<d>& R : {Mat<d>(Mat<d>::Identity()), some_rotation<d>()}) {
    elements.move_to(mapped<d>(mesh.positions, R * s.head<d>().asDiagonal()));
    Mat3 turn = Mat3::Identity();
    turn.template topLeftCorner<d, d>() = R;
    const Mat3 cauchy = turn * expected.asDiagonal() * turn.transpose();
    const std::vector<double> stress = elements.cauchy_stress();
    ASSERT_EQ(stress.size(), 6U * static_cast<std::size_t>(elements.element_count()));
    for (int e = 0; e < elements.element_count(); ++e)
      EXPECT_LT((tensor(stress, e) - cauchy).norm(), 1e-10 * cauchy.norm()) << tensor(stress, e);
  }
}

// P Fᵀ/|J| of every density, inverted elements included, and the von Mises stress of that tensor.
TYPED_TEST(ElasticElementsTest, StressIsThatOfTheDensity) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(3, 0.2);
  for (const DensityEntry& entry : material::densities()) {
    SCOPED_TRACE(entry.name);
    const Parameters parameters = rubber(entry.density);
    ElasticElements<d> elements(mesh.positions, mesh.elements, {parameters});
    elements.move_to(deformed(mesh, entry.defined_only_for_positive_J, 1.0 / 3));
    const std::vector<double> stress = elements.cauchy_stress(), scalar = elements.von_mises();
    for (int e = 0; e < elements.element_count(); ++e) {
      Mat<d> F;
      elements.deformation(e, F);
      Mat3 solid = Mat3::Identity();
      solid.template topLeftCorner<d, d>() = F;
      const double J = std::abs(solid.determinant());
      if (J < 1e-3) continue;
      const Mat3 found = tensor(stress, e);
      // In the plane by the density of the plane, across it by that of space.
      Mat3 expected = material::stress<3>(parameters, solid) * solid.transpose() / J;
      expected.template topLeftCorner<d, d>() = material::stress<d>(parameters, F) * F.transpose() / J;
      EXPECT_LT((found - expected).norm(), 1e-8 * expected.norm()) << found << "\n\n" << expected;
      const Mat3 deviator = found - found.trace() / 3 * Mat3::Identity();
      const double von_mises = std::sqrt(1.5) * deviator.norm();
      EXPECT_NEAR(scalar[static_cast<std::size_t>(e)], von_mises, 1e-9 * found.norm());
    }
  }
}

TYPED_TEST(ElasticElementsTest, ReadOutsOfASimpleExtension) {
  constexpr int d = TypeParam::value;
  const BlockMesh<d> mesh = block_mesh<d>(2);
  const Parameters parameters = rubber(Density::FixedCorotated);
  ElasticElements<d> elements(mesh.positions, mesh.elements, {parameters});
  Mat<d> F = Mat<d>::Identity();
  F(1, 1) = 1.5;
  elements.move_to(mapped<d>(mesh.positions, F));
  // The plane (strain) and space are in the same state.
  const Mat<d> P = material::stress<d>(parameters, F);
  const Mat<d> cauchy = P * F.transpose() / 1.5;
  const double expected = std::abs(cauchy(1, 1) - cauchy(0, 0));
  double volume = 0;
  for (int e = 0; e < elements.element_count(); ++e) {
    EXPECT_NEAR(elements.von_mises()[static_cast<std::size_t>(e)], expected, 1e-9 * expected);
    EXPECT_NEAR(elements.max_stretch()[static_cast<std::size_t>(e)], 1.5, 1e-14);
    volume += elements.volumes()[e];
  }
  EXPECT_NEAR(volume, 1, 1e-14);
}

}  // namespace
}  // namespace lope::matter
