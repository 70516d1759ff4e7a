// The arguments of `lope bench`.
#pragma once

#include <string>
#include <vector>

#include "../lope/arguments.h"
#include <papers/benchmarks.h>

namespace lope::program {

// Of the benchmarks, and "papers".
std::vector<std::string> benchmark_names();

struct BenchArguments {
  std::string name;   // of a benchmark, or "papers"
  std::string paper;  // of `papers`: one of them
  bool markdown = false;
  bool describe = false;
  bench::BenchOptions options;

  void add_to(Arguments& app);
};

}  // namespace lope::program
