// The runs that a viewer shows: found in directories, or started by it, each in a process of its own, so that a run that fails
// does not take the page with it.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/process.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace lope::program {

class ViewedRuns {
 public:
  // `program` is what simulates: this one.
  explicit ViewedRuns(std::filesystem::path program) : program_(std::move(program)) {}
  ~ViewedRuns();  // stops those that were started here, all at a time
  ViewedRuns(const ViewedRuns&) = delete;
  ViewedRuns& operator=(const ViewedRuns&) = delete;

  enum class State { Running, Stopping, Ended };
  struct Status {
    int id = 0;
    std::filesystem::path directory;
    std::string scene;                   // its name
    std::vector<std::string> overrides;  // with which it was started here
    State state = State::Ended;
    bool ours = false;             // it was started here
    std::optional<int> exit_code;  // of a run of ours that ended
    std::string message;           // its last words
  };

  // A directory that is there; the same one has the same number.
  int add(const std::filesystem::path& directory);
  // The runs in this folder.
  void add_all_in(const std::filesystem::path& folder);
  // Runs a scene, a file, into a directory of its own below runs/. Fails for a scene that is wrong.
  Expected<int> start(const std::filesystem::path& scene, const std::vector<std::string>& overrides);
  // Goes on from the checkpoint. Fails while the run goes on.
  Expected<void> resume(int id);
  // Fail for runs that were not started here, or have ended.
  Expected<void> stop(int id);
  Expected<void> checkpoint(int id);
  // Asks all that were started here, and waits for none.
  void stop_all();

  std::vector<Status> all();
  std::optional<Status> find(int id);

 private:
  struct Run {
    std::filesystem::path directory;
    std::string scene;
    std::vector<std::string> overrides;
    std::optional<BackgroundProgram> program;
    bool stopping = false;
  };
  int number_of(const std::filesystem::path& directory) const;
  int add_unlocked(const std::filesystem::path& directory, const std::string& scene);
  Expected<Run*> going(int id);
  Status status(int id, Run& run) const;

  std::mutex mutex_;
  std::filesystem::path program_;
  std::map<int, Run> runs_;  // by their numbers, from 1
};

}  // namespace lope::program
