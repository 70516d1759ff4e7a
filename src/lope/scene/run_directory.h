// The files of one run (run.h), and what may happen to them: nothing but an earlier run is ever replaced, and that only when
// asked for; two runs never write into one directory.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/file_lock.h>
#include <lope/io/frame.h>
#include <lope/io/json_lines.h>
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace lope::scene {

// Whether an earlier run left this directory, complete or not.
bool holds_run(const std::filesystem::path& directory);
// The runs of a scene of this name in `directory`, `directory`-2, `directory`-3, …, where runs without a directory of
// their own go, the one that wrote last first.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& directory, const std::string& scene_name);

class RunDirectory {
 public:
  explicit RunDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path frames() const { return root_ / "frames"; }
  std::filesystem::path checkpoint() const { return root_ / "checkpoint.h5"; }

  // Begins a run; `topology` is the part of the frames that never changes.
  Expected<void> start(const Scene& scene, const io::Frame& topology, bool overwrite);
  // Brings the simulation to where the run in the directory was left. The scene is written anew: it may go on with other
  // settings, such as a longer duration.
  Expected<void> resume(const Scene& scene, step::Simulation& simulation, std::int64_t per_frame);
  // The steps of the part before a resumption that did not reach their accuracy.
  Expected<std::vector<std::int64_t>> earlier_failures() const;

  Expected<void> write_stats(const step::StepReport& report, const step::Model& model);
  Expected<void> write_frame(const io::Frame& frame);
  Expected<void> write_checkpoint(const step::State& state, const std::vector<double>& fingerprint);

 private:
  Expected<void> check_frames(const Scene& before, std::int64_t step, const step::Model& model,
                              std::int64_t per_frame) const;
  Expected<void> check_free(const Scene& scene, bool overwrite) const;
  Expected<void> lock();
  Expected<void> write_scene(const Scene& scene) const;
  Expected<void> keep_until(std::int64_t step, std::int64_t per_frame);

  std::filesystem::path root_;
  std::optional<FileLock> lock_;
  std::optional<io::JsonLines> stats_;
};

}  // namespace lope::scene
