#include <lope/base/parallel.h>
#include <lope/optimize/check_derivatives.h>

#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <support/dense.h>
#include <support/vectors.h>
#include <unit/matter/cloth/sheets.h>

namespace lope::matter {
namespace {

using material::MembraneModel;
using optimize::HessianKind;

constexpr MembraneModel models[] = {MembraneModel::Corotated, MembraneModel::StVenantKirchhoff};

Eigen::Matrix<double, 3, 2> map(double a, double b, double c, double d, double e, double f) {
  Eigen::Matrix<double, 3, 2> A;
  A << a, b, c, d, e, f;
  return A;
}

// Stretched, sheared, compressed in one direction and in both, nearly collapsed.
std::vector<Eigen::Matrix<double, 3, 2>> deformations() {
  return {map(1.2, 0.1, 0, 1.1, 0.3, 0), map(1.1, 0.4, -0.2, 0.6, 0.1, 0.2), map(0.7, 0, 0.1, 0.6, 0, 0.3),
          map(0.3, 0.05, 0, 0.2, 0.1, 0.1)};
}

// A step in which everything acts.
struct Step {
  explicit Step(const geometry::Sheet& sheet, ClothObjective& objective)
      : start(sheets::interleaved(sheet.vertices)),
        target(start),
        unforced(start),
        force(sheets::noise(start.size(), 1e-2, 5)),
        fixed(sheet.vertices.size(), 0) {
    fixed[0] = fixed[3] = 1;
    const std::vector<double> moved = sheets::noise(start.size(), 0.02, 9);
    for (std::size_t k = 0; k < start.size(); ++k) {
      target[k] += moved[k];
      unforced[k] += 0.5 * moved[k];
    }
    objective.begin_step({900, target, 30, start, start, fixed, force, unforced});
  }
  std::vector<double> start, target, unforced, force;
  std::vector<std::uint8_t> fixed;
};

TEST(ClothObjective, DerivativesAgreeWithDifferences) {
  const geometry::Sheet sheet = sheets::irregular(0.3, 0.2, 0.05);
  for (const MembraneModel model : models) {
    for (const BendingModel bending : {BendingModel::Quadratic, BendingModel::Dihedral}) {
      for (const bool limited : {false, true}) {
        ClothMaterial material = sheets::woven();
        material.membrane.model = model;
        material.bending = {bending, 0.02, 0.01};  // stiff, so that it counts
        if (limited) {
          material.membrane.largest_stretch = 1.1;
          material.membrane.limit_stiffness = 5e3;
        }
        Air air;
        air.drag = limited ? 2 : 0;
        air.wind = Vec3(1, 3, 2);
        ClothObjective objective(sheet, material, air, 0.3, 1e-3);
        const Step step(sheet, objective);
        for (const auto& A : deformations()) {
          const optimize::DerivativeErrors errors =
              check_derivatives(objective, sheets::mapped(sheet, A, 0.004), {.step = 1e-7});
          EXPECT_LT(errors.gradient, 1e-6);
          EXPECT_LT(errors.hessian, 2e-5) << static_cast<int>(model) << static_cast<int>(bending) << limited << "\n" << A;
          EXPECT_LT(errors.product, 1e-12);
        }
      }
    }
  }
}

// The second derivative by F of one triangle whose rest edges are the unit vectors.
Eigen::MatrixXd second_derivative(const ClothObjective& objective, HessianKind kind) {
  linalg::BlockMatrix H(objective.pattern(), 3);
  H.set_zero();
  objective.add_hessian(kind, H);
  Eigen::MatrixXd result(6, 6);
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      const double* block = H.block(H.pattern().slot(a + 1, b + 1));
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) result(3 * a + i, 3 * b + j) = block[3 * i + j];
      }
    }
  }
  return result;
}

