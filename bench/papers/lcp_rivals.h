// Solvers of other projects on the same matrices. They run as programs of their own (bench/rivals), because
// they bring MPI.
#pragma once

#include <lope/base/expected.h>
#include <lope/optimize/complementarity/problem.h>

#include <filesystem>

namespace lope::bench {

struct RivalResult {
  double setup_seconds = 0;
  double solve_seconds = 0;
  int iterations = 0;
  double residual = 0;  // largest |(Ap + b)_i|
};

// A p = −b (no bounds) by hypre's conjugate gradients with BoomerAMG, to the same residual, on `ranks`
// processes under mpirun. An error says that the rival was not built or could not run. `folder` takes
// temporary files.
Expected<RivalResult> hypre_solve(const optimize::complementarity::MixedLcp& problem, int ranks,
                                  const std::filesystem::path& folder);

}  // namespace lope::bench
