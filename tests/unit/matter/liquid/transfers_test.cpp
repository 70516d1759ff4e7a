#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/matter/liquid/surface.h>
#include <lope/matter/liquid/transfers.h>

#include <numeric>

#include <gtest/gtest.h>

namespace lope::matter::liquid {
namespace {

template <int Dim>
Particles<Dim> cloud(int count, double size) {
  Particles<Dim> particles;
  for (int i = 0; i < count; ++i) {
    Vec<Dim> x, v;
    for (int a = 0; a < Dim; ++a) {
      const auto index = static_cast<std::uint64_t>(6 * i + a);
      x[a] = size * (random_unit(7, index) - 0.3);
      v[a] = random_unit(7, index + 3) - 0.5;
    }
    particles.add(x, v);
  }
  return particles;
}

template <int Dim>
Grid<Dim> grid_of(Particles<Dim>& particles) {
  Grid<Dim> grid;
  grid.dx = 0.1;
  grid.origin = Vec<Dim>::Constant(0.03);
  SortingMemory<Dim> memory;
  bin_particles(particles, 4, grid, memory);
  return grid;
}

template <class T>
class Transfers : public testing::Test {};
using Dimensions = testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(Transfers, Dimensions);

TYPED_TEST(Transfers, BinsEveryParticleInItsCell) {
  constexpr int Dim = TypeParam::value;
  Particles<Dim> particles = cloud<Dim>(3000, 2);
  const Grid<Dim> grid = grid_of(particles);
  ASSERT_EQ(grid.first.back(), 3000U);
  for (std::size_t place = 0; place < grid.bricks->size(); ++place) {
    for (std::uint32_t i = grid.first[place]; i < grid.first[place + 1]; ++i) {
      ASSERT_EQ(grid.bricks->place(grid.cell_of(particles.x[i])), static_cast<std::int64_t>(place));
    }
  }
}

TYPED_TEST(Transfers, KeepMomentumAndMass) {
  constexpr int Dim = TypeParam::value;
  Particles<Dim> particles = cloud<Dim>(2000, 2);
  const Grid<Dim> grid = grid_of(particles);
  FaceField<Dim> faces;
  std::vector<double> mass;
  to_grid(grid, particles, faces, mass);
  Vec<Dim> momentum = Vec<Dim>::Zero();
  for (const Vec<Dim>& v : particles.v) momentum += v;
  for (int a = 0; a < Dim; ++a) {
    const auto k = static_cast<std::size_t>(a);
    double on_grid = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) on_grid += faces.weight[k][i] * faces.velocity[k][i];
    EXPECT_NEAR(on_grid, momentum[a], 1e-9);
  }
  EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), 2000, 1e-8);
}

// A velocity that is linear in space goes to the grid and back unchanged: spin and stretch survive.
TYPED_TEST(Transfers, ApicKeepsLinearVelocities) {
  constexpr int Dim = TypeParam::value;
  Particles<Dim> particles = cloud<Dim>(4000, 1);
  Mat<Dim> gradient;
  for (int i = 0; i < Dim * Dim; ++i)
    gradient(i / Dim, i % Dim) = random_unit(3, static_cast<std::uint64_t>(i)) - 0.5;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.v[i] = Vec<Dim>::Constant(0.3) + gradient * particles.x[i];
    particles.affine[i] = gradient;
  }
  const Grid<Dim> grid = grid_of(particles);
  FaceField<Dim> faces;
  std::vector<double> mass;
  to_grid(grid, particles, faces, mass);
  std::vector<Vec<Dim>> carried;
  to_particles(grid, faces.velocity, faces.velocity, {}, particles, carried);
  FaceSampler<Dim> sampler(grid, faces.velocity);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec<Dim> expected = Vec<Dim>::Constant(0.3) + gradient * particles.x[i];
    ASSERT_LT((particles.v[i] - expected).norm(), 1e-10);
    ASSERT_LT((particles.affine[i] - gradient).norm(), 1e-8);
    Vec<Dim> sampled;
    ASSERT_TRUE(sampler.sample(particles.x[i], sampled));
    ASSERT_LT((sampled - carried[i]).norm(), 1e-12);
  }
}

TYPED_TEST(Transfers, FlipKeepsWhatTheGridDoesNotChange) {
  constexpr int Dim = TypeParam::value;
  Particles<Dim> particles = cloud<Dim>(2000, 1);
  const Grid<Dim> grid = grid_of(particles);
  const std::vector<Vec<Dim>> given = particles.v;
  FaceField<Dim> faces;
  std::vector<double> mass;
  to_grid(grid, particles, faces, mass);
  std::vector<Vec<Dim>> carried;
  to_particles(grid, faces.velocity, faces.velocity, {.kind = VelocityTransfer::Flip, .flip = 1}, particles, carried);
  for (std::size_t i = 0; i < given.size(); ++i) ASSERT_LT((particles.v[i] - given[i]).norm(), 1e-12);
}

TYPED_TEST(Transfers, SameBitsForAnyNumberOfThreads) {
  constexpr int Dim = TypeParam::value;
  const auto run = [](int threads) {
    const ThreadLimit limit(threads);
    Particles<Dim> particles = cloud<Dim>(5000, 3);
    const Grid<Dim> grid = grid_of(particles);
    FaceField<Dim> faces;
    std::vector<double> mass;
    to_grid(grid, particles, faces, mass);
    return faces.velocity;
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(Surface, DistanceAndFractionAreInverse) {
  for (double z = -1; z <= 1; z += 0.01) EXPECT_NEAR(surface_distance(surface_fraction(z)), z, 1e-6);
  EXPECT_EQ(surface_fraction(0), 0.5);
}

// A half-space of lattice points: the level set is its height wherever the surface cuts the cells.
TEST(Surface, FlatSurfaceIsWhereItIs) {
  for (const double height : {0.5, 0.55, 0.6, 0.675}) {
    Particles<2> particles;
    const double s = 0.05;
    for (int i = 0; i < 40; ++i) {
      for (double y = height - s / 2; y > -0.5; y -= s) particles.add(Vec2((i + 0.5) * s, y), Vec2::Zero());
    }
    Grid<2> grid;
    grid.dx = 0.1;
    SortingMemory<2> memory;
    bin_particles(particles, 4, grid, memory);
    FaceField<2> faces;
    std::vector<double> mass, fraction, distance;
    to_grid(grid, particles, faces, mass);
    const std::vector<double> open(mass.size(), 1.0);
    volume_fractions(mass, open, 0.25, fraction);
    surface_from(fraction, grid.dx, distance);
    for (std::size_t i = 0; i < distance.size(); ++i) {
      const auto cell = grid.bricks->cell(static_cast<std::int64_t>(i));
      if (cell[0] < 4 || cell[0] > 15 || cell[1] < 0) continue;
      const double expected = (cell[1] + 0.5) * grid.dx - height;
      if (std::abs(expected) > 0.6 * grid.dx) continue;
      EXPECT_NEAR(distance[i], expected, 0.1 * grid.dx);
    }
  }
}

}  // namespace
}  // namespace lope::matter::liquid
