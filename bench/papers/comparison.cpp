#include <lope/base/errors.h>
#include <lope/base/process.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>
#include <lope/io/json_lines.h>
#include <lope/scene/run.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <papers/comparison.h>

namespace lope::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double tolerated = 3;  // differences up to this many accuracies are agreement

fs::path trajectory_folder(const fs::path& folder) { return folder / "trajectory"; }
fs::path replay_file(const fs::path& folder, std::string_view method) {
  return folder / fmt::format("{}.json", method);
}

// At most one line every two seconds, and the last.
scene::StepCounter counter(std::string what, const std::function<void(std::string_view)>& progress) {
  if (!progress) return {};
  return [what = std::move(what), &progress, last = Stopwatch(), watch = Stopwatch()](
             std::int64_t step, std::int64_t steps) mutable {
    if (step < steps && last.seconds() < 2) return;
    last = {};
    const double elapsed = watch.seconds();
    progress(fmt::format("{}: step {}/{}, {:.0f} s elapsed, {:.0f} s left", what, step, steps, elapsed,
                         elapsed * static_cast<double>(steps - step) / static_cast<double>(step)));
  };
}

// Removes the states, which are large; the replays and the results stay.
void remove_trajectory(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(trajectory_folder(folder), ignored);
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string energies(const Comparison& comparison, const scene::Replay& replay, std::int64_t step) {
  const auto i = static_cast<std::size_t>(step - 1);
  return fmt::format(
      "step {:4}: {} differs from {} by {:.3e} m ({:.1f} x accuracy); energies {:.12e} and {:.12e} J", step,
      replay.method, comparison.trajectory.reference, replay.steps[i].difference,
      replay.steps[i].difference / comparison.trajectory.tolerance, replay.steps[i].value,
      comparison.trajectory.steps[i].value);
}

void describe_agreement(const Comparison& comparison, std::vector<std::string>& lines) {
  const scene::Trajectory& trajectory = comparison.trajectory;
  for (const scene::Replay& replay : comparison.replays) {
    const Agreement a = comparison.agreement(replay);
    if (!trajectory.is_length) {
      lines.push_back(
          fmt::format("{:14} differs from the tight solution by at most {:.3e} m (this stopping test "
                      "promises no distance)",
                      replay.method, a.largest));
      continue;
    }
    for (const std::int64_t step : a.parted) lines.push_back(energies(comparison, replay, step));
    lines.push_back(
        fmt::format("{:14} agrees within 3 x accuracy ({:.2e} m) in {} of {} steps ({:.1f}%), largest "
                    "difference {:.2e} m: {}",
                    replay.method, tolerated * trajectory.tolerance, a.agreed, a.steps, 100 * a.share(),
                    a.largest, a.passed() ? "PASS" : "FAIL"));
  }
}

void describe_failures(const Comparison& comparison, std::vector<std::string>& lines) {
  for (const scene::Replay& replay : comparison.replays) {
    const Cost c = cost_of(replay);
    if (c.failures == 0) continue;
    lines.push_back(fmt::format("{:14} NOT CONVERGED in {} of {} steps, first step {}: {}", replay.method,
                                c.failures, replay.steps.size(), c.first_failure, c.first_reason));
  }
  const auto& steps = comparison.trajectory.steps;
  const auto bad = std::count_if(steps.begin(), steps.end(), [](const auto& s) { return !s.converged; });
  if (bad > 0)
    lines.push_back(fmt::format("the reference itself did not reach its tight accuracy in {} of {} steps",
                                bad, steps.size()));
}

json summary_json(const Comparison& comparison) {
  json methods = json::array();
  for (const scene::Replay& replay : comparison.replays) {
    const Cost c = cost_of(replay);
    const Agreement a = comparison.agreement(replay);
    json row = {
        {"method", replay.method},
        {"steps", replay.steps.size()},
        {"seconds_per_step", c.seconds},
        {"slowest_step", c.slowest},
        {"iterations_per_step", c.iterations},
        {"most_iterations", c.most_iterations},
        {"linear_iterations_per_step", c.linear_iterations},
        {"share",
         {{"evaluate", c.evaluate}, {"assemble", c.hessian}, {"factorize", c.factorize}, {"solve", c.solve}}},
        {"failures", c.failures}};
    if (comparison.memory_known) row["peak_memory_bytes"] = replay.peak_memory;
    if (comparison.trajectory.is_length)
      row["agreement"] = {{"agreed", a.agreed}, {"passed", a.passed()}, {"parted", a.parted}};
    row["largest_difference"] = a.largest;
    methods.push_back(std::move(row));
  }
  json summary = {{"reference", comparison.trajectory.reference},
                  {"tolerance", comparison.trajectory.tolerance},
                  {"tolerance_is_a_length", comparison.trajectory.is_length},
                  {"steps", comparison.trajectory.steps.size()},
                  {"methods", std::move(methods)}};
  io::name_non_finite(summary);
  return summary;
}

// Replays in a process of its own, which writes the result into the folder.
Expected<scene::Replay> replay_apart(const ComparisonOptions& options, optimize::Method method) {
  const std::string name(optimize::name_of(method));
  std::vector<std::string> arguments = {
      "compare",   (options.folder / "scene.toml").string(), "--replay", name, "-o", options.folder.string(),
      "--history", std::to_string(options.history_step)};
  if (!options.progress) arguments.emplace_back("--quiet");
  const auto code = run_program(options.program.string(), arguments);
  if (!code) return forward_error(code);
  if (*code != 0) return environment_error("the replay with '{}' failed with exit code {}", name, *code);
  return scene::read_replay(replay_file(options.folder, name));
}

Expected<scene::Replay> replay_here(const step::Model& model, const scene::Trajectory& trajectory,
                                    const ComparisonOptions& options, optimize::Method method) {
  const std::string name(optimize::name_of(method));
  return scene::replay(model, trajectory, method, {options.history_step, counter(name, options.progress)});
}

}  // namespace

