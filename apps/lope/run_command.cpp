#include <lope/base/cpu.h>
#include <lope/base/errors.h>
#include <lope/base/log.h>
#include <lope/base/parallel.h>
#include <lope/scene/check.h>
#include <lope/scene/run.h>

#include <cstdio>

#include "commands.h"
#include "live_file.h"
#include "patience.h"
#include "progress.h"
#include "stop_signals.h"
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

// One line that updates itself on a terminal; plain lines, at most one every two seconds (within a step: one every half
// minute), otherwise.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(bool quiet) : quiet_(quiet) {}

  void show(const scene::RunProgress& progress) {
    const step::StepReport& report = progress.report;
    if (!report.converged()) explain(progress);
    const bool last = report.step == progress.steps;
    if (quiet_ || (!line_.on_terminal() && !last && !line_.due(2))) return;
    int iterations = 0;
    for (const auto& island : report.islands) iterations += island.solve.iterations;
    const std::string line =
        fmt::format("step {}/{}  t = {:.3f} s  {:3d} iterations  {} elapsed, {} left", report.step, progress.steps,
                    report.time, iterations, duration_text(progress.elapsed), duration_text(progress.left));
    line_.show(line, report.step, progress.steps);
  }

  // Steps that take long are seen to go on.
  void show(const scene::IterationProgress& progress) {
    if (quiet_ || !line_.due(line_.on_terminal() ? 1 : 30)) return;
    const bool metres = progress.model.solver.stopping.test == optimize::StoppingTest::Displacement;
    line_.show(fmt::format("step {}/{}  iteration {}, {} {:.2g}{}  {} elapsed", progress.step, progress.steps,
                           progress.iteration.number, metres ? "remaining displacement" : "measure",
                           progress.iteration.measure, metres ? " m" : "", duration_text(progress.elapsed)),
               progress.step - 1, progress.steps);
  }

 private:
  void explain(const scene::RunProgress& progress) {
    for (const auto& island : progress.report.islands) {
      const optimize::MinimizerSummary& solve = island.solve;
      if (solve.converged()) continue;
      line_.clear();
      log_warning("step {}, {}: {} (measure {:.3g}, accuracy {:.3g})", progress.report.step,
                  scene::bodies_text(island, progress.model), solve.reason, solve.measure, solve.tolerance);
    }
  }
  bool quiet_;
  ProgressLine line_;
};

struct RunArguments {
  SceneArguments scene;
  std::string output, isa;
  bool resume = false, overwrite = false, render = false, quiet = false, live = false;
};

