// The truncated non-smooth Newton multigrid (Gräser & Kornhuber 2009; NUMERICS §8) for matrices whose grid is
// not known.
//
// One cycle: projected Gauss–Seidel sweeps; a linear coarse correction of the rows that are free after them,
// with the prolongation truncated at the others (linalg::AlgebraicMultigrid); projection on p_S ≥ 0; the
// exact step along what is left of the correction, at most 1, so that the objective never rises; projected
// Gauss–Seidel sweeps in the other order.
//
// Deviations from NUMERICS §8: the hierarchy is algebraic, and there is no full-multigrid start (a coarse
// aggregate has no bound of its own).
#pragma once

#include <lope/linalg/algebraic_multigrid.h>
#include <lope/linalg/gauss_seidel.h>
#include <lope/optimize/complementarity/problem.h>

namespace lope::optimize::complementarity {

class AlgebraicTruncated final : public MatrixLcpSolver {
 public:
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  linalg::AlgebraicMultigrid hierarchy_;
  linalg::GaussSeidel sweeps_;
};

}  // namespace lope::optimize::complementarity
