// Preconditioned conjugate gradients for A x = b, started at x = 0.
//
// As OPT §3.1 uses it inside Newton's method: when a direction of negative curvature appears, the last
// iterate is returned (on the first iteration: the preconditioned right-hand side, which is the steepest
// descent direction in the preconditioner's metric; the paper has no preconditioner and returns b). Every
// returned x ≠ 0 then satisfies x·b > 0. Residuals are measured as √(rᵀM⁻¹r), relative to the start, unless
// an absolute tolerance is given.
#pragma once

#include <lope/linalg/preconditioner.h>
#include <lope/linalg/space.h>

#include <functional>
#include <vector>

namespace lope::linalg {

// y = A x.
using LinearOperator = std::function<void(ConstVector x, Vector y)>;

// Where CG is after an iteration.
struct CgProgress {
  int iteration = 0;  // from 1
  ConstVector x;
  double step = 0;                // α
  double before = 0, after = 0;   // rᵀM⁻¹r at its beginning and at its end
  double relative_residual = 1;   // √(rᵀM⁻¹r), relative to the start
  // By how much the squared A-norm of the error has fallen.
  double decrease() const { return step * before; }
};

// Called after every iteration; returns true to stop (the summary then says converged).
using CgMonitor = std::function<bool(const CgProgress& progress)>;

struct CgOptions {
  double relative_tolerance = 1e-8;
  // If positive: stop when no |r_i| is larger, and relative_tolerance is not used.
  double max_norm_tolerance = 0;
  int max_iterations = 10000;
  // Where a direction of negative curvature appears, the iterate returned has gone along it as far as if the curvature were
  // positive.
  bool follows_negative_curvature = false;
  CgMonitor monitor = {};  // if given, it decides and the tolerances are not used
};

struct CgSummary {
  bool converged = false;
  bool negative_curvature = false;
  int iterations = 0;
  double relative_residual = 1;
};

// Keeps its work vectors between solves.
class ConjugateGradient {
 public:
  // `space`: where b and x live.
  CgSummary solve(const Space& space, const LinearOperator& a, LinearInverse& m, ConstVector b, Vector x,
                  const CgOptions& options);

 private:
  std::vector<double> r_, z_, p_, ap_, previous_r_;
};

}  // namespace lope::linalg