Agreement Comparison::agreement(const scene::Replay& replay) const {
  Agreement result;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const scene::ReplayStep& s = replay.steps[i];
    ++result.steps;
    result.converged += s.converged ? 1 : 0;
    result.largest = std::max(result.largest, s.difference);
    if (s.difference <= tolerated * trajectory.tolerance) {
      ++result.agreed;
    } else {
      result.parted.push_back(static_cast<std::int64_t>(i) + 1);
    }
  }
  return result;
}

bool Comparison::all_converged() const {
  return std::all_of(replays.begin(), replays.end(),
                     [](const scene::Replay& r) { return cost_of(r).failures == 0; });
}

bool Comparison::all_agree() const {
  return !trajectory.is_length || std::all_of(replays.begin(), replays.end(),
                                              [&](const scene::Replay& r) { return agreement(r).passed(); });
}

Cost cost_of(const scene::Replay& replay) {
  Cost c;
  double total = 0;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const scene::ReplayStep& s = replay.steps[i];
    total += s.seconds;
    c.slowest = std::max(c.slowest, s.seconds);
    c.iterations += s.iterations;
    c.most_iterations = std::max(c.most_iterations, s.iterations);
    c.linear_iterations += static_cast<double>(s.linear_iterations);
    c.evaluate += s.timings.evaluate;
    c.hessian += s.timings.hessian;
    c.factorize += s.timings.factorize;
    c.solve += s.timings.solve;
    if (s.converged) continue;
    if (c.failures++ == 0) {
      c.first_failure = static_cast<int>(i) + 1;
      c.first_reason = s.reason;
    }
  }
  const double steps = std::max<double>(1, static_cast<double>(replay.steps.size()));
  c.seconds = total / steps;
  c.iterations /= steps;
  c.linear_iterations /= steps;
  for (double* share : {&c.evaluate, &c.hessian, &c.factorize, &c.solve}) *share /= std::max(total, 1e-300);
  return c;
}

Expected<Comparison> compare(const scene::Scene& scene, const step::Model& model,
                             const ComparisonOptions& options) {
  Comparison result;
  const fs::path states = trajectory_folder(options.folder);
  if (const auto made = io::make_directory(states); !made) return forward_error(made);
  if (const auto written = io::write_file(options.folder / "scene.toml", scene::resolved_toml(scene));
      !written) {
    return forward_error(written);
  }
  scene::TrajectoryOptions recording;
  recording.reference = options.reference;
  recording.steps = options.steps > 0 ? options.steps : scene::step_count(scene, model);
  recording.on_step =
      counter(fmt::format("recording with {}", optimize::name_of(options.reference)), options.progress);
  auto trajectory = scene::record_trajectory(model, states, recording);
  if (!trajectory) return forward_error(trajectory);
  result.trajectory = std::move(*trajectory);
  result.memory_known = !options.program.empty();
  for (const optimize::Method method : options.methods) {
    auto replay = result.memory_known ? replay_apart(options, method)
                                      : replay_here(model, result.trajectory, options, method);
    if (!replay) return forward_error(replay);
    result.replays.push_back(std::move(*replay));
  }
  if (!options.keep_trajectory) remove_trajectory(options.folder);
  return result;
}

Expected<void> replay_into(const step::Model& model, const fs::path& folder, optimize::Method method,
                           std::int64_t history_step, const std::function<void(std::string_view)>& progress) {
  const auto trajectory = scene::read_trajectory(trajectory_folder(folder));
  if (!trajectory) return forward_error(trajectory);
  const std::string name(optimize::name_of(method));
  const auto replay = scene::replay(model, *trajectory, method, {history_step, counter(name, progress)});
  if (!replay) return forward_error(replay);
  return scene::write_replay(*replay, replay_file(folder, name));
}

std::vector<std::string> describe(const Comparison& comparison) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{:14} {:>8} {:>8} {:>10} {:>5} {:>8} {:>6} {:>6} {:>6} {:>6} {:>8} {:>7} {:>10}", "method",
                  "s/step", "max", "iter/step", "max", "lin/step", "eval", "assem", "factor", "solve",
                  "peak MB", "failed", "error/acc."));
  for (const scene::Replay& replay : comparison.replays) {
    const Cost c = cost_of(replay);
    lines.push_back(fmt::format(
        "{:14} {:>8.3f} {:>8.3f} {:>10.1f} {:>5} {:>8.1f} {:>6} {:>6} {:>6} {:>6} {:>8} {:>7} {:>10}",
        replay.method, c.seconds, c.slowest, c.iterations, c.most_iterations, c.linear_iterations,
        percent(c.evaluate), percent(c.hessian), percent(c.factorize), percent(c.solve),
        comparison.memory_known ? fmt::format("{:.0f}", replay.peak_memory * 1e-6) : "-", c.failures,
        comparison.trajectory.is_length
            ? fmt::format("{:.2f}", comparison.agreement(replay).largest / comparison.trajectory.tolerance)
            : "-"));
  }
  describe_failures(comparison, lines);
  describe_agreement(comparison, lines);
  return lines;
}

Expected<std::vector<fs::path>> write_results(const Comparison& comparison, const fs::path& folder) {
  const fs::path numbers = folder / "comparison.json";
  if (const auto written = io::write_file(numbers, summary_json(comparison).dump(2) + "\n"); !written) {
    return forward_error(written);
  }
  auto figures = write_figures(comparison, folder);
  if (!figures) return figures;
  figures->insert(figures->begin(), numbers);
  return figures;
}

}  // namespace lope::bench
