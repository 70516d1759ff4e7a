// A run that is stopped and resumed through its files, once or after every few steps, leaves the same bytes
// as a run in one go: frames, checkpoint, statistics (but for the timings).
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/json_lines.h>

#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "stopped_run.h"

namespace lope::golden {
namespace {

namespace fs = std::filesystem;

// Two bodies, one of them damped; handles that begin late, end early, follow one another on the same
// vertices; two steps to a frame, so that a stop falls between frames as well; the field "residual" needs the
// solve.
constexpr const char* text = R"(
[time]
step = "20 ms"
duration = "0.4 s"
frame_rate = 25

[output]
fields = ["stress", "residual", "speed"]
formats = []

[[body]]
name = "bar"
shape = { box = { size = [1, 0.3, 0.3], lattice = [7, 3, 3] } }
material = { young = "50 kPa", poisson = 0.4, density = 1000 }
damping = { mass = 0.5, stiffness = "2 ms" }
[[body.handle]]
name = "held"
where = { side = "x-min" }
pin = true
release = "0.22 s"
[[body.handle]]
name = "pulled"
where = { side = "x-max" }
begin = "0.05 s"
release = "0.15 s"
move = { velocity = [1, 0, 0] }
[[body.handle]]
name = "turned"
where = { side = "x-max" }
begin = "0.2 s"
release = "0.35 s"
rotate = { axis = [1, 0, 0], rate = "1 turn/s" }

[[body]]
name = "flap"
shape = { box = { min = [0, 1, 0], max = [1, 1.1, 0.3], lattice = [6, 2, 3] } }
material = { young = "50 kPa", poisson = 0.3, density = 1000 }
[[body.handle]]
name = "hinge"
where = { side = "x-min" }
pin = true
)";

constexpr std::int64_t all_steps = 20;

class Resume : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("lope_resume_{:08x}", std::random_device()());
    const auto [scheme, method] = GetParam();
    const auto loaded = scene::load_scene_text(
        text, "resume.toml",
        {fmt::format("time.scheme={}", scheme), fmt::format("solver.method={}", method)});
    ASSERT_TRUE(loaded) << loaded.error().message;
    scene_ = *loaded;
    const auto built = scene::build_model(scene_);
    ASSERT_TRUE(built) << built.error().message;
    model_ = *built;
    ASSERT_EQ(scene::step_count(scene_, model_), all_steps);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs or goes on, at most this many steps.
  scene::RunSummary run(const char* name, bool resume, std::int64_t at_most = all_steps) {
    return run_some(scene_, model_, folder_ / name, resume, at_most);
  }

  void expect_same_results(const char* one, const char* other) const {
    const fs::path a = folder_ / one, b = folder_ / other;
    const auto numbers = io::frame_numbers(a / "frames");
    ASSERT_EQ(numbers.size(), 11u);
    ASSERT_EQ(numbers, io::frame_numbers(b / "frames"));
    for (const std::int64_t number : numbers) {
      EXPECT_EQ(io::read_file(io::frame_path(a / "frames", number)).value(),
                io::read_file(io::frame_path(b / "frames", number)).value())
          << "frame " << number;
    }
    expect_same_checkpoints(a / "checkpoint.h5", b / "checkpoint.h5");
    EXPECT_EQ(io::read_file(a / "scene.toml").value(), io::read_file(b / "scene.toml").value());
    EXPECT_EQ(timeless_statistics(a), timeless_statistics(b));
  }

  fs::path folder_;
  scene::Scene scene_;
  step::Model model_;

 private:
  static void expect_same_checkpoints(const fs::path& a, const fs::path& b) {
    const auto one = io::read_checkpoint(a), other = io::read_checkpoint(b);
    ASSERT_TRUE(one && other);
    ASSERT_EQ(one->arrays.size(), other->arrays.size());
    for (std::size_t i = 0; i < one->arrays.size(); ++i) {
      EXPECT_EQ(one->arrays[i].name, other->arrays[i].name);
      EXPECT_EQ(one->arrays[i].data, other->arrays[i].data) << one->arrays[i].name;
    }
    EXPECT_EQ(io::read_file(a).value(), io::read_file(b).value());
  }

