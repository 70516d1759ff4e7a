// Solvers that guess which rows of S separate, solve the linear system that follows, and guess again: policy
// iteration (LCP Alg. 1), the penalty method (LCP Alg. 2), and the plain linear solve without bounds ("No
// LCP").
//
// The linear systems are solved by conjugate gradients with any MaskedInverse: incomplete Cholesky, algebraic
// multigrid, or a multigrid that knows the grid.
//
// Deviations from the paper: the row's choice compares p_i with (Ap+b)_i / a_ii and not with (Ap+b)_i, which
// makes no difference after an exact solve and keeps the policies from cycling after an inexact one; inner
// solves are inexact by default (forcing), exact solves are kept as an option; the systems are solved for the
// change of p, so that a good start is worth its while.
#pragma once

#include <lope/optimize/complementarity/masked_solver.h>

#include <memory>
#include <vector>

namespace lope::optimize::complementarity {

struct PolicyOptions {
  // Inner solves stop at this part of the residual before them (at half the tolerance at the latest). 0: at
  // half the tolerance always, as printed.
  double forcing = 0.05;
};

class PolicyIteration final : public MaskedLcpSolver {
 public:
  PolicyIteration(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options = {});
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  PolicyOptions options_;
};

// (A + ρΠ) p = −b, Π the rows of S where p < 0; ρ = 10³/tolerance (the paper's 10⁹ at the default tolerance).
class PenaltyMethod final : public MaskedLcpSolver {
 public:
  PenaltyMethod(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options = {});
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  PolicyOptions options_;
};

// A p = −b; the summary's residual is the largest |(Ap + b)_i|.
class LinearSolve final : public MaskedLcpSolver {
 public:
  explicit LinearSolve(std::unique_ptr<linalg::MaskedInverse> inverse);
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;
};

}  // namespace lope::optimize::complementarity