TEST(Membrane, ProjectionIsThatOfTheWholeMatrix) {
  const geometry::Sheet sheet = geometry::flat_sheet({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}});
  const std::vector<std::uint8_t> fixed(3, 0);
  const std::vector<double> zero(9, 0.0);
  for (const MembraneModel model : models) {
    for (const bool orthotropic : {false, true}) {
      for (const bool limited : {false, true}) {
        ClothMaterial material = sheets::woven();
        if (!orthotropic) material.membrane = material::isotropic_membrane(700, 0.3);
        if (limited) {
          material.membrane.largest_stretch = 1.05;
          material.membrane.limit_stiffness = 3e3;
        }
        material.membrane.model = model;
        ClothObjective objective(sheet, material, {}, 0, 0);
        objective.begin_step({0, zero, 0, zero, zero, fixed, {}, {}});
        for (const auto& A : deformations()) {
          objective.move_to(sheets::mapped(sheet, A));
          const Eigen::MatrixXd raw = second_derivative(objective, HessianKind::Raw);
          const Eigen::MatrixXd projected = second_derivative(objective, HessianKind::Projected);
          EXPECT_LT((raw - raw.transpose()).norm(), 1e-12 * raw.norm());
          EXPECT_LT((projected - reference::nearest_semidefinite(raw)).norm(), 1e-10 * raw.norm());
        }
      }
    }
  }
}

// Between the raw Hessian and the projected one on a straight line, until the next step begins.
TEST(Membrane, TakesAsMuchOfItsProjectionAsIsAsked) {
  const geometry::Sheet sheet = sheets::irregular(0.2, 0.2, 0.05);
  ClothObjective objective(sheet, sheets::woven(), {}, 0, 0);
  EXPECT_TRUE(objective.buckles());
  const Step step(sheet, objective);
  objective.move_to(sheets::mapped(sheet, map(0.7, 0, 0.1, 0.6, 0, 0.3), 2e-3));
  const auto values = [&](HessianKind kind) {
    const auto all = objective.hessian(kind).values();
    return std::vector<double>(all.begin(), all.end());
  };
  const std::vector<double> raw = values(HessianKind::Raw), projected = values(HessianKind::Projected);
  double size = 0, difference = 0;
  for (std::size_t k = 0; k < raw.size(); ++k) {
    size = std::max(size, std::abs(projected[k]));
    difference = std::max(difference, std::abs(projected[k] - raw[k]));
  }
  EXPECT_GT(difference, 1e-2 * size);  // it is compressed
  for (const double part : {0.0, 0.3, 1.0}) {
    objective.project_partly(part);
    const std::vector<double> between = values(HessianKind::Projected);
    for (std::size_t k = 0; k < raw.size(); ++k)
      ASSERT_NEAR(between[k], raw[k] + part * (projected[k] - raw[k]), 1e-12 * size) << part;
    EXPECT_EQ(values(HessianKind::Raw), raw);
  }
  objective.project_partly(0.3);
  const Step next(sheet, objective);
  objective.move_to(sheets::mapped(sheet, map(0.7, 0, 0.1, 0.6, 0, 0.3), 2e-3));
  EXPECT_EQ(values(HessianKind::Projected), projected);
}

TEST(Membrane, CollapsedTrianglesHaveFiniteForces) {
  const geometry::Sheet sheet = geometry::flat_sheet({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}});
  const std::vector<std::uint8_t> fixed(3, 0);
  const std::vector<double> zero(9, 0.0);
  for (const MembraneModel model : models) {
    ClothMaterial material = sheets::woven();
    material.membrane.model = model;
    ClothObjective objective(sheet, material, {}, 0, 0);
    objective.begin_step({0, zero, 0, zero, zero, fixed, {}, {}});
    for (const auto& A : {map(0, 0, 0, 0, 0, 0), map(1, 0, 0, 0, 0, 0), map(0, 1, 0, 1, 0, 1)}) {
      objective.move_to(sheets::mapped(sheet, A));
      std::vector<double> g(9);
      objective.gradient(g);
      EXPECT_TRUE(std::isfinite(objective.value(1e300)));
      for (const double entry : g) EXPECT_TRUE(std::isfinite(entry));
      const Eigen::MatrixXd projected = second_derivative(objective, HessianKind::Projected);
      EXPECT_TRUE(projected.allFinite());
      EXPECT_GE(reference::eigenvalues(projected)[0], -1e-10 * projected.norm());
    }
  }
}

