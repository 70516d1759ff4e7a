// `lope bench`: the tables and figures of the papers. A program of its own, started by `lope` beside it.
#include <lope/base/paths.h>
#include <lope/base/terminal.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>

#include <algorithm>
#include <cstdio>

#include "../lope/commands.h"
#include "bench_arguments.h"
#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/paper_list.h>

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
  fmt::print("{:12} {}\n", "papers",
             "every table and figure of the five papers: its command, what it needs, what is recorded (opt, "
             "dot, hot, cloth, lcp; "
             "--markdown)");
}

int list_papers(const std::string& paper, bool markdown) {
  const auto names = bench::paper_names();
  if (!paper.empty() && std::find(names.begin(), names.end(), paper) == names.end()) {
    return complain({fmt::format("there is no paper '{}'; there are opt, dot, hot, cloth and lcp", paper),
                     Trouble::Input});
  }
  const auto entries = bench::read_paper_list(bench::paper_list_file());
  if (!entries) return complain(entries.error());
  fmt::print("{}", markdown ? bench::paper_markdown(*entries, paper) : bench::paper_text(*entries, paper));
  return Done;
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
  BenchArguments arguments;
  arguments.add_to(app);
  return app.parse_and_run(argc, argv, [&] {
    const std::string& name = arguments.name;
    if (arguments.describe) {
      fmt::print("{}\n", to_json(app.describe()));
      return static_cast<int>(Done);
    }
    if (name != "papers" && (!arguments.paper.empty() || arguments.markdown))
      return complain({"a second name and --markdown belong to `lope bench papers`", Trouble::Input});
    if (app.rehearses()) return look_at(name, arguments.options);
    if (name == "papers") return list_papers(arguments.paper, arguments.markdown);
    if (!is_known(name)) return unknown(name);
    if (!name.empty()) return run_benchmark(name, arguments.options);
    list_benchmarks();
    return static_cast<int>(Done);
  });
}

}  // namespace
}  // namespace lope::program

int main(int argc, char** argv) { return lope::program::bench_program(argc, argv); }
