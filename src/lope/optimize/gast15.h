// The stabilised Newton–CG of OPT §3.1 (Gast et al. 2015).
//
// Raw Hessian; CG from zero that stops at negative curvature; a safeguarded downhill direction; a clamp on
// its length; a strong-Wolfe line search that tries the full step first; projection onto the feasible set
// after the step.
// Deviations: CG's relative tolerance is min(½, √(‖g‖/‖g₀‖)), free of units; CG is preconditioned by block
// Jacobi; the downhill test and its fallback, steepest descent, use the preconditioner's metric with κ =
// 10⁻⁴, because the paper's Euclidean κ = 10⁻² rejects good Newton directions of stiff bodies, whose angle to
// −∇E is nearly a right one, and then crawls along −∇E. `as_printed` takes all three as in the paper: min(½,
// σ√max(‖g‖, τ)) with σ = 1 and τ the tolerance, no preconditioner, ‖Δx‖‖∇E‖ with κ = 10⁻².
// A descent that got stuck in contact (Objective::settle) goes on with backtracking, which steps over kinks.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/descent.h>

#include <vector>

namespace lope::optimize {

struct Gast15Options {
  bool as_printed = false;
  double length_clamp = 1e3;  // ℓ, metres
};

class Gast15 final : public Minimizer {
 public:
  explicit Gast15(const Gast15Options& options = {}) : gast_(options) {}
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;

 private:
  class Run;
  Gast15Options gast_;
  linalg::BlockJacobi jacobi_;
  linalg::Identity identity_;
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  std::vector<double> right_, error_;
};

}  // namespace lope::optimize
