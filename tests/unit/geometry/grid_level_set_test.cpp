#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/level_set/grid.h>
#include <lope/geometry/surface_check.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace lope::geometry {
namespace {

Mesh torus_surface() {
  const LevelSetPtr torus = *level_set(Torus{Vec3(0.1, 0, -0.1), Vec3(1, 2, 0.5), 0.5, 0.2});
  return torus->surface({.segments = 160});
}

LevelSetPtr exact_torus() { return *level_set(Torus{Vec3(0.1, 0, -0.1), Vec3(1, 2, 0.5), 0.5, 0.2}); }

LevelSetPtr grid_torus(Interpolation interpolation, double voxel = 0.02) {
  return *grid_level_set(torus_surface(), {.voxel = voxel, .interpolation = interpolation});
}

Vec3 point(std::uint64_t index) {
  Vec3 x;
  for (int axis = 0; axis < 3; ++axis) x[axis] = 1.6 * random_unit(5, 3 * index + axis) - 0.8;
  return x;
}

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) / ("lope_grid_level_set_" + name)) {}
  ~ScratchFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Interpolations : public testing::TestWithParam<Interpolation> {};
INSTANTIATE_TEST_SUITE_P(All, Interpolations,
                         testing::Values(Interpolation::Linear, Interpolation::Quadratic));

TEST_P(Interpolations, ApproximatesTheDistanceInTheBandAndAllInside) {
  const LevelSetPtr exact = exact_torus(), grid = grid_torus(GetParam());
  EXPECT_FALSE(grid->is_exact());
  int tested = 0;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const Vec3 x = point(k);
    const double distance = exact->value(x);
    if (distance > 0.12) {
      EXPECT_NEAR(grid->value(x), 0.06, 1e-6);  // three voxels
      EXPECT_LE(grid->sample(x).gradient.norm(), 1e-4);
    } else if (distance < 0.04) {
      ++tested;
      EXPECT_NEAR(grid->value(x), distance, 2e-3 + (distance < -0.15 ? 0.02 : 0)) << x.transpose();
      if (distance > -0.1) {
        // The direction turns by a voxel over the radius of curvature.
        EXPECT_LE((grid->sample(x).gradient - exact->sample(x).gradient).norm(), 0.02 / (0.2 + distance));
      }
    }
  }
  EXPECT_GT(tested, 300);
  EXPECT_NEAR(grid->value(Vec3(1e12, 0, 0)), 0.06, 1e-6);
  EXPECT_TRUE(std::isfinite(grid->value(Vec3::Constant(std::nan("")))));
}

TEST_P(Interpolations, DerivativesAreThoseOfTheInterpolation) {
  const LevelSetPtr grid = grid_torus(GetParam(), 0.05);
  const double step = 1e-6;
  int tested = 0;
  for (std::uint64_t k = 0; k < 400; ++k) {
    const Vec3 x = point(k);
    const LevelSetSample s = grid->sample(x);
    EXPECT_NEAR(s.value, grid->value(x), 1e-15);
    for (int axis = 0; axis < 3; ++axis) {
      const Vec3 shift = step * Vec3::Unit(axis);
      const LevelSetSample plus = grid->sample(x + shift), minus = grid->sample(x - shift);
      // Inside one cell of the spline its third derivatives are bounded; across a face one side is missed.
      if ((plus.hessian - minus.hessian).norm() > 1e-3) continue;
      ++tested;
      EXPECT_NEAR((plus.value - minus.value) / (2 * step), s.gradient[axis], 1e-8);
      EXPECT_LE(((plus.gradient - minus.gradient) / (2 * step) - s.hessian.col(axis)).norm(), 1e-6);
    }
  }
  EXPECT_GT(tested, 1000);
}

