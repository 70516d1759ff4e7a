// Runs and their files: what a resumed or repeated run does to what is there already.
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/json_lines.h>
#include <lope/scene/kind.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>
#include <lope/scene/schema.h>
#include <lope/scene/trajectory.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace lope::scene {
namespace {

namespace fs = std::filesystem;

const std::string bar =
    "[time]\nstep = 0.01\nduration = 0.2\nframe_rate = 50\n"
    "[output]\nformats = []\n"
    "[[body]]\nname = \"bar\"\nshape = { box = { size = [1, 0.2, 0.2], lattice = [4, 2, 2] } }\n"
    "[[body.handle]]\nwhere = { side = \"x-min\" }\npin = true\n";

class RunFiles : public testing::Test {
 protected:
  RunFiles()
      : folder_(fs::path(testing::TempDir()) / fmt::format("lope_run_{:08x}", std::random_device()())) {
    fs::create_directories(folder_);
  }
  ~RunFiles() override { fs::remove_all(folder_); }

  enum How { Anew, Resume, Overwrite };

  // At most this many steps.
  Expected<RunSummary> run(How how, const std::vector<std::string>& overrides, std::int64_t at_most = 1000) {
    const auto scene = load_scene_text(bar, "bar.toml", overrides);
    EXPECT_TRUE(scene) << scene.error().message;
    const auto model = build_model(*scene);
    EXPECT_TRUE(model) << model.error().message;
    RunOptions options;
    options.resume = how == Resume;
    options.overwrite = how == Overwrite;
    options.directory = folder_ / "run";
    std::int64_t done = 0;
    options.on_step = [&](const RunProgress&) { ++done; };
    options.stop_requested = [&] { return done >= at_most; };
    return run_scene(*scene, *model, options);
  }

  // Every file of the run with its content.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "run")) {
      if (entry.is_regular_file()) all[entry.path().string()] = io::read_file(entry.path()).value();
    }
    return all;
  }

  // Of the frames, by number.
  std::map<std::int64_t, double> times() const {
    std::map<std::int64_t, double> all;
    for (const std::int64_t number : io::frame_numbers(folder_ / "run/frames"))
      all[number] = io::read_frame(io::frame_path(folder_ / "run/frames", number))->time;
    return all;
  }

  fs::path folder_;
};

TEST_F(RunFiles, AnotherFrameRateIsRefusedAndTouchesNothing) {
  ASSERT_TRUE(run(Anew, {}, 9));
  const auto before = files();
  for (const char* rate : {"100", "25"}) {
    const auto resumed = run(Resume, {fmt::format("time.frame_rate={}", rate)});
    ASSERT_FALSE(resumed) << rate;
    EXPECT_NE(resumed.error().message.find("time.frame_rate cannot change"), std::string::npos)
        << resumed.error().message;
    EXPECT_EQ(files(), before) << rate;
  }
}

TEST_F(RunFiles, FramesHoldEveryFieldInItsShape) {
  std::string names;
  for (const KindField& field : find_kind("solid")->fields()) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", field.name);
  ASSERT_TRUE(run(Anew, {fmt::format("output.fields=[{}]", names)}, 2));
  const auto topology = io::read_frame(io::topology_path(folder_ / "run/frames"));
  const auto frame = io::read_frame(io::frame_path(folder_ / "run/frames", 1));
  ASSERT_TRUE(topology && frame);
  const std::size_t vertices = frame->data.find("bar/position")->rows(),
                    elements = topology->data.find("bar/tetrahedra")->rows();
  for (const KindField& field : find_kind("solid")->fields()) {
    SCOPED_TRACE(field.name);
    const NamedArray* array =
        frame->data.find(fmt::format("bar/{}/{}", field.on_vertices ? "vertex" : "element", field.name));
    ASSERT_TRUE(array);
    std::vector<std::size_t> shape{field.on_vertices ? vertices : elements};
    if (field.components > 1) shape.push_back(static_cast<std::size_t>(field.components));
    EXPECT_EQ(array->shape, shape);
  }
}

