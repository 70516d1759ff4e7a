#include <cstdio>

#include <fmt/core.h>

#include <lope/base/terminal.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>
#include <papers/benchmarks.h>

#include "commands.h"

namespace lope::program {
namespace {

int run_benchmark(const std::string& name, bench::BenchOptions options) {
  for (const bench::Benchmark& benchmark : bench::benchmarks()) {
    if (benchmark.name != name) continue;
    options.folder /= name;
    options.scenes = scene_folder();
    if (const auto made = io::make_directory(options.folder); !made) return complain(made.error());
    std::string transcript;
    const bool terminal = is_terminal(stderr);
    Stopwatch since_progress;
    const auto clear_progress = [terminal] {
      if (terminal) fmt::print(stderr, "\r\x1b[K");
    };
    options.progress = [&](std::string_view line) {
      if (!terminal || since_progress.seconds() < 1) return;
      since_progress = {};
      fmt::print(stderr, "\r{}\x1b[K", line);
    };
    options.print = [&](std::string_view line) {
      clear_progress();
      fmt::print("{}\n", line);
      std::fflush(stdout);
      transcript += line;
      transcript += '\n';
    };
    const auto done = benchmark.run(options);
    clear_progress();
    if (!done) return complain(done.error());
    if (const auto written = io::write_file(options.folder / "table.txt", transcript); !written) return complain(written.error());
    fmt::print("table and figures in {}\n", options.folder.string());
    return Done;
  }
  return complain({fmt::format("there is no benchmark '{}'; `lope bench` lists them", name), Trouble::Input});
}

void list_benchmarks() {
  for (const bench::Benchmark& benchmark : bench::benchmarks()) fmt::print("{:12} {}\n", benchmark.name, benchmark.shows);
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Tables and figures of the papers; without a name, the list");
  auto name = std::make_shared<std::string>();
  auto options = std::make_shared<bench::BenchOptions>();
  options->folder = "bench_results";
  command->add_option("name", *name, "Benchmark");
  command->add_option("-o,--output", options->folder, "Folder of the results")->type_name("DIR");
  command->add_option("--mesh", options->mesh, "Mesh file in place of the generated mesh")->type_name("FILE");
  command->add_option("--size", options->size, "Resolution (meaning depends on the benchmark)")->check(positive);
  command->add_option("--steps", options->steps, "Number of steps")->check(positive);
  command->add_option("--only", options->only, "Only these tables or scenes of a benchmark that has several")
      ->delimiter(',')
      ->type_name("NAME,…");
  command->add_option("--methods", options->methods, "Methods to compare where a benchmark compares several")
      ->delimiter(',')
      ->type_name("NAME,…");
  command->callback([=, &status] {
    if (name->empty()) {
      list_benchmarks();
    } else {
      status = run_benchmark(*name, *options);
    }
  });
}

}  // namespace lope::program
