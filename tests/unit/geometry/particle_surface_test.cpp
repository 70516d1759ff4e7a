#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/level_set/grid.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/geometry/level_set/volume_file.h>
#include <lope/geometry/surface_check.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

constexpr double dx = 1.0 / 16;

// Eight particles, each somewhere in its eighth, for every cell of the cube [−1, 1]³; those where `inside`
// holds.
std::vector<Vec3> fill(const std::function<bool(const Vec3&)>& inside) {
  std::vector<Vec3> particles;
  const int n = static_cast<int>(std::lround(4 / dx));
  std::uint64_t drawn = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        Vec3 x(i, j, k);
        for (int a = 0; a < 3; ++a) x[a] = -1 + 0.5 * dx * (x[a] + random_unit(3, drawn++));
        if (inside(x)) particles.push_back(x);
      }
    }
  }
  return particles;
}

ParticleSurface surface_of(const std::vector<Vec3>& particles, ParticleSurfaceOptions options = {}) {
  options.spacing = dx;
  return std::move(*ParticleSurface::create(particles, options));
}

TEST(ParticleSurface, AFlatSurfaceLiesWhereItIs) {
  const double height = 0.3;
  const Mesh mesh = surface_of(fill([&](const Vec3& x) { return x.y() < height; })).mesh();
  double sum = 0, worst = 0;
  int count = 0;
  for (const Vec3& x : mesh.vertices) {
    if (x.y() < 0 || std::abs(x.x()) > 0.8 || std::abs(x.z()) > 0.8) continue;
    sum += x.y() - height;
    worst = std::max(worst, std::abs(x.y() - height));
    ++count;
  }
  ASSERT_GT(count, 500);
  EXPECT_LT(std::abs(sum / count), 0.05 * dx);
  EXPECT_LT(worst, 0.35 * dx);
}

TEST(ParticleSurface, ABallKeepsItsVolume) {
  const double r = 0.6, exact = 4.0 / 3 * std::numbers::pi * r * r * r;
  const auto particles = fill([&](const Vec3& x) { return x.norm() < r; });
  for (const double voxel : {0.25 * dx, 0.5 * dx}) {
    const Mesh mesh = surface_of(particles, {.voxel = voxel}).mesh();
    const auto closed = check_surface(mesh);
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_NEAR(enclosed_volume(*closed) / exact, 1, 0.03) << voxel;
  }
}

TEST(ParticleSurface, LiquidInABoxFillsItToTheWalls) {
  const LevelSetPtr box = complement_of(*level_set(Box{Vec3(0, 0, 0), Vec3(1.6, 1.2, 1)}));
  // Particles stay a little away from walls.
  const auto particles = fill([](const Vec3& x) {
    return std::abs(x.x()) < 0.79 && x.y() > -0.59 && x.y() < 0.1 && std::abs(x.z()) < 0.49;
  });
  const Mesh mesh = surface_of(particles, {.walls = {{box, {}}}}).mesh();
  const Bounds extent = bounds(mesh.vertices);
  EXPECT_NEAR(extent.min.x(), -0.8, 0.02 * dx);
  EXPECT_NEAR(extent.max.x(), 0.8, 0.02 * dx);
  EXPECT_NEAR(extent.min.y(), -0.6, 0.02 * dx);
  EXPECT_NEAR(extent.max.y(), 0.1, 0.35 * dx);
  EXPECT_NEAR(extent.max.z(), 0.5, 0.02 * dx);
  EXPECT_NEAR(enclosed_volume(mesh), 1.6 * 0.7 * 1, 0.02 * 1.6 * 0.7);
  // Moved together, wall and liquid give the same picture elsewhere.
  RigidPose pose;
  pose.translation = Vec3(0.7, -0.3, 0.2);
  std::vector<Vec3> moved;
  for (const Vec3& x : particles) moved.push_back(pose.place(x));
  const Mesh elsewhere = surface_of(moved, {.walls = {{box, pose}}}).mesh();
  EXPECT_NEAR(enclosed_volume(elsewhere), enclosed_volume(mesh), 0.003);
}

TEST(ParticleSurface, SeparateDropsAreNotBridged) {
  for (const double gap : {2.2, 3.0, 3.8}) {  // below 2 R, where the mean of both is half-way
    const auto particles = fill([&](const Vec3& x) {
      return std::abs(std::abs(x.x()) - 0.3) < 0.3 - 0.5 * gap * dx && x.norm() < 0.8;
    });
    const Mesh mesh = surface_of(particles).mesh();
    for (const Vec3& x : mesh.vertices) ASSERT_GT(std::abs(x.x()), 0.2 * gap * dx) << gap;
  }
}

