// Several methods on the step problems of one recorded trajectory (scene/trajectory.h): do they find the same
// minimiser, and what do they cost? Behind `lope compare`, `lope bench agreement` and `lope bench dot`.
#pragma once

#include <lope/base/expected.h>
#include <lope/optimize/methods.h>
#include <lope/scene/scene.h>
#include <lope/scene/trajectory.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lope::bench {

struct ComparisonOptions {
  std::vector<optimize::Method> methods;
  std::filesystem::path folder;  // results, must exist
  optimize::Method reference = optimize::Method::Auto;
  std::int64_t steps = 0;         // 0: the whole scene
  std::int64_t history_step = 0;  // whose iterations are plotted; 0: the hardest
  // The program `lope`: every method is then replayed by a process of its own, which makes its peak memory
  // its own. Empty: all in this process, and memory is not reported.
  std::filesystem::path program = {};
  bool keep_trajectory = false;
  std::function<void(std::string_view)> progress = {};  // one line at a time
};

// How the answers of one method relate to the reference's.
struct Agreement {
  int steps = 0;
  int converged = 0;
  int agreed = 0;                    // within 3 × accuracy, converged or not
  double largest = 0;                // difference, m
  std::vector<std::int64_t> parted;  // steps that did not agree
  double share() const { return steps == 0 ? 0 : static_cast<double>(agreed) / steps; }
  bool passed() const { return steps > 0 && share() >= 0.99; }
};

struct Comparison {
  scene::Trajectory trajectory;
  std::vector<scene::Replay> replays;
  bool memory_known = false;

  Agreement agreement(const scene::Replay& replay) const;
  bool all_converged() const;
  bool all_agree() const;
};

// The columns of the tables, from one replay.
struct Cost {
  double seconds = 0, slowest = 0;  // per step
  double iterations = 0;
  int most_iterations = 0;
  double linear_iterations = 0;
  double evaluate = 0, hessian = 0, factorize = 0, solve = 0;  // shares of the time
  int failures = 0;
  int first_failure = 0;  // number of that step; 0: none
  std::string first_reason;
};
Cost cost_of(const scene::Replay& replay);

// Records the trajectory and replays it with every method.
Expected<Comparison> compare(const scene::Scene& scene, const step::Model& model,
                             const ComparisonOptions& options);

// The table, the verdict on agreement and the steps where methods part, as lines of text.
std::vector<std::string> describe(const Comparison& comparison);

// convergence.png/svg (one step: residual against iteration and time), steps.png/svg (time and iterations per
// step): the files. None where Lope is built without the renderer.
Expected<std::vector<std::filesystem::path>> write_figures(const Comparison& comparison,
                                                           const std::filesystem::path& folder);

// comparison.json and the figures: the files.
Expected<std::vector<std::filesystem::path>> write_results(const Comparison& comparison,
                                                           const std::filesystem::path& folder);

// What the processes started by compare() run: replays FOLDER's trajectory into FOLDER/METHOD.json.
Expected<void> replay_into(const step::Model& model, const std::filesystem::path& folder,
                           optimize::Method method, std::int64_t history_step,
                           const std::function<void(std::string_view)>& progress);

}  // namespace lope::bench
