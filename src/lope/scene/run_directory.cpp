#include <lope/base/errors.h>
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/scene/files.h>
#include <lope/scene/resumption.h>
#include <lope/scene/run.h>
#include <lope/scene/run_directory.h>
#include <lope/scene/state_file.h>
#include <lope/scene/statistics.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What --overwrite removes: everything that an earlier run, its exports and its pictures left.
constexpr std::array written_by_a_run{"frames", "stats.jsonl", "checkpoint.h5", "log.txt", "live.jsonl",
                                      "vtu",    "ply",         "obj",           "csv",     "usd",
                                      "gltf",   "pc2",         "mdd",           "bgeo",    "vdb",
                                      "pictures", "scene.toml"};
// Held while a run goes on; stays afterwards, as the mark of a run's directory.
constexpr const char* lock_file = "run.lock";
// The array of a checkpoint that says of which model it is (resumption.h).
constexpr const char* fingerprint_array = "fingerprint";

}  // namespace

// Runs of earlier versions have no lock.
bool holds_run(const fs::path& directory) {
  std::error_code none;
  return fs::exists(directory / lock_file, none) ||
         (fs::exists(directory / "scene.toml", none) &&
          fs::exists(io::topology_path(directory / "frames"), none));
}

namespace {

// The number of `name` among NAME, NAME-2, NAME-3, …; 0: it is none of them.
int number_among(const std::string& first, const std::string& name) {
  if (name == first) return 1;
  int number = 0;
  const char* end = name.data() + name.size();
  if (!name.starts_with(first + "-")) return 0;
  const auto read = std::from_chars(name.data() + first.size() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 1 ? number : 0;
}

bool is_of_scene(const fs::path& directory, const std::string& name) {
  const fs::path path = directory / "scene.toml";
  const auto text = io::read_file(path);
  if (!text) return false;
  const auto root = parse_toml(*text, path.string());
  const Value* names = root ? root->find("scene") : nullptr;
  const Value* found = names ? names->find("name") : nullptr;
  return found && found->text == name;
}

fs::file_time_type last_written(const fs::path& directory) {
  fs::file_time_type last = fs::file_time_type::min();
  for (const char* name : {"scene.toml", "stats.jsonl", "checkpoint.h5"}) {
    std::error_code none;
    const auto time = fs::last_write_time(directory / name, none);
    if (!none) last = std::max(last, time);
  }
  return last;
}

}  // namespace

std::vector<fs::path> runs_in(const fs::path& directory, const std::string& scene_name) {
  const fs::path first = directory.has_filename() ? directory : directory.parent_path();
  struct Found {
    fs::file_time_type written;
    int number;
    fs::path path;
  };
  std::vector<Found> runs;
  std::error_code none;
  const fs::path folder = first.has_parent_path() ? first.parent_path() : ".";
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    const int number = number_among(first.filename().string(), name);
    const fs::path path = first.parent_path() / name;
    if (number > 0 && holds_run(path) && is_of_scene(path, scene_name)) runs.push_back({last_written(path), number, path});
  }
  std::sort(runs.begin(), runs.end(), [](const Found& a, const Found& b) {
    return std::pair(a.written, a.number) > std::pair(b.written, b.number);
  });
  std::vector<fs::path> result;
  for (const Found& run : runs) result.push_back(run.path);
  return result;
}

Expected<void> RunDirectory::start(const Scene& scene, const io::Frame& topology, bool overwrite) {
  if (const auto free = check_free(scene, overwrite); !free) return free;
  if (const auto made = io::make_directory(root_); !made) return made;
  if (const auto locked = lock(); !locked) return locked;
  for (const char* old : written_by_a_run) {
    if (const auto removed = io::remove_path(root_ / old); !removed) return removed;
  }
  if (const auto made = io::make_directory(frames()); !made) return made;
  if (const auto written = write_scene(scene); !written) return written;
  if (const auto written = io::write_frame(topology, io::topology_path(frames())); !written) return written;
  auto stats = io::JsonLines::create(root_ / "stats.jsonl");
  if (!stats) return forward_error(stats);
  stats_.emplace(std::move(*stats));
  return {};
}

