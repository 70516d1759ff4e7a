// Replaying a recorded trajectory: what `lope compare` and the benchmarks stand on.
#include <lope/scene/scene.h>
#include <lope/scene/trajectory.h>

#include <filesystem>

#include <gtest/gtest.h>
#include <papers/comparison.h>

namespace lope {
namespace {

namespace fs = std::filesystem;

constexpr const char* bar = R"(
[time]
step = "25 ms"
duration = "0.25 s"
[[body]]
name = "bar"
shape = { box = { size = [1, 0.2, 0.2], lattice = [13, 4, 4] } }
material = { model = "fixed-corotated", young = "100 kPa", poisson = 0.4, density = 1000 }
[[body.handle]]
where = { side = "x-min", fraction = "2 %" }
rotate = { axis = [1, 0, 0], rate = "1 turn/s" }
[[body.handle]]
where = { side = "x-max", fraction = "2 %" }
pin = true
)";

class Comparisons : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / (std::string("lope_comparison_") +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  bench::Comparison run(const std::vector<std::string>& overrides, bench::ComparisonOptions options) {
    const auto scene = scene::load_scene_text(bar, "bar.toml", overrides);
    EXPECT_TRUE(scene) << scene.error().message;
    const auto model = scene::build_model(*scene);
    EXPECT_TRUE(model) << model.error().message;
    options.folder = folder_;
    auto comparison = bench::compare(*scene, *model, options);
    EXPECT_TRUE(comparison) << comparison.error().message;
    return *comparison;
  }
  fs::path folder_;
};

TEST_F(Comparisons, MethodsAgreeOnEveryStepOfTheTrajectory) {
  bench::ComparisonOptions options;
  options.methods = {optimize::Method::Newton, optimize::Method::NewtonPcg, optimize::Method::Gast15};
  options.history_step = 4;
  const bench::Comparison comparison = run({}, options);
  ASSERT_EQ(comparison.trajectory.steps.size(), 10u);
  ASSERT_EQ(comparison.replays.size(), 3u);
  EXPECT_TRUE(comparison.all_converged());
  EXPECT_TRUE(comparison.all_agree());
  for (const auto& replay : comparison.replays) {
    const auto agreement = comparison.agreement(replay);
    EXPECT_EQ(agreement.agreed, 10);
    EXPECT_GT(agreement.largest, 0);  // the reference is tighter than any of them
    const auto cost = bench::cost_of(replay);
    EXPECT_GT(cost.iterations, 0);
    EXPECT_GE(cost.slowest, cost.seconds);
    EXPECT_EQ(replay.history_step, 4);
    ASSERT_FALSE(replay.history.empty());
    EXPECT_LT(replay.history.back().gradient_norm, replay.history.front().gradient_norm);
  }
  EXPECT_FALSE(fs::exists(folder_ / "trajectory"));
  const auto files = bench::write_results(comparison, folder_);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->front(), folder_ / "comparison.json");
  for (const fs::path& file : *files) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_TRUE(fs::exists(folder_ / "scene.toml"));
}

TEST_F(Comparisons, FailuresAndDisagreementAreNamed) {
  bench::ComparisonOptions options;
  options.methods = {optimize::Method::NewtonPcg};
  options.steps = 4;
  // One iteration is not enough: the reference is cut off as well, so both the failures and the reference's
  // are named.
  const bench::Comparison comparison = run({"solver.max_iterations=1"}, options);
  EXPECT_FALSE(comparison.all_converged());
  const auto cost = bench::cost_of(comparison.replays[0]);
  EXPECT_GT(cost.failures, 0);
  EXPECT_FALSE(cost.first_reason.empty());
  std::string all;
  for (const std::string& line : bench::describe(comparison)) all += line + "\n";
  EXPECT_NE(all.find("NOT CONVERGED"), std::string::npos) << all;
  EXPECT_NE(all.find("the reference itself"), std::string::npos) << all;
}

TEST_F(Comparisons, DifferencesBeyondThreeAccuraciesFail) {
  bench::Comparison comparison;
  comparison.trajectory.tolerance = 1e-4;
  comparison.trajectory.reference = "newton";
  comparison.trajectory.steps.assign(100, {true, 1.5, 3});
  scene::Replay replay;
  replay.method = "other";
  replay.steps.assign(100, {});
  for (auto& step : replay.steps) step.converged = true, step.difference = 2.9e-4;
  comparison.replays = {replay};
  EXPECT_TRUE(comparison.all_agree());
  comparison.replays[0].steps[10].difference = 4e-4;
  EXPECT_TRUE(comparison.all_agree());  // 99%
  comparison.replays[0].steps[20].difference = 4e-4;
  EXPECT_FALSE(comparison.all_agree());
  EXPECT_EQ(comparison.agreement(comparison.replays[0]).parted, (std::vector<std::int64_t>{11, 21}));
  std::string all;
  for (const std::string& line : bench::describe(comparison)) all += line + "\n";
  EXPECT_NE(all.find("98 of 100"), std::string::npos) << all;
  EXPECT_NE(all.find("FAIL"), std::string::npos) << all;
  EXPECT_NE(all.find("step   11"), std::string::npos) << all;
}

TEST_F(Comparisons, FilesComeBackBitForBit) {
  const auto scene = scene::load_scene_text(bar, "bar.toml");
  const auto model = scene::build_model(*scene);
  const auto recorded =
      scene::record_trajectory(*model, folder_, {.reference = optimize::Method::Newton, .steps = 2});
  ASSERT_TRUE(recorded);
  const auto read = scene::read_trajectory(folder_);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->steps.size(), 2u);
  EXPECT_EQ(read->steps[1].value, recorded->steps[1].value);
  EXPECT_EQ(read->tolerance, recorded->tolerance);
  const auto replay = scene::replay(*model, *read, optimize::Method::Gast15, {});
  ASSERT_TRUE(replay);
  ASSERT_TRUE(scene::write_replay(*replay, folder_ / "gast15.json"));
  const auto again = scene::read_replay(folder_ / "gast15.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->steps[1].difference, replay->steps[1].difference);
  EXPECT_EQ(again->steps[1].seconds, replay->steps[1].seconds);
  EXPECT_EQ(again->history.size(), replay->history.size());
  EXPECT_FALSE(scene::read_replay(folder_ / "trajectory.json"));
  EXPECT_FALSE(scene::read_trajectory(folder_ / "nowhere"));
}

}  // namespace
}  // namespace lope
