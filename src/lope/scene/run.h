// Runs a scene into a directory: frames, statistics, checkpoints, the resolved scene.
//
//   DIRECTORY/scene.toml      the resolved scene
//   DIRECTORY/frames/         topology.lope, frame_000000.lope, … (docs/formats.md)
//   DIRECTORY/stats.jsonl     one line per step: iterations, residuals, energies, momenta, timings, line searches
//   DIRECTORY/checkpoint.h5   the newest state, enough to go on with the same bits
//   DIRECTORY/run.lock        empty; locked while the run goes on
//
// Nothing is created before the scene is known to be sound, and nothing is replaced but an earlier run. Failure of a write (disk full) ends the run with an
// Environment error; the last checkpoint stays usable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <lope/base/expected.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

namespace lope::scene {

struct RunProgress {
  const step::StepReport& report;
  std::int64_t steps = 0;    // in the whole run
  double elapsed = 0;        // seconds, this run
  double left = 0;           // estimated seconds
};

// Where the minimisation of a step is that is not finished yet.
struct IterationProgress {
  std::int64_t step = 0, steps = 0;
  const optimize::Iteration& iteration;
  double elapsed = 0;  // seconds, this run
};

struct RunOptions {
  std::filesystem::path directory;
  bool resume = false;     // go on from DIRECTORY/checkpoint.h5
  bool overwrite = false;  // replace an earlier run in DIRECTORY
  std::function<void()> on_ready;  // the directory exists, the first step is about to begin
  std::function<void(const RunProgress&)> on_step;
  std::function<void(const IterationProgress&)> on_iteration;
  // Asked between steps and in every iteration of a solid's step, which is then broken off: the checkpoint is the state
  // before it.
  std::function<bool()> stop_requested;
};

struct RunSummary {
  std::int64_t steps = 0;                       // done in this run
  std::vector<std::int64_t> unconverged_steps;  // whose accuracy was not reached, before a resumption too
  std::string first_reason;                     // why the first of them failed
  bool interrupted = false;                     // stop_requested; the checkpoint is where it stopped
  bool broken_off = false;                      // a step could not be taken at all
  double seconds = 0;
  std::int64_t frames = 0;  // in the directory
};

// Whether an earlier run left this directory, complete or not.
bool holds_run(const std::filesystem::path& directory);

// The runs of a scene of this name in `directory`, `directory`-2, `directory`-3, …, where runs without a directory of
// their own go, the one that wrote last first.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& directory, const std::string& scene_name);

Expected<RunSummary> run_scene(const Scene& scene, const step::Model& model, const RunOptions& options);

// A state in an HDF5 file, bit for bit (io/checkpoint.h): what --resume goes on from.
Expected<void> write_state(const step::State& state, const std::filesystem::path& path);
Expected<step::State> read_state(const std::filesystem::path& path);

// "body 'bar'", or how many bodies there are and the first of them: whom a message is about.
std::string bodies_text(const step::IslandReport& island, const step::Model& model);

// Number of steps of the whole scene, and how many steps there are from one frame to the next.
std::int64_t step_count(const Scene& scene, const step::Model& model);
std::int64_t steps_per_frame(const Scene& scene, const step::Model& model);

}  // namespace lope::scene
