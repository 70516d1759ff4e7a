#include <lope/base/log.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/resumption.h>
#include <lope/scene/run.h>
#include <lope/scene/tangles.h>
#include <lope/scene/validate.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::scene {

namespace fs = std::filesystem;

std::string bodies_text(const step::IslandReport& island, const step::Model& model) {
  const matter::Body& first = *model.bodies[island.bodies.front()];
  if (island.bodies.size() == 1) return first.called();
  return fmt::format("{} bodies from '{}' on", island.bodies.size(), first.name);
}

std::int64_t step_count(const Scene& scene, const step::Model& model) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(scene.duration / model.step - 1e-6)));
}

std::int64_t steps_per_frame(const Scene& scene, const step::Model& model) {
  if (scene.frame_rate <= 0) return 1;
  const double steps = 1 / (scene.frame_rate * model.step);
  return std::max<std::int64_t>(1, std::llround(std::min(steps, 2 * most_steps)));
}

Run::Run(const Scene& scene, step::Model model, const fs::path& directory)
    : scene_(scene),
      simulation_(std::move(model)),
      directory_(directory),
      frames_(scene, simulation_),
      steps_(step_count(scene, simulation_.model())),
      per_frame_(steps_per_frame(scene, simulation_.model())),
      fingerprint_(fingerprint(scene, simulation_.model())) {}

Expected<std::unique_ptr<Run>> Run::open(const Scene& scene, step::Model model, const fs::path& directory,
                                         Start start) {
  std::unique_ptr<Run> run(new Run(scene, std::move(model), directory));
  if (const auto begun = run->begin(start); !begun) return forward_error(begun);
  return run;
}

Expected<void> Run::begin(Start start) {
  if (start == Start::Resume) return go_on();
  if (const auto ready = directory_.start(scene_, frames_.topology(), start == Start::Overwrite); !ready) return ready;
  look_at_start();
  return directory_.write_frame(frames_.snapshot(0));
}

Expected<void> Run::go_on() {
  if (const auto ready = directory_.resume(scene_, simulation_, per_frame_); !ready) return ready;
  auto failed = directory_.earlier_failures();
  if (!failed) return forward_error(failed);
  summary_.unconverged_steps = std::move(*failed);
  if (!summary_.unconverged_steps.empty()) summary_.first_reason = "before the run was resumed";
  saved_ = simulation_.state().step;
  return {};
}

void Run::look_at_start() {
  const step::Model& model = simulation_.model();
  for (const StartInside& inside : find_start_inside(model)) {
    if (model.obstacles[inside.obstacle].contact == step::ContactKind::Constraint)
      remarks_.push_back(describe(inside, model) + ": moved to its surface");
  }
  for (const Tangle& tangle : find_tangles(model)) remarks_.push_back(describe(tangle));
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const std::vector<std::string> own = simulation_.matter(i).remarks();
    remarks_.insert(remarks_.end(), own.begin(), own.end());
  }
}

bool Run::over() const {
  return summary_.interrupted || summary_.broken_off || simulation_.state().step >= steps_;
}

Expected<step::StepReport> Run::step() {
  step::StepReport report = simulation_.advance();
  if (report.interrupted) {
    summary_.interrupted = true;
    return report;
  }
  if (const Expected<void> written = write(report); !written) {
    summary_.broken_off = true;
    // The disk is full, most likely. A checkpoint of the last step whose results are all written may still fit;
    // otherwise the earlier one stands. Going on from either repeats what is missing.
    simulation_.take_back();
    if (const auto last = checkpoint(); !last) log_warning("{}", last.error().message);
    return forward_error(written);
  }
  note(report);
  return report;
}

Expected<void> Run::write(const step::StepReport& report) {
  if (const auto written = directory_.write_stats(report, simulation_.model()); !written) return written;
  if (!report.accepted) return {};
  if (report.step % per_frame_ == 0) {
    if (const auto written = directory_.write_frame(frames_.snapshot(report.step / per_frame_)); !written)
      return written;
  }
  const int every = scene_.output.checkpoint_every;
  if (every > 0 && report.step % every == 0) return checkpoint();
  return {};
}

void Run::note(const step::StepReport& report) {
  for (const matter::BodyReport& body : report.bodies) {
    for (const std::string& remark : body.remarks) log_info("step {}: {}", report.step, remark);
  }
  if (!report.converged()) {
    if (summary_.unconverged_steps.empty()) {
      const step::IslandReport& culprit = *report.culprit();
      summary_.first_reason =
          fmt::format("{}: {}", bodies_text(culprit, simulation_.model()), culprit.solve.reason);
    }
    summary_.unconverged_steps.push_back(report.step);
  }
  if (report.accepted) ++summary_.steps;
  else summary_.broken_off = true;
}

Expected<void> Run::checkpoint() {
  const step::State& state = simulation_.state();
  if (saved_ == state.step) return {};
  if (const auto written = directory_.write_checkpoint(state, fingerprint_); !written) return written;
  saved_ = state.step;
  return {};
}

Expected<RunSummary> Run::finish() {
  if (const auto written = checkpoint(); !written) return forward_error(written);
  const step::State& state = simulation_.state();
  for (std::size_t i = 0; i < state.bodies.size() && !summary_.interrupted; ++i) {
    for (const std::string& remark : simulation_.matter(i).closing_remarks(*state.bodies[i])) log_warning("{}", remark);
  }
  summary_.frames = static_cast<std::int64_t>(io::frame_numbers(directory_.frames()).size());
  summary_.last_step = state.step;
  summary_.seconds = elapsed();
  return summary_;
}

Expected<RunSummary> run_scene(const Scene& scene, step::Model model, const RunOptions& options) {
  const Run::Start start = options.resume      ? Run::Start::Resume
                           : options.overwrite ? Run::Start::Overwrite
                                               : Run::Start::New;
  auto opened = Run::open(scene, std::move(model), options.directory, start);
  if (!opened) return forward_error(opened);
  Run& run = **opened;
  if (options.on_ready) options.on_ready();
  for (const std::string& remark : run.remarks()) log_info("{}", remark);
  step::Simulation& simulation = run.simulation();
  simulation.set_stop_request(options.stop_requested);
  if (options.on_iteration) {
    simulation.set_observer(
        [&](std::size_t island, const optimize::Iteration& iteration, std::span<const double>) {
          options.on_iteration({simulation.state().step + 1, run.steps(), island, iteration,
                                simulation.model(), run.elapsed()});
        });
  }
  while (!run.over()) {
    if (options.stop_requested && options.stop_requested()) {
      run.interrupt();
      break;
    }
    const auto report = run.step();
    if (!report) return forward_error(report);
    if (report->interrupted) continue;
    if (options.checkpoint_requested && options.checkpoint_requested()) {
      if (const auto saved = run.checkpoint(); !saved)
        log_warning("{}", saved.error().message);
      else
        log_info("checkpoint after step {}", report->step);
    }
    if (!options.on_step) continue;
    const double elapsed = run.elapsed();
    const double left = elapsed / static_cast<double>(std::max<std::int64_t>(run.so_far().steps, 1)) *
                        static_cast<double>(run.steps() - report->step);
    options.on_step({*report, simulation.model(), run.steps(), elapsed, left});
  }
  return run.finish();
}

}  // namespace lope::scene
