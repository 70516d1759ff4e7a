#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/base/paths.h>
#include <lope/base/terminal.h>
#include <lope/io/file.h>
#include <lope/matter/nodal_matter.h>
#include <lope/scene/check.h>
#include <lope/scene/run.h>
#include <lope/scene/suggest.h>
#include <lope/scene/trajectory.h>

#include <cstdio>

#include "commands.h"
#include <fmt/core.h>
#include <papers/comparison.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  SceneArguments scene;
  std::vector<std::string> methods = {"newton", "newton-pcg"};
  std::string reference = "auto";
  std::string output;
  std::int64_t steps = 0, history = 0;
  bool keep = false, quiet = false;
  std::string replay;  // hidden: this process replays one method
};

Expected<optimize::Method> method_named(const std::string& name) {
  if (const auto method = optimize::find_method(name)) return *method;
  std::vector<std::string> names;
  for (const auto& info : optimize::methods()) names.emplace_back(info.name);
  return input_error("there is no method '{}'{}; `lope solvers` lists them", name,
                     scene::did_you_mean(name, names));
}

// One line that updates itself on a terminal, lines otherwise; to stderr, so that the table on stdout stays
// clean.
std::function<void(std::string_view)> progress_printer(bool quiet) {
  if (quiet) return {};
  return [terminal = is_terminal(stderr)](std::string_view line) {
    if (terminal) {
      fmt::print(stderr, "\r{}\x1b[K", line);
    } else {
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
  };
}

void end_progress(bool quiet) {
  if (!quiet && is_terminal(stderr)) fmt::print(stderr, "\r\x1b[K");
}

Expected<bench::ComparisonOptions> read_methods(const CompareArguments& arguments) {
  bench::ComparisonOptions options;
  for (const std::string& name : arguments.methods) {
    const auto method = method_named(name);
    if (!method) return forward_error(method);
    options.methods.push_back(*method);
  }
  const auto reference = method_named(arguments.reference);
  if (!reference) return forward_error(reference);
  options.reference = *reference;
  return options;
}

int look_at(const CompareArguments& arguments) {
  if (const auto options = read_methods(arguments); !options) return complain(options.error());
  const auto scene = arguments.scene.load();
  return scene ? Done : complain(scene.error());
}

int compare(const CompareArguments& arguments) {
  auto read = read_methods(arguments);
  if (!read) return complain(read.error());
  bench::ComparisonOptions& options = *read;

  const auto scene = arguments.scene.load();
  if (!scene) return complain(scene.error());
  const ThreadLimit threads(scene->threads);
  const auto model = scene::build_model(*scene);
  if (!model) return complain(model.error());
  const scene::CheckReport checked = scene::check(*scene, *model);
  for (const auto& finding : checked.findings) {
    if (finding.severity == scene::Severity::Error) fmt::print(stderr, "error: {}\n", finding.message);
  }
  if (checked.failed()) return BadInput;

  const std::int64_t all = scene::step_count(*scene, *model);
  if (arguments.steps > all) {
    return complain(
        {fmt::format("the scene has {} steps, not {}: lengthen time.duration", all, arguments.steps),
         Trouble::Input});
  }
  options.steps = arguments.steps > 0 ? arguments.steps : all;
  if (!scene::anything_to_solve(*model, options.steps)) {
    return complain(
        {fmt::format("{}: there is nothing to compare: the methods move solid bodies, and {}", scene->name,
                     each<matter::NodalBody>(model->bodies).empty() ? "this scene has none" : "every vertex here is held"),
         Trouble::Input});
  }
  if (arguments.history > options.steps) {
    return complain(
        {fmt::format("--history {}: only {} steps are compared", arguments.history, options.steps),
         Trouble::Input});
  }
  options.history_step = arguments.history;
  options.keep_trajectory = arguments.keep;
  options.folder =
      arguments.output.empty() ? fs::path("comparisons") / scene->name : fs::path(arguments.output);
  options.program = executable_path();
  options.progress = progress_printer(arguments.quiet);
  if (const auto made = io::make_directory(options.folder); !made) return complain(made.error());

  std::size_t vertices = 0;
  for (const matter::NodalBody& body : each<matter::NodalBody>(model->bodies)) vertices += body.rest_positions().size();
  fmt::print("{}: {} vertices, {} steps of {:g} ms, {} threads\n", scene->name, vertices, options.steps,
             model->step * 1e3, thread_count());
  std::fflush(stdout);
  const auto comparison = bench::compare(*scene, *model, options);
  end_progress(arguments.quiet);
  if (!comparison) return complain(comparison.error());
  for (const std::string& line : bench::describe(*comparison)) fmt::print("{}\n", line);
  const auto written = bench::write_results(*comparison, options.folder);
  if (!written) return complain(written.error());
  fmt::print("{}comparison.json in {}\n", written->size() > 1 ? "plots and " : "", options.folder.string());
  return comparison->all_converged() && comparison->all_agree() ? Done : NotConverged;
}

int replay(const CompareArguments& arguments) {
  const auto method = method_named(arguments.replay);
  if (!method) return complain(method.error());
  const auto scene = arguments.scene.load();
  if (!scene) return complain(scene.error());
  const ThreadLimit threads(scene->threads);
  const auto model = scene::build_model(*scene);
  if (!model) return complain(model.error());
  const auto done = bench::replay_into(*model, arguments.output, *method, arguments.history,
                                       progress_printer(arguments.quiet));
  return done ? Done : complain(done.error());
}

}  // namespace

void add_compare(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("compare",
                                          "Solve every step of one recorded trajectory with several methods: "
                                          "agreement, time, iterations, memory");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->scene.add_to(*command);
  command->add_option("--methods", arguments->methods, "Methods, separated by commas (see `lope solvers`)")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAME,NAME,…")
      ->suggest(method_names);
  command
      ->add_option("--reference", arguments->reference,
                   "Method that records the trajectory, at 1/100 of the tolerance")
      ->capture_default_str()
      ->type_name("NAME")
      ->suggest(method_names);
  command->add_option("--steps", arguments->steps, "Only the first steps of the scene")
      ->check(positive)
      ->type_name("N");
  command
      ->add_option("--history", arguments->history,
                   "Step whose convergence is plotted (default: the hardest)")
      ->check(not_negative)
      ->type_name("STEP");
  command->add_option("-o,--output", arguments->output, "Folder of the results (default: comparisons/NAME)")
      ->type_name("DIR");
  command->add_flag("--keep-trajectory", arguments->keep, "Keep the recorded states");
  command->add_flag("-q,--quiet", arguments->quiet, "No progress");
  command->add_option("--replay", arguments->replay)->hide();
  command->footer(
      "Exit code 0: every method converged in every step and found the reference's minimiser within 3 x "
      "accuracy in 99% of them;\n"
      "2: some did not; 1: usage or scene error.\n"
      "Example:  lope compare flagship --methods newton,newton-pcg,gast15 --steps 40");
  command->rehearse([arguments] { return look_at(*arguments); });
  command->callback([arguments, &status] {
    status = arguments->replay.empty() ? compare(*arguments) : replay(*arguments);
  });
}

}  // namespace lope::program
