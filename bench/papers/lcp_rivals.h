// Solvers of other projects on the same matrices. They run as programs of their own (bench/rivals), because
// they bring MPI.
#pragma once

#include <lope/base/expected.h>
#include <lope/optimize/complementarity/problem.h>

#include <filesystem>
#include <span>
#include <string_view>

namespace lope::bench {

struct RivalResult {
  double setup_seconds = 0;  // 0 if the rival does not tell it apart
  double solve_seconds = 0;
  int iterations = 0;
  double residual = 0;
};

// A solver of another project that `lope bench lcp` can run as a program of its own under mpirun.
struct Rival {
  std::string_view name;
  std::string_view program;
  std::string_view package;  // where to get it
  bool linear = false;       // sees no bounds: A p = −b
};
std::span<const Rival> lcp_rivals();

// The problem to a largest residual of `tolerance`, cold start. An error says that the rival was not built or
// could not run. `folder` takes temporary files.
Expected<RivalResult> rival_solve(const Rival& rival, const optimize::complementarity::MixedLcp& problem,
                                  double tolerance, int ranks, const std::filesystem::path& folder);

}  // namespace lope::bench