TEST_F(RunFiles, RunsOfASceneAreFoundTheNewestFirst) {
  const fs::path first = folder_ / "run";
  EXPECT_TRUE(runs_in(first, "bar").empty());
  ASSERT_TRUE(run(Anew, {}, 1));
  for (const char* copy : {"run-2", "run-3", "run-10", "run-x", "run-02y", "runner", "other-2"})
    fs::copy(first, folder_ / copy, fs::copy_options::recursive);
  fs::create_directories(folder_ / "run-4");  // holds no run
  fs::copy(first, folder_ / "run-5", fs::copy_options::recursive);
  ASSERT_TRUE(io::write_file(folder_ / "run-5/scene.toml", "[scene]\nname = \"run-5\"\n"));  // of another scene
  const auto write_at = [&](const char* name, int second) {
    for (const char* file : {"scene.toml", "stats.jsonl", "checkpoint.h5"})
      fs::last_write_time(folder_ / name / file, fs::file_time_type() + std::chrono::seconds(second));
  };
  for (const char* name : {"run", "run-2", "run-3", "run-10"}) write_at(name, 100);
  const std::vector<fs::path> by_number{folder_ / "run-10", folder_ / "run-3", folder_ / "run-2", first};
  EXPECT_EQ(runs_in(first, "bar"), by_number);
  EXPECT_EQ(runs_in(folder_ / "run/", "bar"), by_number);
  fs::last_write_time(first / "stats.jsonl", fs::file_time_type() + std::chrono::seconds(101));
  EXPECT_EQ(runs_in(first, "bar").front(), first);
  write_at("run-2", 102);
  EXPECT_EQ(runs_in(first, "bar").front(), folder_ / "run-2");
  EXPECT_TRUE(runs_in(first, "foo").empty());
}

TEST_F(RunFiles, FramesOfAResumedRunStandForTheirTimes) {
  ASSERT_TRUE(run(Anew, {}, 9));
  // The same rate in other words.
  ASSERT_TRUE(run(Resume, {"time.frame_rate=0.05 kHz"}));
  const auto all = times();
  ASSERT_EQ(all.size(), 11U);
  for (const auto& [number, time] : all) EXPECT_NEAR(time, 0.02 * static_cast<double>(number), 1e-12);
}

TEST_F(RunFiles, BeforeTheFirstStepTheFrameRateIsFree) {
  ASSERT_TRUE(run(Anew, {}, 0));
  ASSERT_TRUE(run(Resume, {"time.frame_rate=100"}));
  const auto all = times();
  ASSERT_EQ(all.size(), 21U);
  for (const auto& [number, time] : all) EXPECT_NEAR(time, 0.01 * static_cast<double>(number), 1e-12);
}

TEST_F(RunFiles, AnotherPhysicsIsRefusedAndTouchesNothing) {
  ASSERT_TRUE(run(Anew, {}, 9));
  const auto before = files();
  const std::map<std::string, std::string> changes{
      {"body.bar.material=steel", "body.bar.material.preset is \"steel\" and was"},
      {"gravity=[0, 0, 0]", "gravity is [0.0, 0.0, 0.0] and was [0.0, -9.80665, 0.0]"},
      {"time.scheme=bdf-2", "time.scheme is \"bdf-2\" and was \"backward-euler\""},
      {"body.bar.handle.0.release=1", "body.bar.handle.0.release is 1.0 and was not there"},
      {"body.bar.name=rod", "body.rod.name is \"rod\" and was \"bar\""}};
  for (const auto& [change, words] : changes) {
    const auto resumed = run(Resume, {change});
    ASSERT_FALSE(resumed) << change;
    EXPECT_NE(resumed.error().message.find(words), std::string::npos) << resumed.error().message;
    EXPECT_EQ(files(), before) << change;
  }
}