// Energies and forces of pure stretches along and across the warp, by hand.
TEST(Membrane, StretchesAlongWarpAndWeftHaveTheEnergyOfTheirConstants) {
  const geometry::Sheet sheet = geometry::rectangle_sheet(0.4, 0.3, 0.1);
  ClothMaterial material = sheets::woven();
  material.grain = 0;
  material.bending = {};
  const double area = 0.12, a = 1.1, b = 0.95;
  for (const MembraneModel model : models) {
    material.membrane.model = model;
    ClothObjective objective(sheet, material, {}, 0, 0);
    objective.move_to(sheets::mapped(sheet, map(a, 0, 0, 0, 0, b)));
    const bool corotated = model == MembraneModel::Corotated;
    const double e1 = corotated ? a - 1 : 0.5 * (a * a - 1), e2 = corotated ? b - 1 : 0.5 * (b * b - 1);
    EXPECT_NEAR(objective.potential(), area * 0.5 * (900 * e1 * e1 + 2 * 120 * e1 * e2 + 500 * e2 * e2), 1e-12);
  }
  // The same with the warp along y.
  material.grain = 0.5 * std::numbers::pi;
  ClothObjective turned(sheet, material, {}, 0, 0);
  turned.move_to(sheets::mapped(sheet, map(1, 0, 0, a, 0, 0)));
  const double e = 0.5 * (a * a - 1);
  EXPECT_NEAR(turned.potential(), area * 0.5 * 900 * e * e, 1e-12);
}

TEST(Cloth, RestIsAnEquilibriumAndRigidMotionsCostNothing) {
  const geometry::Sheet sheet = sheets::irregular(0.5, 0.4, 0.05);
  for (const MembraneModel model : models) {
    for (const BendingModel bending : {BendingModel::Quadratic, BendingModel::Dihedral}) {
      ClothMaterial material = sheets::woven();
      material.membrane.model = model;
      material.bending.model = bending;
      ClothObjective objective(sheet, material, {}, 0, 0);
      const Mat3 turn = Eigen::AngleAxisd(2.0, Vec3(1, 2, 3).normalized()).toRotationMatrix();
      std::vector<double> g(objective.size());
      objective.move_to(sheets::mapped(sheet, turn.leftCols<2>()));
      objective.potential_gradient(g);
      EXPECT_NEAR(objective.potential(), 0, 1e-25);
      EXPECT_LT(linalg::norm(g), 1e-12);
    }
  }
}

// Inner forces create neither momentum nor angular momentum, and do not notice where the cloth is.
TEST(Cloth, InnerForcesAddUpToNothing) {
  const geometry::Sheet sheet = sheets::irregular(0.5, 0.4, 0.05);
  for (const BendingModel bending : {BendingModel::Quadratic, BendingModel::Dihedral}) {
    ClothMaterial material = sheets::woven();
    material.bending.model = bending;
    ClothObjective objective(sheet, material, {}, 0, 0);
    const std::vector<double> x = sheets::mapped(sheet, deformations()[1], 0.01);
    std::vector<double> g(objective.size());
    objective.move_to(x);
    objective.potential_gradient(g);
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    for (std::size_t i = 0; i < g.size(); i += 3) {
      const Vec3 f = Eigen::Map<const Vec3>(g.data() + i);
      force += f;
      torque += Eigen::Map<const Vec3>(x.data() + i).cross(f);
    }
    EXPECT_LT(force.norm(), 1e-12 * linalg::norm(g));
    // The quadratic bending model is not invariant under rotations of a sheet that is stretched.
    if (bending == BendingModel::Dihedral) {
      EXPECT_LT(torque.norm(), 1e-12 * linalg::norm(g));
    }
  }
}

TEST(Cloth, PatchTest) {
  const geometry::Sheet sheet = sheets::irregular(0.5, 0.4, 0.05);
  for (const MembraneModel model : models) {
    ClothMaterial material = sheets::woven();
    material.membrane.model = model;
    ClothObjective objective(sheet, material, {}, 0, 0);
    std::vector<double> g(objective.size());
    objective.move_to(sheets::mapped(sheet, deformations()[1]));
    objective.potential_gradient(g);
    for (std::size_t i = 0; i < sheet.vertices.size(); ++i) {
      const Vec3& p = sheet.vertices[i];
      if (std::abs(p[0]) > 0.2499 || std::abs(p[1]) > 0.1999) continue;
      EXPECT_LT(Eigen::Map<const Vec3>(g.data() + 3 * i).norm(), 1e-12 * linalg::norm(g));
    }
  }
}