TEST(ParticleSurface, AParticleAloneIsADropOfItsCell) {
  const Mesh mesh = surface_of({Vec3(0.013, 0.02, -0.3)}).mesh();
  ASSERT_TRUE(check_surface(mesh));
  EXPECT_GT(enclosed_volume(mesh), 0.1 * dx * dx * dx);
  EXPECT_LT(enclosed_volume(mesh), 1.0 * dx * dx * dx);
  EXPECT_TRUE(surface_of({}).mesh().triangles.empty());
}

TEST(ParticleSurface, HasTheSameBitsForAnyNumberOfThreads) {
  const auto particles =
      fill([](const Vec3& x) { return x.y() < 0.2 * std::sin(5 * x.x()) || x.norm() < 0.5; });
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return surface_of(particles).mesh();
  };
  const Mesh one = with(1), two = with(2);
  EXPECT_EQ(one.triangles, two.triangles);
  EXPECT_EQ(one.vertices, two.vertices);
}

TEST(ParticleSurface, CarriesValuesOfTheParticles) {
  const auto particles = fill([](const Vec3& x) { return x.norm() < 0.5; });
  std::vector<Vec3> values;
  for (const Vec3& x : particles) values.emplace_back(3 + 2 * x.x(), 1, -x.y());
  const ParticleSurface surface = surface_of(particles);
  const Mesh mesh = surface.mesh();
  const auto carried = surface.carry(values, mesh.vertices);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    ASSERT_NEAR(carried[i].x(), 3 + 2 * mesh.vertices[i].x(), 2 * dx);
    ASSERT_NEAR(carried[i].y(), 1, 1e-12);
    ASSERT_NEAR(carried[i].z(), -mesh.vertices[i].y(), dx);
  }
  const std::vector<Vec3> far{Vec3(5, 5, 5)};
  EXPECT_EQ(surface.carry(values, far).front(), Vec3::Zero());
}

TEST(ParticleSurface, IsWrittenAsALevelSetThatReadsBack) {
  const auto file = std::filesystem::path(testing::TempDir()) / "lope_particle_surface.vdb";
  const double r = 0.5;
  const ParticleSurface surface = surface_of(fill([&](const Vec3& x) { return x.norm() < r; }));
  CellGrid cells{dx, Vec3(-1, -1, -1), {{0, 0, 0}, {1, 2, 3}}, {}};
  cells.fields.push_back({"pressure", 1, false, {1, 2}});
  cells.fields.push_back({"velocity", 3, true, {1, 2, 3, 4, 5, 6}});
  const auto written = write_volume(surface.mesh(), 0.5 * dx, cells, file);
  ASSERT_TRUE(written) << written.error().message;
  const auto back = read_grid_level_set(file, "surface");
  ASSERT_TRUE(back) << back.error().message;
  for (int i = 0; i < 50; ++i) {
    Vec3 x(random_unit(9, 3 * i) - 0.5, random_unit(9, 3 * i + 1) - 0.5, random_unit(9, 3 * i + 2) - 0.5);
    x = (r + dx * (random_unit(11, i) - 0.5)) * x.normalized();
    EXPECT_NEAR((*back)->value(x), x.norm() - r, 0.3 * dx);
  }
  const auto other = read_grid_level_set(file, "velocity");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("no level set"), std::string::npos);
  std::filesystem::remove(file);

  cells.fields[0].values.pop_back();
  const auto wrong = write_volume(surface.mesh(), 0.5 * dx, cells, file);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("pressure"), std::string::npos);
  EXPECT_FALSE(write_volume(surface.mesh(), 0.5 * dx, {}, "/nowhere/at/all.vdb"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ParticleSurface, RefusesWhatCannotBe) {
  const std::vector<Vec3> good{Vec3::Zero()};
  EXPECT_FALSE(ParticleSurface::create(good, {}));
  EXPECT_FALSE(ParticleSurface::create(good, {.spacing = 1, .voxel = 3}));
  EXPECT_FALSE(ParticleSurface::create(good, {.spacing = 1, .radius = 9}));
  const std::vector<Vec3> bad{Vec3::Zero(), Vec3(0, std::numeric_limits<double>::quiet_NaN(), 0)};
  const auto refused = ParticleSurface::create(bad, {.spacing = 1});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("particle 1"), std::string::npos);
  EXPECT_FALSE(ParticleSurface::create(std::vector<Vec3>{Vec3(1e12, 0, 0)}, {.spacing = 1}));
}

}  // namespace
}  // namespace lope::geometry