TEST_F(RunFiles, HowItIsSolvedAndWrittenMayChange) {
  ASSERT_TRUE(run(Anew, {}, 9));
  const auto resumed = run(
      Resume, {"time.duration=0.3", "solver.method=newton", "solver.accuracy=1 um", "solver.threads=1",
               "output.fields=[\"speed\"]", "render.samples=4", "body.bar.color=red", "scene.name=another"});
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->steps, 21);
}

// The state of another scene, put into this run's directory.
TEST_F(RunFiles, AForeignCheckpointIsRefused) {
  ASSERT_TRUE(run(Anew, {"body.bar.material=jelly"}, 9));
  const std::string foreign = io::read_file(folder_ / "run/checkpoint.h5").value();
  ASSERT_TRUE(run(Overwrite, {}, 9));
  ASSERT_TRUE(io::write_file(folder_ / "run/checkpoint.h5", foreign));
  const auto resumed = run(Resume, {});
  ASSERT_FALSE(resumed);
  EXPECT_NE(resumed.error().message.find("is the state of another body 'bar'"), std::string::npos)
      << resumed.error().message;
}

// Whoever holds a run may step it, stop, and go on in another one: the files are those of run_scene.
TEST_F(RunFiles, ARunCanBeSteppedByWhoeverHoldsIt) {
  const auto scene = load_scene_text(bar, "bar.toml");
  const auto model = build_model(*scene);
  const auto run_to = [&](scene::Run::Start start, std::int64_t last) {
    auto opened = scene::Run::open(*scene, *model, folder_ / "stepped", start);
    ASSERT_TRUE(opened) << opened.error().message;
    scene::Run& stepped = **opened;
    EXPECT_TRUE(stepped.remarks().empty());
    EXPECT_EQ(stepped.steps(), 20);
    while (!stepped.over() && stepped.simulation().state().step < last) ASSERT_TRUE(stepped.step()->converged());
    EXPECT_EQ(stepped.over(), last == 20);
    const auto summary = stepped.finish();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->frames, 1 + last / 2);
  };
  run_to(scene::Run::Start::New, 7);
  run_to(scene::Run::Start::Resume, 20);
  ASSERT_TRUE(run(Anew, {}));
  for (const char* file : {"checkpoint.h5", "scene.toml", "frames/topology.lope", "frames/frame_000010.lope"})
    EXPECT_EQ(io::read_file(folder_ / "stepped" / file).value(), io::read_file(folder_ / "run" / file).value()) << file;
}

// What is said of a start is there to be told once the caller is ready to hear it.
TEST_F(RunFiles, ARunRemarksUponItsStart) {
  const auto scene = load_scene_text(bar + "[[obstacle]]\nname = \"ground\"\n"
                                           "shape = { half_space = { point = [0, -0.09, 0], normal = [0, 1, 0] } }\n",
                                     "bar.toml");
  const auto model = build_model(*scene);
  const auto started = scene::Run::open(*scene, *model, folder_ / "run", scene::Run::Start::New);
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_EQ((*started)->remarks().size(), 1U);
  EXPECT_NE((*started)->remarks()[0].find("moved to its surface"), std::string::npos) << (*started)->remarks()[0];
}

TEST_F(RunFiles, OneRunAtATime) {
  const auto scene = load_scene_text(bar, "bar.toml");
  const auto model = build_model(*scene);
  RunOptions options;
  options.directory = folder_ / "run";
  std::vector<std::string> refusals;
  options.on_step = [&](const RunProgress& progress) {
    if (progress.report.step != 3) return;
    for (const How how : {Resume, Overwrite}) {
      const auto second = run(how, {}, 3);
      refusals.push_back(second ? "accepted" : second.error().message);
    }
  };
  const auto done = run_scene(*scene, *model, options);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(refusals.size(), 2U);
  for (const std::string& refusal : refusals)
    EXPECT_NE(refusal.find("another run is going on there"), std::string::npos) << refusal;
  EXPECT_EQ(times().size(), 11U);
}