Expected<void> RunDirectory::resume(const Scene& scene, step::Simulation& simulation, std::int64_t per_frame) {
  // A run that has just begun has no checkpoint yet: that it goes on is what matters then.
  std::error_code none;
  if (holds_run(root_) || fs::exists(checkpoint(), none)) {
    if (const auto locked = lock(); !locked) return locked;
  }
  if (!fs::exists(checkpoint(), none)) {
    return input_error("{} holds no checkpoint to go on from: leave out --resume to start there", root_.string());
  }
  const auto arrays = io::read_checkpoint(checkpoint());
  if (!arrays) return forward_error(arrays);
  auto state = state_from(*arrays, simulation, checkpoint());
  if (!state) return forward_error(state);
  const std::int64_t step = state->step;
  if (const double h = simulation.model().step; step > 0 && std::abs(state->previous_h - h) > 1e-9 * h) {
    return input_error("{}: its steps are of {:g} s, not {:g} s: time.step cannot change when a run goes on",
                       checkpoint().string(), state->previous_h, h);
  }
  const auto before = load_scene((root_ / "scene.toml").string());
  if (!before) return forward_error(before);
  if (const auto same = check_frames(*before, step, simulation.model(), per_frame); !same) return same;
  if (const auto same = check_same_physics(*before, scene); !same) return same;
  if (const auto fits = simulation.restore(std::move(*state)); !fits) {
    return input_error("{}: {}", checkpoint().string(), fits.error().message);
  }
  if (const auto* saved = arrays->values<double>(fingerprint_array)) {
    if (const auto same = check_fingerprint(*saved, scene, simulation.model()); !same)
      return input_error("{}: {}", checkpoint().string(), same.error().message);
  }
  if (const auto written = write_scene(scene); !written) return written;
  return keep_until(step, per_frame);
}

// Removes what later steps have left, and goes on with the statistics from there.
Expected<void> RunDirectory::keep_until(std::int64_t step, std::int64_t per_frame) {
  for (const std::int64_t number : io::frame_numbers(frames())) {
    if (number * per_frame <= step) continue;
    if (const auto removed = io::remove_path(io::frame_path(frames(), number)); !removed) return removed;
  }
  auto stats = io::JsonLines::resume(root_ / "stats.jsonl", step);
  if (!stats) return forward_error(stats);
  stats_.emplace(std::move(*stats));
  return {};
}

Expected<std::vector<std::int64_t>> RunDirectory::earlier_failures() const {
  const auto lines = io::read_json_lines(root_ / "stats.jsonl");
  if (!lines) return forward_error(lines);
  std::vector<std::int64_t> failed;
  for (const json& line : *lines) {
    if (!line.value("converged", false)) failed.push_back(line.value("step", std::int64_t{0}));
  }
  return failed;
}

// A frame's number stands for its time, so frames must stay as far apart as those that are there.
Expected<void> RunDirectory::check_frames(const Scene& before, std::int64_t step, const step::Model& model,
                            std::int64_t per_frame) const {
  const std::int64_t earlier = steps_per_frame(before, model);
  if (step == 0 || earlier == per_frame) return {};
  return input_error(
      "{}: its frames are {} steps apart, and would go on {} apart: time.frame_rate cannot change when a "
      "run goes on (it was {:g} per second)",
      root_.string(), earlier, per_frame, before.frame_rate);
}

Expected<void> RunDirectory::write_stats(const step::StepReport& report, const step::Model& model) {
  return stats_->append(to_json(report, model));
}

Expected<void> RunDirectory::write_frame(const io::Frame& frame) {
  return io::write_frame(frame, io::frame_path(frames(), frame.number));
}

Expected<void> RunDirectory::write_checkpoint(const step::State& state, const std::vector<double>& fingerprint) {
  NamedArrays arrays = to_arrays(state);
  arrays.add(fingerprint_array, fingerprint);
  return io::write_checkpoint(arrays, checkpoint());
}

// Nothing but an earlier run is ever replaced, and that only when asked for.
Expected<void> RunDirectory::check_free(const Scene& scene, bool overwrite) const {
  std::error_code none;
  if (fs::equivalent(root_ / "scene.toml", scene.file, none)) {
    return input_error(
        "{}: a run in {} would replace this scene file: give another directory with --output", scene.file,
        root_.string());
  }
  if (!holds_run(root_)) {
    for (const char* name : written_by_a_run) {
      if (!fs::exists(root_ / name, none)) continue;
      return input_error(
          "{} is there already and is not of a run, which would replace it: give another directory "
          "with --output",
          (root_ / name).string());
    }
  } else if (!overwrite) {
    return input_error(
        "{} already holds a run: give --overwrite to replace it, --resume to go on with it, or "
        "another directory with --output",
        root_.string());
  }
  return {};
}

Expected<void> RunDirectory::lock() {
  auto taken = FileLock::take(root_ / lock_file);
  if (!taken) return forward_error(taken);
  if (!*taken) {
    return input_error(
        "{}: another run is going on there: wait for its end, or give another directory with --output",
        root_.string());
  }
  lock_ = std::move(*taken);
  return {};
}

Expected<void> RunDirectory::write_scene(const Scene& scene) const {
  return io::write_file(root_ / "scene.toml", write_toml(with_relative_files(scene.resolved, root_)));
}

}  // namespace lope::scene
