#include "bench_arguments.h"

#include "../lope/commands.h"

namespace lope::program {

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names;
  for (const bench::Benchmark& benchmark : bench::benchmarks()) names.emplace_back(benchmark.name);
  names.emplace_back("papers");
  return names;
}

void BenchArguments::add_to(Arguments& app) {
  options.folder = "bench_results";
  app.add_option("name", name, "Benchmark, or `papers`")->suggest(benchmark_names);
  app.add_option("paper", paper, "Of `papers`: opt, dot, hot, cloth or lcp");
  app.add_flag("--markdown", markdown, "Of `papers`: as the tables of docs/benchmarks/README.md");
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
  app.add_flag("--describe", describe, "What this program says of itself, for `lope completion`")->hide();
}

}  // namespace lope::program
