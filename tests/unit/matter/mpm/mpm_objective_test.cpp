// The energy of an implicit step of material points: derivatives, symmetry, bits.
#include <lope/base/cpu.h>
#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/matter/mpm/mpm_objective.h>
#include <lope/matter/mpm/sampling.h>
#include <lope/matter/mpm/transfers.h>
#include <lope/optimize/check_derivatives.h>

#include <gtest/gtest.h>

#include <cstring>
#include <support/vectors.h>

namespace lope::matter::mpm {
namespace {

geometry::LevelSetPtr box(const Vec3& low, const Vec3& high) {
  return *geometry::level_set(geometry::Box{0.5 * (low + high), high - low});
}

std::vector<Material> two_materials() {
  return {{material::from_young_poisson(material::Density::FixedCorotated, 1e5, 0.3), {}, 1000},
          {material::from_young_poisson(material::Density::StvkHencky, 1e7, 0.2), {}, 2000}};
}

// A strained cube of two materials above an obstacle, in motion.
template <int Dim>
struct Step {
  explicit Step(Boundary kind, Isa isa = selected_isa()) : grid(0.1), objective(two_materials(), 0.6, Embedding::Linear, isa) {
    const Vec3 low(0.0, 0.0, Dim == 3 ? 0.0 : -1.0), high(0.6, 0.55, Dim == 3 ? 0.45 : 1.0);
    std::uint64_t k = 1;
    for (const Vec<Dim>& x : sample<Dim>(*box(low, high), sample_distance<Dim>(0.1, 7), 1)) {
      Vec<Dim> v;
      for (int a = 0; a < Dim; ++a) v[a] = 0.3 * (2 * random_unit(5, k++) - 1);
      const int part = x[0] > 0.27;
      particles.add(x, v, 1e-4, part ? 0.2 : 0.1, 0, part);
      for (int a = 0; a < Dim * Dim; ++a) particles.F.back().data()[a] += 0.1 * (2 * random_unit(5, k++) - 1);
    }
    Obstacle& slope = world.obstacles.emplace_back();
    slope.shape = *geometry::level_set(geometry::HalfSpace{Vec3(0.1, 0.12, 0), Vec3(0.2, 1, 0.1)});
    grid.build(particles, std::vector<int>{0, 5});
    velocity.resize(Dim * grid.nodes());
    to_grid<Dim>(grid, particles, {}, velocity);
    conditions.set(grid, world, std::vector<Boundary>{kind}, {}, 0, h);
    objective.begin_step(grid, particles, conditions, velocity, Vec<Dim>::Unit(1) * -9.81, h);
    u.resize(objective.size());
    for (double& c : u) c = 0.004 * (2 * random_unit(6, k++) - 1);
    conditions.apply(u);
  }
  double h = 0.01;
  World world;
  Particles<Dim> particles;
  Grid<Dim> grid;
  Conditions<Dim> conditions;
  MpmObjective<Dim> objective;
  std::vector<double> velocity, u;
};

template <int Dim>
void check(Boundary kind) {
  Step<Dim> step(kind);
  EXPECT_GT(step.conditions.projectors().size(), 5U);
  EXPECT_LT(step.conditions.projectors().size(), step.grid.nodes() / 2);
  // Along what the conditions allow: sticky nodes are fixed, slip takes the direction's normal part away.
  if (kind == Boundary::Sticky) {
    const auto errors = optimize::check_derivatives(step.objective, step.u, {.step = 1e-7});
    EXPECT_LT(errors.gradient, 1e-7);
    EXPECT_LT(errors.hessian, 2e-6);
    EXPECT_LT(errors.product, 1e-12);
  }
  // By hand for directions that the projector passes.
  std::vector<double> p(step.u.size()), hp(p.size()), free(p.size()), ahead(p.size()), behind(p.size()), at(p.size());
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = 2 * random_unit(8, k) - 1;
  step.objective.project_direction(step.u, p);
  const double t = 1e-7;
  linalg::add_scaled(step.u, t, p, at);
  step.objective.move_to(at);
  const double up = step.objective.value(1e300);
  step.objective.gradient(ahead);
  linalg::add_scaled(step.u, -t, p, at);
  step.objective.move_to(at);
  const double down = step.objective.value(1e300);
  step.objective.gradient(behind);
  step.objective.move_to(step.u);
  std::vector<double> g(p.size());
  step.objective.gradient(g);
  EXPECT_NEAR((up - down) / (2 * t), linalg::dot(g, p), 1e-6 * linalg::norm(g) * linalg::norm(p));
  step.objective.hessian(optimize::HessianKind::Raw).multiply(p, hp);
  step.objective.hessian_times(optimize::HessianKind::Raw, p, free);
  linalg::combine(1 / (2 * t), ahead, 0, at);
  linalg::combine(-1 / (2 * t), behind, 1, at);
  const double size = linalg::norm(hp);
  linalg::combine(-1, hp, 1, at);
  linalg::combine(-1, hp, 1, free);
  EXPECT_LT(linalg::norm(at), 1e-5 * size);
  EXPECT_LT(linalg::norm(free), 1e-12 * size);
}

TEST(MpmObjective, DerivativesIn3D) {
  check<3>(Boundary::Sticky);
  check<3>(Boundary::Slip);
}
TEST(MpmObjective, DerivativesIn2D) {
  check<2>(Boundary::Sticky);
  check<2>(Boundary::Slip);
}

TEST(MpmObjective, MatrixIsSymmetricAndProjectedDefinite) {
  Step<3> step(Boundary::Slip);
  step.objective.move_to(step.u);
  const linalg::BlockMatrix& H = step.objective.hessian(optimize::HessianKind::Projected);
  const linalg::BlockPattern& pattern = H.pattern();
  for (int row = 0; row < pattern.rows(); ++row) {
    for (std::int64_t slot = pattern.row_start()[static_cast<std::size_t>(row)]; slot < pattern.row_start()[static_cast<std::size_t>(row) + 1]; ++slot) {
      const double* mirror = H.block(pattern.slot(pattern.column()[static_cast<std::size_t>(slot)], row));
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) EXPECT_EQ(H.block(slot)[3 * a + b], mirror[3 * b + a]);
      }
    }
  }
  std::vector<double> p(step.u.size()), hp(p.size());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = 2 * random_unit(seed, k) - 1;
    H.multiply(p, hp);
    EXPECT_GT(linalg::dot(p, hp), 0);
  }
}

