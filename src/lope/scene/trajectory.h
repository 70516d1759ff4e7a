// One trajectory, many methods: how minimisers are compared fairly.
//
// Whole runs part after buckling or release, so methods are compared step by step (NUMERICS §9): a reference
// method solves every step tightly and each state is kept in a file; a method then solves every step problem
// from the recorded state, and its answer is held against the recorded next state. Replays may run in
// processes of their own: then the peak memory of each is its own too.
//
//   FOLDER/trajectory.json                the steps: energies, iterations
//   FOLDER/state_000000.h5, …             the state before step 1, after step 1, …
#pragma once

#include <lope/base/expected.h>
#include <lope/optimize/minimizer.h>
#include <lope/step/model.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lope::scene {

using StepCounter = std::function<void(std::int64_t step, std::int64_t steps)>;

struct TrajectoryOptions {
  optimize::Method reference = optimize::Method::Auto;
  std::int64_t steps = 1;
  double tightening = 0.01;  // the reference's tolerance, as a fraction of the model's
  StepCounter on_step = {};
};

struct TrajectoryStep {
  bool converged = false;
  double value = 0;  // E of the answer, summed over the islands, J
  int iterations = 0;
};

struct Trajectory {
  std::filesystem::path folder;
  std::string reference;  // name of the method
  double tolerance = 0;   // of the model: what replays must reach
  bool is_length = true;  // the tolerance is a displacement accuracy, metres
  std::vector<TrajectoryStep> steps;

  std::filesystem::path state_file(std::int64_t step) const;
  // The step (1 for the first) that took the reference the most iterations.
  std::int64_t hardest_step() const;
};

// Whether some vertex of a solid is free in one of the first steps: methods differ in nothing else.
bool anything_to_solve(const step::Model& model, std::int64_t steps);

// Runs the model and writes the trajectory into `folder`, which must exist. Ends early, with fewer steps than
// asked for, when the reference cannot take a step at all; an error when it cannot take the first, when there
// is nothing to solve, or when a file cannot be written.
Expected<Trajectory> record_trajectory(const step::Model& model, const std::filesystem::path& folder,
                                       const TrajectoryOptions& options);
Expected<Trajectory> read_trajectory(const std::filesystem::path& folder);

struct ReplayStep {
  bool converged = false;
  std::string reason;  // why not
  double seconds = 0;  // in the minimiser
  int iterations = 0, linear_solves = 0;
  long linear_iterations = 0;
  double value = 0;  // E, J
  double difference =
      0;  // from the reference's answer, max norm over nodes, m; infinite where there is no answer
  optimize::MinimizerTimings timings;
};

struct Replay {
  std::string method;
  std::vector<ReplayStep> steps;
  double memory_before = 0;  // bytes: peak of this process before the first step (model and mesh)
  double peak_memory = 0;    // bytes
  std::int64_t history_step = 0;
  std::vector<optimize::Iteration> history;  // of that step (of its first island)
};

struct ReplayOptions {
  std::int64_t history_step = 0;  // 0: the trajectory's hardest
  StepCounter on_step = {};
};

// The model must be the one the trajectory was recorded with.
Expected<Replay> replay(const step::Model& model, const Trajectory& trajectory, optimize::Method method,
                        const ReplayOptions& options);

// As JSON, bit for bit.
Expected<void> write_replay(const Replay& replay, const std::filesystem::path& file);
Expected<Replay> read_replay(const std::filesystem::path& file);

}  // namespace lope::scene
