// Projected Gauss–Seidel and projected over-relaxation (Cryer 1971): sweeps that set every row right in turn
// and put negative numbers of S back to zero. For 0 < ω < 2 the objective never rises.
//
// ω = 0 finds a good one on the way: every phase of sweeps estimates the largest eigenvalue μ of Jacobi's
// iteration from the ratio λ of successive changes, (λ + ω − 1)² = λ ω² μ² (Young 1954), and moves to ω =
// 2/(1 + √(1 − μ²)) (the adaptive procedure of Hageman & Young 1981, in a short form). Nobody has to tune it.
#pragma once

#include <lope/linalg/gauss_seidel.h>
#include <lope/optimize/complementarity/problem.h>

namespace lope::optimize::complementarity {

class ProjectedSor final : public MatrixLcpSolver {
 public:
  explicit ProjectedSor(double omega) : omega_(omega) {}
  // An iteration is a sweep; iterates are recorded every ten sweeps.
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  double omega_;
  linalg::GaussSeidel sweeps_;
};

}  // namespace lope::optimize::complementarity