std::vector<double> everything(Isa isa, int threads) {
  const ThreadLimit limit(threads);
  Step<3> step(Boundary::Slip, isa);
  step.objective.move_to(step.u);
  std::vector<double> g(step.u.size()), y(step.u.size()), all = {step.objective.value(1e300)};
  step.objective.gradient(g);
  step.objective.hessian_times(optimize::HessianKind::Projected, g, y);
  const auto values = step.objective.hessian(optimize::HessianKind::Raw).values();
  all.insert(all.end(), g.begin(), g.end());
  all.insert(all.end(), y.begin(), y.end());
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(MpmObjective, SameBitsForAnyNumberOfThreadsAndWidthOfVectors) {
  const std::vector<double> one = everything(selected_isa(), 1), two = everything(selected_isa(), 2);
  ASSERT_EQ(one.size(), two.size());
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(double)), 0);
  std::vector<double> fused;
  for (const Isa isa : supported_isas()) {
    const std::vector<double> made = everything(isa, 2);
    if (is_fused(isa)) {
      if (!fused.empty()) {
        EXPECT_EQ(std::memcmp(fused.data(), made.data(), made.size() * sizeof(double)), 0) << name(isa);
      }
      fused = made;
    }
    for (std::size_t k = 0; k < made.size(); ++k) ASSERT_NEAR(made[k], one[k], 1e-6 * (1 + std::abs(one[k]))) << name(isa);
  }
}

TEST(MpmObjective, DiagonalNeedsNoMatrix) {
  for (const Boundary boundary : {Boundary::Sticky, Boundary::Slip}) {
    Step<3> step(boundary);
    for (const auto kind : {optimize::HessianKind::Raw, optimize::HessianKind::Projected}) {
      step.objective.move_to(step.u);
      std::vector<double> made(3 * step.objective.size()), expected(made.size());
      step.objective.hessian_diagonal(kind, made);
      step.objective.hessian(kind).diagonal_blocks(expected);
      for (std::size_t k = 0; k < made.size(); ++k) {
        const std::size_t block = k / 9 * 9;
        const double size = expected[block] + expected[block + 4] + expected[block + 8];
        ASSERT_NEAR(made[k], expected[k], 1e-12 * size) << k;
      }
    }
  }
}

TEST(MpmObjective, ScalesAreThoseOfTheNodewiseNorm) {
  Step<3> step(Boundary::Sticky);
  const auto& scales = step.objective.scales();
  double least = 1e300, most = 0;
  for (const double s : scales.per_block) {
    least = std::min(least, s);
    most = std::max(most, s);
  }
  // Between those of the two materials: 24 dx² ξ.
  EXPECT_GT(most / least, 50);
  EXPECT_LT(most / least, 110);
}

}  // namespace
}  // namespace lope::matter::mpm
