// What the tables of `lope bench lcp` share: lines, files of numbers, and which solvers and sizes are wanted.
#pragma once

#include <lope/base/errors.h>
#include <lope/matter/liquid/pressure_system.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <papers/benchmarks.h>
#include <papers/lcp_contenders.h>
#include <papers/lcp_scenarios.h>

namespace lope::bench {

namespace lcp = optimize::complementarity;

constexpr int default_size_3d = 128, default_size_2d = 256, smallest_size = 32;

inline std::string_view outcome_mark(const lcp::LcpSummary& summary) {
  return summary.converged() ? "" : "*";
}

// Lines of cells of equal width, the first column wider.
class TextTable {
 public:
  explicit TextTable(const BenchOptions& options) : options_(options) {}
  void row(std::string_view head, const std::vector<std::string>& cells) const {
    std::string line = fmt::format("{:<14}", head);
    for (const std::string& cell : cells) line += fmt::format("{:>17}", cell);
    options_.print(line);
  }

 private:
  const BenchOptions& options_;
};

// All numbers of a table, for other programs.
class NumberFile {
 public:
  NumberFile(const std::filesystem::path& path, std::string_view head) : out_(path) { out_ << head << '\n'; }
  void add(const std::string& line) { out_ << line << '\n' << std::flush; }

 private:
  std::ofstream out_;
};

// --methods, or these.
Expected<std::vector<const LcpContenderInfo*>> chosen_contenders(const BenchOptions& options,
                                                                 std::vector<std::string> names);
std::vector<std::string> heads(const std::vector<const LcpContenderInfo*>& contenders);
// 32, 64, …
std::vector<int> sizes_up_to(int largest);

template <int Dim>
int largest_size(const BenchOptions& options) {
  return options.size > 0 ? options.size : Dim == 2 ? default_size_2d : default_size_3d;
}
template <int Dim>
LcpCase<Dim> static_case(LcpScenario scenario, int n, LcpVelocity velocity, double phase = 0) {
  return LcpCase<Dim>(matter::PressureSystem<Dim>(lcp_problem<Dim>(scenario, n, velocity, phase), {}));
}

template <int Dim>
bool worth_waiting(const LcpContenderInfo& info, int n) {
  return n <= (Dim == 2 ? info.largest_2d : info.largest_3d);
}

}  // namespace lope::bench
