// Runs a scene into a directory: frames, statistics, checkpoints, the resolved scene.
//
//   DIRECTORY/scene.toml      the resolved scene
//   DIRECTORY/frames/         topology.lope, frame_000000.lope, … (docs/formats.md)
//   DIRECTORY/stats.jsonl     one line per step: iterations, residuals, energies, momenta, timings, line searches
//   DIRECTORY/checkpoint.h5   the newest state, enough to go on with the same bits
//   DIRECTORY/run.lock        empty; locked while the run goes on
//
// Nothing is created before the scene is known to be sound, and nothing is replaced but an earlier run. Failure of a write
// (disk full) ends the run with an Environment error; the last checkpoint stays usable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <lope/base/expected.h>
#include <lope/base/timer.h>
#include <lope/scene/frame_writer.h>
#include <lope/scene/run_directory.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

namespace lope::scene {

struct RunSummary {
  std::int64_t steps = 0;                       // done in this run
  std::int64_t last_step = 0;                   // reached, before a resumption counted
  std::vector<std::int64_t> unconverged_steps;  // whose accuracy was not reached, before a resumption too
  std::string first_reason;                     // why the first of them failed
  bool interrupted = false;                     // stop_requested; the checkpoint is where it stopped
  bool broken_off = false;                      // a step could not be taken at all
  double seconds = 0;
  std::int64_t frames = 0;  // in the directory
};

// A run that is stepped by whoever holds it: a program, a page, another language.
class Run {
 public:
  enum class Start { New, Overwrite, Resume };
  // Makes or reopens the directory and writes the first frame. The scene outlives the run.
  static Expected<std::unique_ptr<Run>> open(const Scene& scene, step::Model model,
                                             const std::filesystem::path& directory, Start start);

  step::Simulation& simulation() { return simulation_; }
  // What a user should know of the start, one line each; of a resumed run there is nothing.
  const std::vector<std::string>& remarks() const { return remarks_; }
  std::int64_t steps() const { return steps_; }  // in the whole run
  // No step is left, one was interrupted, or one could not be taken or written at all.
  bool over() const;
  // Takes a step and writes what it leaves. After a failed write the state is the one before the step.
  Expected<step::StepReport> step();
  // Saves the state, unless that has been done.
  Expected<void> checkpoint();
  void interrupt() { summary_.interrupted = true; }
  // After the last step: saves, says what is to be said of the end.
  Expected<RunSummary> finish();
  const RunSummary& so_far() const { return summary_; }
  double elapsed() const { return watch_.seconds(); }

 private:
  Run(const Scene& scene, step::Model model, const std::filesystem::path& directory);
  Expected<void> begin(Start start);
  Expected<void> go_on();
  void look_at_start();
  Expected<void> write(const step::StepReport& report);
  void note(const step::StepReport& report);

  Stopwatch watch_;
  const Scene& scene_;
  step::Simulation simulation_;
  RunDirectory directory_;
  FrameWriter frames_;
  std::int64_t steps_, per_frame_;
  std::int64_t saved_ = -1;  // step of the newest checkpoint
  std::vector<double> fingerprint_;
  std::vector<std::string> remarks_;
  RunSummary summary_;
};

struct RunProgress {
  const step::StepReport& report;
  const step::Model& model;
  std::int64_t steps = 0;    // in the whole run
  double elapsed = 0;        // seconds, this run
  double left = 0;           // estimated seconds
};

// Where the minimisation of a step is that is not finished yet.
struct IterationProgress {
  std::int64_t step = 0, steps = 0;
  std::size_t island = 0;
  const optimize::Iteration& iteration;
  const step::Model& model;
  double elapsed = 0;  // seconds, this run
};

struct RunOptions {
  std::filesystem::path directory;
  bool resume = false;     // go on from DIRECTORY/checkpoint.h5
  bool overwrite = false;  // replace an earlier run in DIRECTORY
  std::function<void()> on_ready;  // the directory exists, the first step is about to begin
  std::function<void(const RunProgress&)> on_step;
  std::function<void(const IterationProgress&)> on_iteration;
  // Asked between steps and in every iteration or substep of one, which is then broken off: the checkpoint is the state
  // before it.
  std::function<bool()> stop_requested;
  // Asked after every step: whether a checkpoint is to be written now.
  std::function<bool()> checkpoint_requested;
};

// All steps of a scene.
Expected<RunSummary> run_scene(const Scene& scene, step::Model model, const RunOptions& options);

// "body 'bar'", or how many bodies there are and the first of them: whom a message is about.
std::string bodies_text(const step::IslandReport& island, const step::Model& model);

// Number of steps of the whole scene, and how many steps there are from one frame to the next.
std::int64_t step_count(const Scene& scene, const step::Model& model);
std::int64_t steps_per_frame(const Scene& scene, const step::Model& model);

}  // namespace lope::scene
