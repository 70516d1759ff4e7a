// `lope bench validation`: every check of validation_cases.cpp as a table, and how many of them hold.
#include <lope/base/timer.h>
#include <lope/io/file.h>

#include <algorithm>
#include <string>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/validation.h>

namespace lope::bench {

Expected<void> validation(const BenchOptions& options) {
  std::string page = "# Whole runs against theory\n";
  int good = 0, all = 0;
  for (const CheckGroup& group : check_groups()) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), group.name) == options.only.end())
      continue;
    options.progress(fmt::format("{} …", group.name));
    const Stopwatch watch;
    const std::vector<Check> checks = group.run(options.size > 0);
    const double seconds = watch.seconds();
    std::string text = fmt::format("\n## {}\n\n{}\n\n| what | setting | measured | expected | error | allowed | |\n"
                                   "|---|---|---:|---:|---:|---:|---|\n",
                                   group.name, group.theory);
    for (const Check& check : checks) {
      text += fmt::format("| {} | {} | {:.5g} {} | {:.5g} {} | {:.2f} % | {:.0f} % | {} |\n", check.what, check.setting,
                          check.measured, check.unit, check.expected, check.unit, 100 * check.error(),
                          100 * check.allowed,
                          check.good()             ? "holds"
                          : check.unconverged > 0 ? fmt::format("{} steps not converged", check.unconverged)
                                                  : "**does not hold**");
      ++all;
      good += check.good() ? 1 : 0;
    }
    text += fmt::format("\n{:.0f} s.\n", seconds);
    options.print(text);
    page += text;
  }
  const std::string total = fmt::format("\n{} of {} hold.\n", good, all);
  options.print(total);
  return io::write_file(options.folder / "validation.md", page + total);
}

}  // namespace lope::bench
