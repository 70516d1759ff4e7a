// ADMM-PD (Overby, Brown, Li, Narain 2017, "ADMM ⊇ Projective Dynamics"; a rival of DOT §5): the deformation
// gradients z = Dx are unknowns of their own, tied to x by multipliers u (scaled by the weights). One
// iteration
//   z ← argmin Σ φ_e(z_e) + ½w_e|Dx + u − z|²_e      every element on its own, in principal stretches
//   u ← u + Dx − z
//   x ← argmin Q(x) + ½|Dx − z + u|²_W                one back-substitution with a matrix that never changes
// The matrix is Hess Q + DᵀWD = L ⊗ I, factorised once per pattern, step length and set of fixed nodes
// (Objective::scalar_model).
//
// Deviations: weights are w = V(2μ + λ), those of the scalar model that LBFGS-PD uses as well (the authors
// take the bulk modulus); where Q has a stiffness damping term the matrix only bounds its Hessian, which
// makes the x-step an inexact one. There is no line search and E need not fall: the result is the iterate of
// the smallest gradient.
//
// ADMM converges fast at first and then slowly; tight accuracies usually end at the iteration limit and are
// reported as not reached. With the displacement test the remaining displacement is estimated by CG
// (stopping.h) once an iteration moves no node by more than the accuracy; while it does, that movement is the
// recorded measure.
#pragma once

#include <lope/linalg/cholesky.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/minimizer.h>
#include <lope/optimize/split_objective.h>

#include <cstdint>
#include <vector>

namespace lope::optimize {

class AdmmPd final : public Minimizer {
 public:
  // Fails (Outcome::Failed) on objectives that have no split() or no scalar_model().
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;

 private:
  class Run;
  bool factorize(Objective& objective);
  void solve_globally(int block_size);

  linalg::Cholesky factor_;
  std::uint64_t factor_pattern_ = 0, factor_version_ = 0;
  bool factor_ready_ = false;
  linalg::BlockJacobi jacobi_;
  linalg::ConjugateGradient cg_;
  std::vector<double> reduced_, target_, local_, multiplier_;  // Dx, Dx + u, z, u
  std::vector<double> gradient_, right_, step_, best_;         // vectors like x
  std::vector<double> component_right_, component_step_;       // of one coordinate
};

}  // namespace lope::optimize