TEST_F(RunFiles, WhatIsNotOfARunIsNeverReplaced) {
  fs::create_directory(folder_ / "run");
  ASSERT_TRUE(io::write_file(folder_ / "run/scene.toml", bar));
  for (const How how : {Anew, Overwrite}) {
    const auto refused = run(how, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is there already and is not of a run"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(io::read_file(folder_ / "run/scene.toml").value(), bar);
  EXPECT_EQ(files().size(), 1U);
}

// Gives up root's right to remove everything, while it lives.
class AsAnyUser {
 public:
  AsAnyUser() {
    if (geteuid() == 0) changed_ = seteuid(nobody) == 0;
  }
  ~AsAnyUser() {
    if (changed_ && seteuid(0) != 0) ADD_FAILURE() << "root's rights did not come back";
  }
  static constexpr uid_t nobody = 65534;

 private:
  bool changed_ = false;
};

TEST_F(RunFiles, WhatOverwriteCannotRemoveIsTold) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), AsAnyUser::nobody, static_cast<gid_t>(-1)), 0);
  }
  const fs::path pictures = folder_ / "run/pictures";
  {
    const AsAnyUser user;
    ASSERT_TRUE(run(Anew, {}, 3));
    fs::create_directory(pictures);
    ASSERT_TRUE(io::write_file(pictures / "old.png", "old"));
    ASSERT_EQ(chmod(pictures.c_str(), 0500), 0);
    const auto again = run(Overwrite, {}, 3);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().trouble, Trouble::Environment);
    EXPECT_NE(again.error().message.find("pictures: cannot be removed"), std::string::npos)
        << again.error().message;
    ASSERT_EQ(chmod(pictures.c_str(), 0700), 0);
    // The directory still counts as a run, so that the next attempt can replace it.
    EXPECT_FALSE(run(Anew, {}));
    EXPECT_TRUE(run(Overwrite, {}, 3));
  }
  EXPECT_FALSE(fs::exists(pictures));
}

TEST_F(RunFiles, ATrajectoryNeedsAFreeVertex) {
  const std::string held =
      bar + "[[body.handle]]\nwhere = { box = { min = [-0.4, -1, -1], max = [1, 1, 1] } }\npin = true\n";
  const auto model = build_model(load_scene_text(held, "held.toml").value());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(anything_to_solve(*model, 5));
  TrajectoryOptions options;
  options.steps = 5;
  const auto recorded = record_trajectory(*model, folder_, options);
  ASSERT_FALSE(recorded);
  EXPECT_NE(recorded.error().message.find("nothing to compare"), std::string::npos)
      << recorded.error().message;
  EXPECT_TRUE(fs::is_empty(folder_));

  const auto released = build_model(load_scene_text(held + "release = \"35 ms\"\n", "released.toml").value());
  EXPECT_FALSE(anything_to_solve(*released, 3));
  EXPECT_TRUE(anything_to_solve(*released, 4));
  EXPECT_TRUE(anything_to_solve(build_model(load_scene_text(bar, "bar.toml").value()).value(), 1));
}

TEST_F(RunFiles, ReplaysKeepNumbersThatAreNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Replay replay;
  replay.method = "newton";
  replay.steps.resize(2);
  replay.steps[0].value = -infinity;
  replay.steps[0].difference = infinity;
  replay.steps[1].value = std::nan("");
  replay.history.resize(1);
  replay.history[0].measure = infinity;
  ASSERT_TRUE(write_replay(replay, folder_ / "newton.json"));
  const auto read = read_replay(folder_ / "newton.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->steps[0].value, -infinity);
  EXPECT_EQ(read->steps[0].difference, infinity);
  EXPECT_TRUE(std::isnan(read->steps[1].value));
  EXPECT_EQ(read->history[0].measure, infinity);
}

}  // namespace
}  // namespace lope::scene
