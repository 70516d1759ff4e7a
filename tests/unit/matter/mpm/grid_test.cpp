// The grid of material points, its transfers and the samples it starts from.
#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/matter/mpm/sampling.h>
#include <lope/matter/mpm/transfers.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace lope::matter::mpm {
namespace {

geometry::LevelSetPtr box(const Vec3& low, const Vec3& high) {
  return *geometry::level_set(geometry::Box{0.5 * (low + high), high - low});
}

double number(std::uint64_t k) { return 2 * random_unit(3, k) - 1; }

// Points in a ball of half a metre around (1, −2, 0.3), with velocities and affine parts at random.
template <int Dim>
Particles<Dim> random_points(int count) {
  Particles<Dim> particles;
  std::uint64_t k = 0;
  for (int p = 0; p < count; ++p) {
    Vec<Dim> x, v;
    for (int a = 0; a < Dim; ++a) {
      x[a] = (a == 0 ? 1.0 : a == 1 ? -2.0 : 0.3) + 0.5 * number(k++);
      v[a] = 3 * number(k++);
    }
    particles.add(x, v, 1e-3, 0.5 + random_unit(9, k), 0, p % 2);
    for (int a = 0; a < Dim * Dim; ++a) particles.affine.back().data()[a] = 2 * number(k++);
  }
  return particles;
}

const std::vector<int> kinds = {0, 1};

template <int Dim>
void keeps_momentum(const TransferOptions& options, bool angular) {
  Particles<Dim> particles = random_points<Dim>(3000);
  if (options.kind == VelocityTransfer::Flip) {
    for (auto& C : particles.affine) C.setZero();
  }
  const double dx = 0.07;
  Grid<Dim> grid(dx);
  grid.build(particles, kinds);
  const Vec3 p0 = momentum(particles), L0 = angular_momentum(particles, dx);
  std::vector<double> v(Dim * grid.nodes());
  to_grid(grid, particles, options, v);
  Vec3 p = Vec3::Zero(), L = Vec3::Zero();
  double size = 0, turning = 0;
  for (std::size_t i = 0; i < grid.nodes(); ++i) {
    Vec3 x = Vec3::Zero(), vi = Vec3::Zero();
    x.template head<Dim>() = grid.position(i);
    vi.template head<Dim>() = Eigen::Map<const Vec<Dim>>(v.data() + Dim * i);
    p += grid.masses()[i] * vi;
    L += grid.masses()[i] * x.cross(vi);
    size += grid.masses()[i] * vi.norm();
    turning += grid.masses()[i] * x.norm() * vi.norm();
  }
  EXPECT_LT((p - p0).norm(), 1e-13 * size);
  if (angular) {
    EXPECT_LT((L - L0).norm(), 1e-13 * turning);
  }
  to_particles<Dim>(grid, options, 1e-3, v, v, particles);
  EXPECT_LT((momentum(particles) - p0).norm(), 1e-13 * size);
  if (angular) {
    EXPECT_LT((angular_momentum(particles, dx) - L0).norm(), 1e-13 * turning);
  }
}

TEST(MpmTransfers, ApicKeepsLinearAndAngularMomentum) {
  keeps_momentum<3>({}, true);
  keeps_momentum<2>({}, true);
}
TEST(MpmTransfers, FlipKeepsLinearMomentum) {
  keeps_momentum<3>({.kind = VelocityTransfer::Flip, .flip = 0.95}, false);
  keeps_momentum<2>({.kind = VelocityTransfer::Flip, .flip = 0.95}, false);
}

// A translation with a rotation and a strain rate comes back as it was: the patch test of APIC.
template <int Dim>
void affine_motion() {
  Particles<Dim> particles = random_points<Dim>(4000);
  Mat<Dim> A;
  Vec<Dim> b;
  std::uint64_t k = 777;
  for (int a = 0; a < Dim * Dim; ++a) A.data()[a] = number(k++);
  for (int a = 0; a < Dim; ++a) b[a] = number(k++);
  for (std::size_t p = 0; p < particles.size(); ++p) {
    particles.v[p] = A * particles.x[p] + b;
    particles.affine[p] = A;
  }
  Grid<Dim> grid(0.11);
  grid.build(particles, kinds);
  std::vector<double> v(Dim * grid.nodes());
  to_grid<Dim>(grid, particles, {}, v);
  for (std::size_t i = 0; i < grid.nodes(); ++i) {
    const Vec<Dim> expected = A * grid.position(i) + b;
    EXPECT_LT((Eigen::Map<const Vec<Dim>>(v.data() + Dim * i) - expected).norm(), 1e-11);
  }
  const double h = 0.01;
  const auto before = particles.x;
  to_particles<Dim>(grid, {}, h, v, v, particles);
  for (std::size_t p = 0; p < particles.size(); ++p) {
    const Vec<Dim> expected = A * before[p] + b;
    EXPECT_LT((particles.v[p] - expected).norm(), 1e-11);
    EXPECT_LT((particles.affine[p] - A).norm(), 1e-10);
    EXPECT_LT((particles.F[p] - Mat<Dim>(Mat<Dim>::Identity() + h * A)).norm(), 1e-11);
    EXPECT_LT((particles.x[p] - before[p] - h * expected).norm(), 1e-12);
  }
}

TEST(MpmTransfers, AffineMotionsComeBack) {
  affine_motion<3>();
  affine_motion<2>();
}

TEST(MpmGrid, SortsAndNumbers) {
  Particles<3> particles = random_points<3>(2000);
  const Particles<3> given = particles;
  Grid<3> grid(0.05);
  grid.build(particles, kinds);
  // The same particles, in another order.
  std::set<std::int32_t> seen;
  double mass = 0;
  for (std::size_t p = 0; p < particles.size(); ++p) {
    const auto id = static_cast<std::size_t>(particles.id[p]);
    EXPECT_EQ(particles.x[p], given.x[id]);
    EXPECT_EQ(particles.affine[p], given.affine[id]);
    EXPECT_EQ(particles.part[p], given.part[id]);
    seen.insert(particles.id[p]);
    mass += particles.mass[p];
  }
  EXPECT_EQ(seen.size(), particles.size());
  double on_nodes = 0;
  for (const double m : grid.masses()) {
    EXPECT_GT(m, 0);
    on_nodes += m;
  }
  EXPECT_NEAR(on_nodes, mass, 1e-12 * mass);
  EXPECT_TRUE(std::is_sorted(grid.node_indices().begin(), grid.node_indices().end()));
  // Blocks hold their particles, and know the numbers of the nodes around.
  for (std::size_t b = 0; b < grid.blocks().size(); ++b) {
    const auto& block = grid.blocks()[b];
    for (std::size_t p = block.begin; p < block.end; ++p) {
      const auto at = grid.place(block, particles.x[p]);
      for (int a = 0; a < 3; ++a) {
        EXPECT_GE(at.at[a], 0.5);
        EXPECT_LE(at.at[a], 1.5);
      }
      const int number = grid.numbers(b)[at.local];
      ASSERT_GE(number, 0);
      EXPECT_LT((grid.position(static_cast<std::size_t>(number)) + 0.05 * at.at - particles.x[p]).norm(), 1e-13);
    }
  }
}

TEST(MpmGrid, PatternIsAllNodesWithinTwoStepsAndIsKept) {
  Particles<3> particles = random_points<3>(300);
  Grid<3> grid(0.1);
  grid.build(particles, kinds);
  const linalg::BlockPattern& pattern = *grid.pattern();
  const auto id = pattern.id();
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < grid.nodes(); ++i) {
    for (std::size_t j = 0; j < grid.nodes(); ++j) {
      int apart = 0;
      for (std::size_t a = 0; a < 3; ++a) apart = std::max(apart, std::abs(grid.node_indices()[i][a] - grid.node_indices()[j][a]));
      EXPECT_EQ(pattern.slot(static_cast<int>(i), static_cast<int>(j)) >= 0, apart <= 2);
      pairs += apart <= 2;
    }
  }
  EXPECT_EQ(pairs, pattern.blocks());
  grid.build(particles, kinds);
  EXPECT_EQ(grid.pattern()->id(), id);
}