// Messages of the library: warnings to the terminal, everything to the run's log once there is a directory for it.
class LogFile {
 public:
  LogFile() {
    set_log_sink([this](LogLevel level, std::string_view message) {
      if (level == LogLevel::Warning) tell(stderr, fmt::format("warning: {}\n", message));
      pending_ += fmt::format("{:%Y-%m-%d %H:%M:%S} {}{}\n", fmt::localtime(std::time(nullptr)),
                              level == LogLevel::Warning ? "warning: " : "", message);
      flush();
    });
  }
  ~LogFile() {
    set_log_sink({});
    if (file_) std::fclose(file_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void open(const fs::path& path, bool append) {
    file_ = std::fopen(path.c_str(), append ? "a" : "w");
    flush();
  }

 private:
  void flush() {
    if (!file_) return;
    std::fputs(pending_.c_str(), file_);
    std::fflush(file_);
    pending_.clear();
  }
  std::string pending_;
  std::FILE* file_ = nullptr;
};

void report_outcome(const scene::RunSummary& summary, const fs::path& directory, bool quiet) {
  if (summary.interrupted) {
    log_info("interrupted after {} steps", summary.steps);
    tell(stdout, fmt::format("\nInterrupted; the checkpoint is written. Go on with: lope run {} --resume\n",
                             directory.string()));
    return;
  }
  const std::string done = fmt::format("{} steps in {}; {} frames in {}", summary.steps, duration_text(summary.seconds),
                                       summary.frames, (directory / "frames").string());
  log_info("{}", done);
  if (!quiet) fmt::print("{}\n", done);
  if (summary.unconverged_steps.empty()) return;
  const std::string failure = fmt::format(
      "NOT CONVERGED: {} of {} steps did not reach the accuracy, first step {} ({}).{}", summary.unconverged_steps.size(),
      summary.last_step + (summary.broken_off ? 1 : 0), summary.unconverged_steps.front(), summary.first_reason,
      summary.broken_off ? " The run ended there; the state before that step is in the checkpoint." : "");
  log_info("{}", failure);
  fmt::print(stderr, "{}\n", failure);
}

// Where the run goes. Without --output an earlier run is left in peace: NAME-2, NAME-3, …; the newest goes on.
fs::path choose_directory(const RunArguments& arguments, const scene::Scene& scene) {
  if (!arguments.output.empty()) return arguments.output;
  fs::path wanted = scene.output.directory;
  if (wanted.empty()) wanted = fs::path("runs") / scene.name;
  if (arguments.resume) {
    const std::vector<fs::path> runs = scene::runs_in(wanted, scene.name);
    if (runs.size() > 1 && !arguments.quiet) {
      fmt::print("{} is the newest of {} runs of this scene and goes on (lope run DIRECTORY --resume goes on with another)\n",
                 runs.front().string(), runs.size());
    }
    return runs.empty() ? wanted : runs.front();
  }
  if (arguments.overwrite || !scene::holds_run(wanted)) return wanted;
  const fs::path free = free_directory(wanted);
  if (!arguments.quiet) {
    fmt::print(
        "{} holds an earlier run, so this one goes into {} (--overwrite would replace it, --resume go on with "
        "it)\n",
        wanted.string(), free.string());
  }
  return free;
}

Expected<void> choose_isa(const RunArguments& arguments) {
  if (arguments.isa.empty()) return {};
  const auto isa = isa_named(arguments.isa);
  if (!isa) return input_error("--isa: {}", isa.error().message);
  select_isa(*isa);
  return {};
}

// The scene, and the directory that is gone on with or asked for, if any.
Expected<scene::Scene> load(const RunArguments& arguments, fs::path& directory) {
  SceneArguments source = arguments.scene;
  directory = arguments.output;
  if (arguments.resume && fs::is_directory(source.scene)) {
    directory = source.scene;
    source.scene = (directory / "scene.toml").string();
  }
  return source.load();
}

int look_at(const RunArguments& arguments) {
  if (const auto isa = choose_isa(arguments); !isa) return complain(isa.error());
  fs::path directory;
  const auto scene = load(arguments, directory);
  return scene ? Done : complain(scene.error());
}

int run(const RunArguments& arguments) {
  if (const auto isa = choose_isa(arguments); !isa) return complain(isa.error());
  if (arguments.render) {
    if (const auto able = check_pictures(); !able) return complain(able.error());
  }
  LogFile log;
  fs::path directory;
  auto scene = load(arguments, directory);
  if (!scene) return complain(scene.error());
  if (!directory.empty()) scene->output.directory = directory.string();  // whose disk is looked at
  const ThreadLimit threads(scene->threads);
  std::optional<Patience> patience;
  if (!arguments.quiet) patience.emplace(fmt::format("{}: making and checking meshes", scene->name));
  auto model = scene::build_model(*scene);
  if (!model) return complain(model.error());
  const scene::CheckReport checked = scene::check(*scene, *model);
  patience.reset();
  for (const auto& finding : checked.findings) {
    const bool wrong = finding.severity == scene::Severity::Error;
    if (wrong || !arguments.quiet)
      tell(stderr, fmt::format("{}: {}\n", scene::word(finding.severity), finding.message));
  }
  if (checked.failed()) return BadInput;

  if (directory.empty()) directory = choose_directory(arguments, *scene);
  std::size_t unknowns = 0;
  for (const auto& body : model->bodies) unknowns += body->unknowns();
  std::string size = unknowns > 0 ? fmt::format("{} unknowns", unknowns) : "";
  for (const scene::BodyCheck& body : checked.bodies) {
    if (!body.counts.empty()) size += (size.empty() ? "" : " and ") + body.counts;
  }
  const std::string plan =
      fmt::format("{}: {}, {} steps of {:g} ms, {} threads, into {}", scene->name, size,
                  scene::step_count(*scene, *model), model->step * 1e3, thread_count(), directory.string());
  log_info("lope {} ({} kernels): {}{}", LOPE_VERSION, name(selected_isa()), plan,
           arguments.resume ? ", resumed" : "");
  if (!arguments.quiet) fmt::print("{}\n", plan);
  std::fflush(stdout);

  ProgressPrinter progress(arguments.quiet);
  scene::RunOptions options;
  options.directory = directory;
  options.resume = arguments.resume;
  options.overwrite = arguments.overwrite;
  options.on_step = [&](const scene::RunProgress& p) { progress.show(p); };
  std::optional<LiveFile> live;
  if (arguments.live) live.emplace(directory / "live.jsonl");
  options.on_iteration = [&](const scene::IterationProgress& p) {
    progress.show(p);
    if (live) live->add(p);
  };
  options.stop_requested = stop_requested;
  options.checkpoint_requested = checkpoint_requested;
  options.on_ready = [&] { log.open(directory / "log.txt", arguments.resume); };
  const auto summary = [&] {
    const StopSignals signals("\nStopping; once more to end at once, without a checkpoint.\n");
    return scene::run_scene(*scene, std::move(*model), options);
  }();
  live.reset();
  if (!summary) return complain(summary.error());
  report_outcome(*summary, directory, arguments.quiet);
  if (summary->interrupted) return stop_status();

  const auto exported = export_frames(directory, scene->output.formats);
  if (!exported) return complain(exported.error());
  if (!arguments.quiet) {
    for (const std::string& line : *exported) fmt::print("{}\n", line);
  }
  if (arguments.render) {
    PictureRequest request;
    request.directory = directory;
    request.still = request.movie = request.plots = true;
    request.by_blocks = true;  // soon there; `lope render` draws a still with more care
    request.quiet = arguments.quiet;
    if (const auto made = make_pictures(request); !made)
      return stop_requested() ? stop_status() : complain(made.error());
  }
  return summary->unconverged_steps.empty() ? Done : NotConverged;
}

}  // namespace

void add_run(Arguments& app, int& status) {
  Arguments* command =
      app.add_subcommand("run", "Simulate a scene into a directory of frames and statistics");
  auto arguments = std::make_shared<RunArguments>();
  arguments->scene.add_to(*command);
  command
      ->add_option("-o,--output", arguments->output,
                   "Directory of the run (default: runs/NAME, or NAME-2, … where an earlier run is)")
      ->type_name("DIR");
  Argument* resume = command->add_flag("--resume", arguments->resume,
                                       "Go on from the checkpoint of the newest run; SCENE may be the directory of a run");
  command->add_flag("--overwrite", arguments->overwrite, "Replace an earlier run in the directory")->excludes(resume);
  command->add_flag("--render", arguments->render, "Then make a still, a movie and the plots");
  command
      ->add_option(
          "--isa", arguments->isa,
          "Kernels to use: baseline, avx2 or avx512 (default: $LOPE_ISA, else the widest of the processor; "
          "avx2 and avx512 give the same bits)")
      ->type_name("NAME");
  command->add_flag("--live", arguments->live,
                    "Keep live.jsonl: the iterations of the step that goes on, for `lope view`");
  command->add_flag("-q,--quiet", arguments->quiet, "Print problems only");
  command->rehearse([arguments] { return look_at(*arguments); });
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace lope::program