TEST(GridLevelSet, SplineGradientIsContinuous) {
  const LevelSetPtr linear = grid_torus(Interpolation::Linear, 0.05),
                    smooth = grid_torus(Interpolation::Quadratic, 0.05);
  double jump_linear = 0, jump_smooth = 0;
  Vec3 last_linear = Vec3::Zero(), last_smooth = Vec3::Zero();
  for (int i = 0; i <= 20000; ++i) {
    const Vec3 x(0.35 + 0.4 * i / 20000.0, 0.021, -0.13);
    const Vec3 a = linear->sample(x).gradient, b = smooth->sample(x).gradient;
    if (i > 0) {
      jump_linear = std::max(jump_linear, (a - last_linear).norm());
      jump_smooth = std::max(jump_smooth, (b - last_smooth).norm());
    }
    last_linear = a;
    last_smooth = b;
  }
  EXPECT_GT(jump_linear, 0.05);
  EXPECT_LT(jump_smooth, 0.002);
}

TEST(GridLevelSet, SurfaceIsClosedAndFacesOutward) {
  const LevelSetPtr grid = grid_torus(Interpolation::Linear);
  const Mesh mesh = grid->surface();
  const Expected<Mesh> checked = check_surface(mesh);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_NEAR(enclosed_volume(mesh), enclosed_volume(torus_surface()), 2e-3);
  const Bounds box = grid->bounds();
  for (const Vec3& v : mesh.vertices) {
    EXPECT_TRUE((v.array() >= box.min.array()).all() && (v.array() <= box.max.array()).all());
  }
}

TEST(GridLevelSet, FilesKeepTheField) {
  const ScratchFile file("torus.vdb");
  const LevelSetPtr grid = grid_torus(Interpolation::Quadratic);
  ASSERT_TRUE(write_grid_level_set(*grid, file.path()));
  for (const std::string name : {"", "distance"}) {
    const Expected<LevelSetPtr> again = read_grid_level_set(file.path(), name, Interpolation::Quadratic);
    ASSERT_TRUE(again) << again.error().message;
    for (std::uint64_t k = 0; k < 500; ++k) EXPECT_EQ((*again)->value(point(k)), grid->value(point(k)));
  }
  const Expected<LevelSetPtr> other = read_grid_level_set(file.path(), "density");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("\"distance\""), std::string::npos);
}

TEST(GridLevelSet, SameBitsForAnyNumberOfThreads) {
  std::vector<double> values[2];
  for (int threads = 1; threads <= 2; ++threads) {
    const ThreadLimit limit(threads);
    const LevelSetPtr grid = grid_torus(Interpolation::Linear, 0.04);
    for (std::uint64_t k = 0; k < 2000; ++k) values[threads - 1].push_back(grid->value(point(k)));
  }
  EXPECT_EQ(values[0], values[1]);
}

TEST(GridLevelSet, MovesAndTurnsInsideOut) {
  const LevelSetPtr grid = grid_torus(Interpolation::Linear);
  const LevelSetPtr there = moved(grid, {Mat3::Identity(), Vec3(1, 2, 3)});
  const Vec3 x = point(7);
  EXPECT_NEAR(there->value(x + Vec3(1, 2, 3)), grid->value(x), 1e-14);
  EXPECT_FALSE(complement_of(there)->is_exact());
}

TEST(GridLevelSet, BadInputIsRefused) {
  Mesh open = torus_surface();
  open.triangles.pop_back();
  const Expected<LevelSetPtr> from_open = grid_level_set(open, {.voxel = 0.05});
  ASSERT_FALSE(from_open);
  EXPECT_NE(from_open.error().message.find("edge"), std::string::npos);
  Mesh twice = torus_surface();
  twice.triangles.push_back(twice.triangles.front());
  EXPECT_FALSE(grid_level_set(twice, {.voxel = 0.05}));
  EXPECT_FALSE(grid_level_set(torus_surface(), {.voxel = 0}));
  EXPECT_FALSE(grid_level_set(torus_surface(), {.voxel = 0.05, .band = 1}));
  EXPECT_FALSE(grid_level_set(torus_surface(), {.voxel = 1e-5}));
  EXPECT_FALSE(read_grid_level_set("no/such/file.vdb"));
  const ScratchFile file("broken.vdb");
  std::ofstream(file.path()) << "this is not a volume";
  const Expected<LevelSetPtr> broken = read_grid_level_set(file.path());
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find(file.path().string()), std::string::npos);
  const LevelSetPtr exact = exact_torus();
  EXPECT_FALSE(write_grid_level_set(*exact, file.path()));
}

}  // namespace
}  // namespace lope::geometry