  static nlohmann::json timeless_statistics(const fs::path& directory) {
    nlohmann::json result = io::read_json_lines(directory / "stats.jsonl").value();
    EXPECT_EQ(result.size(), static_cast<std::size_t>(all_steps));
    for (auto& line : result) {
      line.erase("seconds");
      for (auto& island : line["islands"]) {
        island["solve"].erase("seconds");
        for (auto& iteration : island["solve"]["history"]) iteration.erase("seconds");
      }
    }
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(All, Resume,
                         testing::Combine(testing::Values(std::string("backward-euler"), "bdf-2",
                                                          "trapezoid"),
                                          testing::Values(std::string("newton"), "newton-pcg", "gast15", "dot")),
                         [](const auto& chosen) {
                           std::string name =
                               fmt::format("{}_{}", std::get<0>(chosen.param), std::get<1>(chosen.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Resume, LeavesTheSameBytesAsARunInOneGo) {
  const scene::RunSummary straight = run("straight", false);
  EXPECT_EQ(straight.steps, all_steps);
  EXPECT_FALSE(straight.interrupted);

  // In the middle of a hold, between two frames.
  EXPECT_TRUE(run("once", false, 5).interrupted);
  EXPECT_EQ(run("once", true).steps, all_steps - 5);
  expect_same_results("straight", "once");

  // Before the first step, then every three.
  EXPECT_TRUE(run("often", false, 0).interrupted);
  while (run("often", true, 3).interrupted) {
  }
  expect_same_results("straight", "often");
}

TEST_P(Resume, DropsWhatIsNewerThanTheCheckpoint) {
  run("straight", false);
  run("crashed", false, 6);
  const std::string checkpoint = io::read_file(folder_ / "crashed/checkpoint.h5").value();
  run("crashed", true, 5);
  ASSERT_TRUE(io::write_file(folder_ / "crashed/checkpoint.h5", checkpoint));
  run("crashed", true);
  expect_same_results("straight", "crashed");
}

TEST_P(Resume, OfACompleteRunDoesNothing) {
  run("straight", false);
  run("complete", false);
  EXPECT_EQ(run("complete", true).steps, 0);
  expect_same_results("straight", "complete");
}

// A checkpoint of another scene is refused before anything in the directory changes.
TEST_P(Resume, RefusesACheckpointOfAnotherScene) {
  run("other", false, 4);
  const std::string statistics = io::read_file(folder_ / "other/stats.jsonl").value();
  const auto refusal = [&](const step::Model& model) {
    scene::RunOptions options;
    options.directory = folder_ / "other";
    options.resume = true;
    const auto summary = scene::run_scene(scene_, model, options);
    return summary ? "accepted" : summary.error().message;
  };
  step::Model other = model_;
  other.solids[0].handles[0].vertices.pop_back();
  EXPECT_NE(refusal(other).find("handle 0 of body 'bar' holds 9 vertices"), std::string::npos)
      << refusal(other);
  other = model_;
  other.solids[1].handles.clear();
  EXPECT_NE(refusal(other).find("body 'flap' has 1 handles"), std::string::npos) << refusal(other);
  other = model_;
  std::swap(other.solids[0].mesh, other.solids[1].mesh);
  EXPECT_NE(refusal(other).find("vertices in the saved state"), std::string::npos) << refusal(other);
  other = model_;
  other.solids.pop_back();
  EXPECT_NE(refusal(other).find("has 2 bodies"), std::string::npos) << refusal(other);
  EXPECT_EQ(io::read_file(folder_ / "other/stats.jsonl").value(), statistics);
}

}  // namespace
}  // namespace lope::golden