TEST(MpmGrid, PointsOnNodesLeaveNoNodeWithoutMass) {
  // At half-integer places the outermost weights vanish.
  Particles<3> particles;
  for (int i = 0; i < 4; ++i) particles.add(Vec3(0.5 + i, 0.5, 0.5), Vec3::Zero(), 1, 1, 0, 0);
  Grid<3> grid(1.0);
  grid.build(particles, kinds);
  for (const double m : grid.masses()) EXPECT_GT(m, 0);
  EXPECT_EQ(grid.nodes(), 5U * 2 * 2);
}

TEST(MpmGrid, TellsPointsThatAreNowhere) {
  Particles<2> particles = random_points<2>(10);
  Grid<2> grid(0.1);
  EXPECT_TRUE(grid.holds(particles));
  particles.x[3][1] = 1e9;
  EXPECT_FALSE(grid.holds(particles));
  particles.x[3][1] = std::nan("");
  EXPECT_FALSE(grid.holds(particles));
}

TEST(MpmSampling, PoissonDiscSamplesKeepTheirDistanceAndFill) {
  const double dx = 0.015, r = sample_distance<3>(dx, 12);
  const auto beam = box(Vec3(1.94, 2.8, 1.94), Vec3(2.06, 3.1, 2.06));
  const auto points = sample<3>(*beam, r, 1);
  // HOT's program, with another sampler, has 12,297 in this box.
  EXPECT_NEAR(static_cast<double>(points.size()), 12297, 0.06 * 12297);
  double nearest = 1e9;
  for (std::size_t i = 0; i < points.size(); i += 97) {
    for (std::size_t j = 0; j < points.size(); ++j)
      if (i != j) nearest = std::min(nearest, (points[i] - points[j]).norm());
    EXPECT_LT(beam->value(points[i]), 0);
  }
  EXPECT_GE(nearest, r * (1 - 1e-12));
  EXPECT_EQ(sample<3>(*beam, r, 1).size(), points.size());
  EXPECT_NEAR(volume<3>(*beam, dx / 8), 0.12 * 0.12 * 0.3, 1e-3 * 0.12 * 0.12 * 0.3);
}

TEST(MpmSampling, InThePlane) {
  const auto disc = *geometry::level_set(geometry::Sphere{Vec3(0.2, 0.1, 0), 0.5});
  const double dx = 0.04;
  const auto points = sample<2>(*disc, sample_distance<2>(dx, 6), 4);
  const double area = std::numbers::pi * 0.25;
  EXPECT_NEAR(volume<2>(*disc, dx / 8), area, 1e-3 * area);
  EXPECT_NEAR(static_cast<double>(points.size()), 6 * area / (dx * dx), 0.15 * 6 * area / (dx * dx));
}

}  // namespace
}  // namespace lope::matter::mpm
