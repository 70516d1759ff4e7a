// A run that is stopped and resumed through its files, once or after every few steps, leaves the same bytes
// as a run in one go: frames, checkpoint, statistics (but for the timings). In contact, after any step.
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/json_lines.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>

#include "stopped_run.h"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/kinds.h>
#include <support/sanitized.h>

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
fields = ["stress", "von_mises", "displacement", "velocity", "residual", "speed"]
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

// Runs of one scene, each in a folder of its own.
class Runs {
 public:
  Runs(const char* scene_text, const std::vector<std::string>& overrides) {
    folder_ = fs::path(testing::TempDir()) / fmt::format("lope_resume_{:08x}", std::random_device()());
    scene_ = scene::load_scene_text(scene_text, "resume.toml", overrides).value();
    model_ = scene::build_model(scene_).value();
  }
  ~Runs() { fs::remove_all(folder_); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  const scene::Scene& scene() const { return scene_; }
  const step::Model& model() const { return model_; }
  const fs::path& folder() const { return folder_; }
  std::int64_t steps() const { return scene::step_count(scene_, model_); }

  // Runs or goes on, at most this many steps.
  scene::RunSummary run(const std::string& name, bool resume,
                        std::int64_t at_most = std::numeric_limits<std::int64_t>::max()) const {
    return run_some(scene_, model_, folder_ / name, resume, at_most);
  }

  void expect_same_results(const std::string& one, const std::string& other) const {
    const fs::path a = folder_ / one, b = folder_ / other;
    const auto numbers = io::frame_numbers(a / "frames");
    ASSERT_EQ(std::ssize(numbers), 1 + steps() / scene::steps_per_frame(scene_, model_));
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

  nlohmann::json timeless_statistics(const fs::path& directory) const {
    nlohmann::json result = io::read_json_lines(directory / "stats.jsonl").value();
    EXPECT_EQ(result.size(), static_cast<std::size_t>(steps()));
    for (auto& line : result) {
      line.erase("seconds");
      for (auto& island : line["islands"]) {
        island["solve"].erase("seconds");
        for (auto& iteration : island["solve"]["history"]) iteration.erase("seconds");
      }
    }
    return result;
  }

  fs::path folder_;
  scene::Scene scene_;
  step::Model model_;
};

class Resume : public testing::TestWithParam<std::tuple<std::string, std::string>>, public Runs {
 protected:
  Resume()
      : Runs(text, {fmt::format("time.scheme={}", std::get<0>(GetParam())),
                    fmt::format("solver.method={}", std::get<1>(GetParam()))}) {}
  void SetUp() override { ASSERT_EQ(steps(), all_steps); }
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

// `auto` keeps account of its methods for bodies of more than 6,000 unknowns: the checkpoint has it.
TEST(ResumeAutomatic, TheAccountGoesOn) {
  const Runs runs(text, {"solver.method=auto", "body.bar.shape.box.lattice=[31, 9, 9]"});
  ASSERT_GT(runs.model().bodies[0]->unknowns(), 6000u);
  runs.run("straight", false);
  EXPECT_TRUE(runs.run("once", false, 6).interrupted);
  runs.run("once", true);
  runs.expect_same_results("straight", "once");
  const auto checkpoint = io::read_checkpoint(runs.folder() / "once/checkpoint.h5");
  ASSERT_TRUE(checkpoint);
  const auto* account = checkpoint->values<double>("island0/model_account");
  ASSERT_NE(account, nullptr);
  EXPECT_FALSE(account->empty());
}

TEST_P(Resume, DropsWhatIsNewerThanTheCheckpoint) {
  run("straight", false);
  run("crashed", false, 6);
  const std::string checkpoint = io::read_file(folder() / "crashed/checkpoint.h5").value();
  run("crashed", true, 5);
  ASSERT_TRUE(io::write_file(folder() / "crashed/checkpoint.h5", checkpoint));
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
  const std::string statistics = io::read_file(folder() / "other/stats.jsonl").value();
  const auto refusal = [&](const step::Model& model) {
    scene::RunOptions options;
    options.directory = folder() / "other";
    options.resume = true;
    const auto summary = scene::run_scene(scene(), model, options);
    return summary ? "accepted" : summary.error().message;
  };
  step::Model other = model();
  kinds::solid(other).handles[0].vertices.pop_back();
  EXPECT_NE(refusal(other).find("handle 0 of body 'bar' holds 9 vertices"), std::string::npos)
      << refusal(other);
  other = model();
  kinds::solid(other, 1).handles.clear();
  EXPECT_NE(refusal(other).find("body 'flap' has 1 handles"), std::string::npos) << refusal(other);
  other = model();
  std::swap(kinds::solid(other).mesh, kinds::solid(other, 1).mesh);
  EXPECT_NE(refusal(other).find("vertices in the saved state"), std::string::npos) << refusal(other);
  other = model();
  other.bodies.pop_back();
  EXPECT_NE(refusal(other).find("has 2 bodies"), std::string::npos) << refusal(other);
  EXPECT_EQ(io::read_file(folder() / "other/stats.jsonl").value(), statistics);
}

// A soft block is thrown upon the ground and hit by a ball; all obstacles are constraints, so that methods
// keep their models in contact.
constexpr const char* thrown = R"(
[time]
step = "1/24 s"
duration = "0.5 s"
[output]
formats = []
[[body]]
name = "block"
shape = { box = { size = [0.6, 0.6, 0.6], lattice = [5, 5, 5] } }
material = { young = "40 kPa", poisson = 0.4, density = 1000 }
velocity = [0.5, -5, 0]
[[obstacle]]
name = "ground"
shape = { half_space = { point = [0, -0.4, 0], normal = [0, 1, 0] } }
friction = 0.3
[[obstacle]]
name = "ball"
shape = { sphere = { radius = 0.2, center = [-1, -0.2, 0] } }
move = { velocity = [3, 0, 0] }
)";

// Two blocks fall upon each other and upon obstacles that push them out; nothing is kept.
constexpr const char* stacked = R"(
[time]
step = "1/24 s"
duration = "0.4 s"
[output]
formats = []
[contact]
friction = 0.3
[[body]]
name = "lower"
shape = { box = { size = [0.4, 0.4, 0.4], lattice = [4, 4, 4] } }
material = { young = "100 kPa", poisson = 0.3, density = 1000 }
velocity = [0, -1, 0]
self_contact = true
[[body]]
name = "upper"
shape = { box = { min = [-0.15, 0.25, -0.18], max = [0.25, 0.65, 0.22], lattice = [4, 4, 4] } }
material = { young = "50 kPa", poisson = 0.3, density = 1000 }
velocity = [0, -3, 0]
self_contact = true
[[obstacle]]
name = "ground"
shape = { half_space = { point = [0, -0.25, 0], normal = [0, 1, 0] } }
contact = "penalty"
friction = 0.4
)";

struct Touching {
  const char* name;
  const char* text;
  const char* method;
};

class ResumeInContact : public testing::TestWithParam<Touching> {};

INSTANTIATE_TEST_SUITE_P(All, ResumeInContact,
                         testing::Values(Touching{"thrown_newton", thrown, "newton"},
                                         Touching{"thrown_dot", thrown, "dot"},
                                         Touching{"thrown_newton_pcg", thrown, "newton-pcg"},
                                         Touching{"thrown_gast15", thrown, "gast15"},
                                         Touching{"stacked_newton", stacked, "newton"},
                                         Touching{"stacked_dot", stacked, "dot"},
                                         Touching{"stacked_gast15", stacked, "gast15"},
                                         Touching{"stacked_lbfgs_h", stacked, "lbfgs-h"}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(ResumeInContact, AfterAnyStepLeavesTheSameBytes) {
  const Runs runs(GetParam().text, {fmt::format("solver.method={}", GetParam().method)});
  runs.run("straight", false);
  for (std::int64_t step = 1; step < runs.steps(); step += sanitized ? 4 : 1) {
    SCOPED_TRACE(testing::Message() << "stopped after step " << step);
    const std::string name = fmt::format("after_{}", step);
    EXPECT_TRUE(runs.run(name, false, step).interrupted);
    runs.run(name, true);
    runs.expect_same_results("straight", name);
  }
}

// Dividing a mesh takes time: only a scene that asks for the colouring gets it.
TEST(Topology, HoldsAPartitionWhereItIsAskedFor) {
  for (const char* colour : {"body", "partition"}) {
    const Runs runs(text,
                    {fmt::format("render.color_by={}", colour), "body.flap.shape.box.lattice=[24, 8, 8]"});
    runs.run("run", false, 1);
    const auto frame = io::read_frame(io::topology_path(runs.folder() / "run/frames"));
    ASSERT_TRUE(frame);
    const auto* parts = frame->data.values<float>("flap/element/partition");
    ASSERT_EQ(parts != nullptr, std::string(colour) == "partition");
    if (!parts) continue;
    EXPECT_EQ(parts->size(), kinds::solid(runs.model(), 1).mesh.tetrahedra.size());
    EXPECT_GT(*std::max_element(parts->begin(), parts->end()), 0) << "a mesh of this size has several parts";
  }
}

}  // namespace
}  // namespace lope::golden
