// MINRES for symmetric, possibly indefinite A x = b with a positive definite preconditioner, started at x = 0
// (Paige & Saunders 1975; preconditioned as in Elman, Silvester & Wathen 2014, Alg. 4.1). Minimises the residual in
// the preconditioner's norm ‖r‖ = √(rᵀM⁻¹r) over the Krylov space.
#pragma once

#include <lope/linalg/conjugate_gradient.h>

#include <vector>

namespace lope::linalg {

struct MinresSummary {
  bool converged = false;
  int iterations = 0;
  double relative_residual = 1;
};

// Keeps its work vectors between solves.
class Minres {
 public:
  // `space`: where b and x live.
  MinresSummary solve(const Space& space, const LinearOperator& a, Preconditioner& m, ConstVector b, Vector x,
                      const CgOptions& options);

 private:
  std::vector<double> v_, previous_v_, next_v_, z_, next_z_, w_, previous_w_, next_w_;
};

}  // namespace lope::linalg
