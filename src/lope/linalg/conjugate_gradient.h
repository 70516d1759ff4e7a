// Preconditioned conjugate gradients for A x = b, started at x = 0.
//
// As OPT §3.1 uses it inside Newton's method, it ends when a direction p of negative curvature appears. The paper then
// returns the last iterate (on the first iteration: b). Deviation: p is added, with the step length that its curvature
// would give if it were positive, because the last iterate alone leaves saddles very slowly (a collapsed body is one).
// p·b > 0, so every returned x ≠ 0 satisfies x·b > 0. Residuals are measured as √(rᵀM⁻¹r), relative to the start.
#pragma once

#include <lope/linalg/preconditioner.h>
#include <lope/linalg/space.h>

#include <functional>
#include <vector>

namespace lope::linalg {

// y = A x.
using LinearOperator = std::function<void(ConstVector x, Vector y)>;

// Called after every iteration with the number of iterations, the iterate, the decrease α rᵀM⁻¹r of the squared A-norm of
// the error in it, and √(rᵀM⁻¹r) relative to the start; returns true to stop (the summary then says converged).
using CgMonitor = std::function<bool(int iteration, ConstVector x, double decrease, double relative_residual)>;

struct CgOptions {
  double relative_tolerance = 1e-8;
  int max_iterations = 10000;
  CgMonitor monitor = {};  // if given, it decides and relative_tolerance is not used
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
  CgSummary solve(const LinearOperator& a, Preconditioner& m, ConstVector b, Vector x,
                  const CgOptions& options);

 private:
  std::vector<double> r_, z_, p_, ap_, previous_r_;
};

}  // namespace lope::linalg
