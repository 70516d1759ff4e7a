// The arguments of `lope bench`.
#pragma once

#include <string>

#include "../lope/arguments.h"
#include <papers/benchmarks.h>

namespace lope::program {

struct BenchArguments {
  std::string name;   // of a benchmark, or "papers"
  std::string paper;  // of `papers`: one of them
  bool markdown = false;
  bench::BenchOptions options;

  void add_to(Arguments& app);
};

}  // namespace lope::program
