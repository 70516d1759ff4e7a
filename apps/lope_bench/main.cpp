// `lope bench`: the tables and figures of the papers. A program of its own, started by `lope` beside it.
#include <lope/base/paths.h>
#include <lope/base/terminal.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>

#include <algorithm>
#include <cstdio>

#include "../lope/commands.h"
#include <fmt/core.h>
#include <papers/benchmarks.h>

namespace lope::program {
namespace {

int run_benchmark(const std::string& name, bench::BenchOptions options) {
  for (const bench::Benchmark& benchmark : bench::benchmarks()) {
    if (benchmark.name != name) continue;
    options.folder /= name;
    options.scenes = scene_folder();
    options.program = executable_path().parent_path() / "lope";
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
    if (const auto written = io::write_file(options.folder / "table.txt", transcript); !written)
      return complain(written.error());
    fmt::print("table and figures in {}\n", options.folder.string());
    return Done;
  }
  return Done;
}

void list_benchmarks() {
  for (const bench::Benchmark& benchmark : bench::benchmarks())
    fmt::print("{:12} {}\n", benchmark.name, benchmark.shows);
}

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names;
  for (const bench::Benchmark& benchmark : bench::benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

void add_options(Arguments& app, std::string& name, bench::BenchOptions& options) {
  options.folder = "bench_results";
  app.add_option("name", name, "Benchmark")->suggest(benchmark_names);
  app.add_option("-o,--output", options.folder, "Folder of the results")->type_name("DIR");
  app.add_option("--mesh", options.mesh, "Mesh file in place of the generated mesh")->type_name("FILE");
  app.add_option("--size", options.size, "Resolution (meaning depends on the benchmark)")->check(positive);
  app.add_option("--steps", options.steps, "Number of steps")->check(positive);
  app.add_option("--perturbations", options.perturbations,
                 "Run every case so many times, slightly changed, and count the ends (torture)")
      ->check(positive);
  app.add_option("--only", options.only, "Only these tables or scenes of a benchmark that has several")
      ->delimiter(',')
      ->type_name("NAME,…");
  app.add_option("--methods", options.methods, "Methods to compare where a benchmark compares several")
      ->delimiter(',')
      ->type_name("NAME,…")
      ->suggest(method_names);
}

bool is_known(const std::string& name) {
  const auto names = benchmark_names();
  return name.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

int unknown(const std::string& name) {
  return complain({fmt::format("there is no benchmark '{}'; `lope bench` lists them", name), Trouble::Input});
}

// A rehearsal: what is wrong with the arguments. What --only means is the benchmark's own.
int look_at(const std::string& name, const bench::BenchOptions& options) {
  if (!is_known(name)) return unknown(name);
  const auto known = method_names();
  for (const std::string& method : options.methods) {
    if (name == "lcp" || std::find(known.begin(), known.end(), method) != known.end()) continue;
    return complain({fmt::format("there is no method '{}'", method), Trouble::Input});
  }
  return Done;
}

int bench_program(int argc, char** argv) {
  CommandLine app{"Tables and figures of the papers; without a name, the list", "lope bench"};
  std::string name;
  bench::BenchOptions options;
  bool describe = false;
  add_options(app, name, options);
  app.add_flag("--describe", describe, "What this program says of itself, for `lope completion`")->hide();
  return app.parse_and_run(argc, argv, [&] {
    if (describe) {
      fmt::print("{}\n", to_json(app.describe()));
      return static_cast<int>(Done);
    }
    if (app.rehearses()) return look_at(name, options);
    if (!is_known(name)) return unknown(name);
    if (!name.empty()) return run_benchmark(name, options);
    list_benchmarks();
    return static_cast<int>(Done);
  });
}

}  // namespace
}  // namespace lope::program

int main(int argc, char** argv) { return lope::program::bench_program(argc, argv); }