TEST(Cloth, SameBitsForAnyNumberOfThreadsAndEveryWidth) {
  const geometry::Sheet sheet = sheets::irregular(1, 1, 0.025);
  ClothMaterial material = sheets::woven();
  const std::vector<double> x = sheets::mapped(sheet, deformations()[1], 0.005);
  const auto evaluated = [&](Isa isa) {
    ClothObjective objective(sheet, material, {}, 0, 0, isa);
    std::vector<double> all(objective.size()), values;
    objective.move_to(x);
    objective.potential_gradient(all);
    for (const HessianKind kind : {HessianKind::Raw, HessianKind::Projected}) {
      linalg::BlockMatrix H(objective.pattern(), 3);
      H.set_zero();
      objective.add_hessian(kind, H);
      all.insert(all.end(), H.values().begin(), H.values().end());
    }
    all.push_back(objective.potential());
    return all;
  };
  const std::vector<double> expected = evaluated(selected_isa());
  {
    const ThreadLimit one(1);
    EXPECT_EQ(evaluated(selected_isa()), expected);
  }
  if (cpu_supports(Isa::Avx512)) {
    EXPECT_EQ(evaluated(Isa::Avx2), evaluated(Isa::Avx512));
  }
  const std::vector<double> baseline = evaluated(Isa::Baseline);
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    difference = std::max(difference, std::abs(expected[k] - baseline[k]));
  }
  EXPECT_LT(difference, 1e-10 * largest);
}

// A sheet rolled to a cylinder of curvature κ about an axis of any direction: ½Bκ² per area.
TEST(Bending, CylindersHaveTheEnergyOfThePlate) {
  const double B = 3e-5, kappa = 2;
  const geometry::Sheet sheet = geometry::rectangle_sheet(0.6, 0.6, 0.01);
  for (const BendingModel model : {BendingModel::Quadratic, BendingModel::Dihedral}) {
    ClothMaterial material = sheets::woven();
    material.bending = {model, B, B};
    ClothObjective objective(sheet, material, {}, 0, 0);
    for (const double angle : {0.0, 0.3, 0.8, 1.57}) {
      const Vec2 across(std::cos(angle), std::sin(angle)), axis(-across[1], across[0]);
      std::vector<double> x;
      for (const Vec3& p : sheet.vertices) {
        const double s = across.dot(p.head<2>());
        const Vec2 in_plane = std::sin(kappa * s) / kappa * across + axis.dot(p.head<2>()) * axis;
        x.insert(x.end(), {in_plane[0], in_plane[1], (1 - std::cos(kappa * s)) / kappa});
      }
      objective.move_to(x);
      // Without the membrane's energy, which is that of chords.
      Bending bending(sheet, material.bending, 0, objective.pattern());
      bending.move_to(x);
      EXPECT_NEAR(bending.value(), 0.5 * B * kappa * kappa * 0.36, 0.02 * 0.5 * B * kappa * kappa * 0.36) << angle;
    }
  }
}

TEST(Bending, CurvedRestShapesStayCurved) {
  geometry::Sheet sheet = geometry::rectangle_sheet(0.3, 0.3, 0.02);
  for (Vec3& p : sheet.vertices) p = Vec3(std::sin(4 * p[0]) / 4, p[1], (1 - std::cos(4 * p[0])) / 4);
  ClothMaterial material = sheets::woven();
  material.bending = {BendingModel::Dihedral, 1e-4, 1e-4, true};
  ClothObjective objective(sheet, material, {}, 0, 0);
  Bending bending(sheet, material.bending, 0, objective.pattern());
  const std::vector<double> x = sheets::interleaved(sheet.vertices);
  std::vector<double> g(x.size(), 0.0);
  bending.move_to(x);
  bending.add_gradient(g);
  EXPECT_NEAR(bending.value(), 0, 1e-25);
  EXPECT_LT(linalg::norm(g), 1e-15);
}

}  // namespace
}  // namespace lope::matter
