// The truncated non-smooth Newton multigrid (Gräser & Kornhuber 2009; NUMERICS §8) for matrices whose grid is
// not known.
//
// One cycle: projected Gauss–Seidel sweeps; a linear coarse correction of the rows that are free after them,
// with the prolongation truncated at the others (linalg::AlgebraicMultigrid); projection on p_S ≥ 0; projected
// Gauss–Seidel sweeps in the other order. The step is the combination of what came of it and of the last step that
// conjugate gradients would take, projected, if the objective is then no higher than after the best step along the
// cycle's result alone, at most 1; otherwise that one: the objective never rises.
//
// Deviations from NUMERICS §8: the hierarchy is algebraic, or given, and there is no full-multigrid start (a coarse
// aggregate has no bound of its own).
#pragma once

#include <lope/linalg/algebraic_multigrid.h>
#include <lope/linalg/gauss_seidel.h>
#include <lope/optimize/complementarity/problem.h>

#include <utility>
#include <vector>

namespace lope::optimize::complementarity {

class AlgebraicTruncated final : public MatrixLcpSolver {
 public:
  explicit AlgebraicTruncated(const linalg::AmgOptions& options = {}) : hierarchy_(options) {}
  // Levels of the next problem in place of aggregates: AlgebraicMultigrid::set_matrix. Empty: aggregates.
  void use_levels(std::vector<linalg::CsrMatrix> prolongations) { prolongations_ = std::move(prolongations); }
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  linalg::AlgebraicMultigrid hierarchy_;
  linalg::GaussSeidel sweeps_;
  std::vector<linalg::CsrMatrix> prolongations_;
};

}  // namespace lope::optimize::complementarity
