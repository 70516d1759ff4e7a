#include "view_runs.h"

#include <lope/base/errors.h>
#include <lope/base/file_lock.h>
#include <lope/scene/run_directory.h>
#include <lope/scene/scene.h>

#include <algorithm>

#include "commands.h"

namespace lope::program {

namespace fs = std::filesystem;

namespace {

fs::path plain(const fs::path& directory) {
  const fs::path path = directory.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

ViewedRuns::~ViewedRuns() { stop_all(); }

// 0: it is not known yet.
int ViewedRuns::number_of(const fs::path& directory) const {
  for (const auto& [id, run] : runs_) {
    if (fs::absolute(run.directory) == fs::absolute(plain(directory))) return id;
  }
  return 0;
}

int ViewedRuns::add_unlocked(const fs::path& directory, const std::string& scene) {
  if (const int known = number_of(directory)) return known;
  const int id = static_cast<int>(runs_.size()) + 1;
  runs_[id] = {plain(directory), scene, {}, {}, false};
  return id;
}

int ViewedRuns::add(const fs::path& directory) {
  {
    const std::scoped_lock lock(mutex_);
    if (const int known = number_of(directory)) return known;
  }
  const auto scene = scene::load_scene((directory / "scene.toml").string());
  const std::scoped_lock lock(mutex_);
  return add_unlocked(directory, scene ? scene->name : plain(directory).filename().string());
}

void ViewedRuns::add_all_in(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    if (scene::holds_run(entry->path())) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& directory : found) add(directory);
}

Expected<int> ViewedRuns::start(const fs::path& scene, const std::vector<std::string>& overrides) {
  const auto loaded = scene::load_scene(scene.string(), overrides);
  if (!loaded) return forward_error(loaded);
  const std::scoped_lock lock(mutex_);
  fs::path wanted = loaded->output.directory;
  if (wanted.empty()) wanted = fs::path("runs") / loaded->name;
  const fs::path directory = free_directory(wanted, [this](const fs::path& path) {
    return std::any_of(runs_.begin(), runs_.end(),
                       [&](const auto& run) { return run.second.directory == plain(path); });
  });
  std::vector<std::string> arguments{"run", scene.string(), "-o", directory.string(), "--live", "--quiet"};
  for (const std::string& each : overrides) arguments.insert(arguments.end(), {"--set", each});
  auto program = BackgroundProgram::start(program_.string(), arguments);
  if (!program) return forward_error(program);
  const int id = add_unlocked(directory, loaded->name);
  runs_.at(id).program.emplace(std::move(*program));
  runs_.at(id).overrides = overrides;
  return id;
}

Expected<void> ViewedRuns::resume(int id) {
  const std::scoped_lock lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) return input_error("there is no run {}", id);
  Run& run = found->second;
  if (status(id, run).state != State::Ended) return input_error("{} goes on already", run.directory.string());
  auto program = BackgroundProgram::start(program_.string(),
                                          {"run", run.directory.string(), "--resume", "--live", "--quiet"});
  if (!program) return forward_error(program);
  run.program.emplace(std::move(*program));
  run.stopping = false;
  return {};
}

Expected<ViewedRuns::Run*> ViewedRuns::going(int id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return input_error("there is no run {}", id);
  Run& run = found->second;
  if (!run.program) return input_error("{} was not started here", run.directory.string());
  if (run.program->ended()) return input_error("{} has ended", run.directory.string());
  return &run;
}

Expected<void> ViewedRuns::stop(int id) {
  const std::scoped_lock lock(mutex_);
  const auto run = going(id);
  if (!run) return forward_error(run);
  (*run)->program->interrupt();
  (*run)->stopping = true;
  return {};
}

void ViewedRuns::stop_all() {
  const std::scoped_lock lock(mutex_);
  for (auto& [id, run] : runs_) {
    if (!run.program) continue;
    run.program->interrupt();
    run.stopping = true;
  }
}

Expected<void> ViewedRuns::checkpoint(int id) {
  const std::scoped_lock lock(mutex_);
  const auto run = going(id);
  if (!run) return forward_error(run);
  (*run)->program->ask_to_save();
  return {};
}

ViewedRuns::Status ViewedRuns::status(int id, Run& run) const {
  Status result{id, run.directory, run.scene, run.overrides, State::Ended, run.program.has_value(), {}, {}};
  if (!run.program) {
    if (FileLock::is_held(run.directory / "run.lock")) result.state = State::Running;
    return result;
  }
  result.exit_code = run.program->ended();
  if (!result.exit_code) result.state = run.stopping ? State::Stopping : State::Running;
  result.message = run.program->last_words();
  return result;
}

std::vector<ViewedRuns::Status> ViewedRuns::all() {
  const std::scoped_lock lock(mutex_);
  std::vector<Status> result;
  for (auto& [id, run] : runs_) result.push_back(status(id, run));
  return result;
}

std::optional<ViewedRuns::Status> ViewedRuns::find(int id) {
  const std::scoped_lock lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) return std::nullopt;
  return status(id, found->second);
}

}  // namespace lope::program
