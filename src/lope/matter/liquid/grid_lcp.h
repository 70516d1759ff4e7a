// Complementarity problems from elsewhere whose rows are the cells of a grid, by the multigrid of the pressure.
//
// The multigrid solves the problem with its matrix rounded to single precision (pressure_system.h), rows divided by the largest
// coupling. What the rounding leaves above the tolerance, measured with the matrix as it was given, is taken away by the solver
// `auto` of complementarity/methods.h from there.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/bricks.h>
#include <lope/optimize/complementarity/problem.h>

#include <span>

namespace lope::matter {

// cells[i]: that of row i. As LcpSolver::solve, the problem being solvable; fails where the rows are not those of a grid
// (PressureSystem::from_matrix) or the cells lie too far apart. Residuals of the history are those of the divided rows.
template <int Dim>
Expected<optimize::complementarity::LcpSummary> solve_on_grid(
    const optimize::complementarity::MixedLcp& problem, std::span<const geometry::GridIndex<Dim>> cells,
    linalg::Vector p, const optimize::complementarity::LcpOptions& options);

extern template Expected<optimize::complementarity::LcpSummary> solve_on_grid<2>(
    const optimize::complementarity::MixedLcp&, std::span<const geometry::GridIndex<2>>, linalg::Vector,
    const optimize::complementarity::LcpOptions&);
extern template Expected<optimize::complementarity::LcpSummary> solve_on_grid<3>(
    const optimize::complementarity::MixedLcp&, std::span<const geometry::GridIndex<3>>, linalg::Vector,
    const optimize::complementarity::LcpOptions&);

}  // namespace lope::matter
