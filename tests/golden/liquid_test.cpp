// Every scene with a liquid that comes with Lope, coarser and shorter: the same bits with any number of
// threads and after a resumption, every pressure solved, no particle in a wall.
#include <lope/base/parallel.h>
#include <lope/io/file.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "stopped_run.h"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::golden {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> liquid_scenes() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(LOPE_SOURCE_DIR "/scenes")) {
    if (entry.path().extension() != ".toml") continue;
    const auto scene = scene::load_scene(entry.path().string());
    if (scene && scene->resolved.has("liquid")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A scene of its own, so that there is one to test in any case.
constexpr const char* dam_break = R"(
[time]
step = 0.02
duration = 0.3
[liquid]
resolution = 24
[[body]]
kind = "liquid"
shape = { rectangle = { min = [0, 0], max = [0.3, 0.6] } }
[[emitter]]
shape = { sphere = { center = [0.8, 0.8], radius = 0.08 } }
velocity = [-1, 0]
[[obstacle]]
shape = { box = { min = [0, 0], max = [1, 1] } }
inside = true
[[obstacle]]
name = "paddle"
shape = { box = { min = [0.5, -0.1], max = [0.55, 0.2] } }
move = { velocity = [0.3, 0] }
)";

scene::Scene coarse_scene(const std::string& file) {
  constexpr int cells = 20;
  const scene::Scene fine = scene::load_scene(file).value();
  const scene::Value& liquid = fine.resolved["liquid"];
  const std::string size = liquid.has("cell") ? fmt::format("liquid.cell={}", 4 * liquid.number_at("cell"))
                                              : fmt::format("liquid.resolution={}", cells);
  return scene::load_scene(file, {size, "time.duration=0.4", "time.step=0.02"}).value();
}

class LiquidScenes : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto own =
        GetParam().empty() ? scene::load_scene_text(dam_break, "dam_break.toml") : coarse_scene(GetParam());
    ASSERT_TRUE(own) << own.error().message;
    scene_ = *own;
    const auto built = scene::build_model(scene_);
    ASSERT_TRUE(built) << built.error().message;
    model_ = *built;
    folder_ = fs::path(testing::TempDir()) / fmt::format("lope_liquid_{:08x}", std::random_device()());
  }
  void TearDown() override { fs::remove_all(folder_); }

  scene::RunSummary run(const char* name, int threads, bool resume, std::int64_t at_most = 1000) {
    const ThreadLimit limit(threads);
    return run_some(scene_, model_, folder_ / name, resume, at_most);
  }
  auto end_of(const char* name) const { return io::read_file(folder_ / name / "checkpoint.h5").value(); }

  scene::Scene scene_;
  step::Model model_;
  fs::path folder_;
};

TEST_P(LiquidScenes, SameBitsForAnyNumberOfThreadsAndAfterAResumption) {
  run("one", 1, false);
  run("two", 2, false, 7);
  run("two", 2, true);
  EXPECT_EQ(end_of("one"), end_of("two"));
}

// How near the particles come to an obstacle, in cells; negative: how deep they are in it.
double nearest_particle(const step::Model& model, const step::State& state, const step::Obstacle& obstacle) {
  double nearest = std::numeric_limits<double>::infinity();
  std::visit(
      [&](const auto& particles) {
        for (const auto& x : particles.x) {
          Vec3 at = Vec3::Zero();
          at.head(x.size()) = x;
          nearest = std::min(nearest, obstacle.shape->value(obstacle.pose(state.time).unplace(at)));
        }
      },
      kinds::liquid(state).particles);
  return nearest / kinds::liquid(model).description.dx;
}

// After every step, and exactly, but for the rounding of an obstacle's pose.
TEST_P(LiquidScenes, NoParticleIsInAWall) {
  step::Simulation simulation(model_);
  for (int k = 0; k < 15; ++k) {
    ASSERT_TRUE(simulation.advance().converged());
    for (const step::Obstacle& obstacle : model_.obstacles)
      ASSERT_GE(nearest_particle(model_, simulation.state(), obstacle), -1e-9)
          << obstacle.name << ", step " << k;
  }
}

std::vector<std::string> all_scenes() {
  std::vector<std::string> files = liquid_scenes();
  files.insert(files.begin(), "");
  return files;
}

INSTANTIATE_TEST_SUITE_P(All, LiquidScenes, testing::ValuesIn(all_scenes()), [](const auto& tested) {
  std::string name = tested.param.empty() ? "own" : fs::path(tested.param).stem().string();
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

}  // namespace
}  // namespace lope::golden
