// Newton's method with the projected Hessian and an Armijo line search (PN of DOT §2; NUMERICS §4).
//
// Direction: H d = −∇E with H made positive definite element by element, solved
// - Direct: by sparse Cholesky (`newton`), or
// - Iterative: by preconditioned CG to the relative tolerance min(0.1, √(‖g‖/‖g₀‖)) (inexact Newton), with block
//   Jacobi (`newton-pcg`) or a two-level preconditioner (`dot`). With ½ in place of 0.1 (NUMERICS §3) there are twice
//   as many iterations, each with its Hessian, and friction may take hundreds.
// Deviations from PN as the papers use it:
// - A factor is kept as CG's preconditioner for later iterates and renewed when CG needs more than
//   `kept_iterations`; another preconditioner is kept, unless `renew_always`, until a solve takes more than
//   `slow_iterations`. With `keep_between` it also serves the next minimisations (Minimizer::kept).
// - Where CG only looks for a direction, it multiplies by a single-precision copy of the Hessian.
// - With the displacement test, the estimate of the remaining displacement comes from the *raw* Hessian; when
//   it is trustworthy it is also the search direction, which restores quadratic convergence where projection
//   spoils it; unless the last such direction went much too far.
// - Direct, where the objective says that it buckles (cloth): every iteration makes a factor of its own, because one of another
//   iterate is a poor preconditioner and, of a sheet, costs no more than a few products with it. And only as much is
//   projected as the factor needs to exist: the elements' part of the Hessian is raw + t (projected − raw), t a tenth less after every
//   step that was not cut short, doubled when the matrix is not positive definite or the step was. What grows into
//   a wrinkle is what projection makes stiffer than it is (docs/benchmarks/cloth.md).
// - Where constraints decide what is free, a direction is corrected for those that are active where it leads.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/minres.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/optimize/approximate_inverse.h>
#include <lope/optimize/descent.h>
#include <lope/optimize/hessian_operator.h>

#include <vector>

namespace lope::optimize {

enum class LinearSolver { Direct, Iterative };

struct ProjectedNewtonOptions {
  LinearSolver solver = LinearSolver::Direct;
  InverseOptions inverse = {.kind = InverseKind::Cholesky};  // Direct needs Cholesky
  int kept_iterations = 6;    // Direct: 0 makes a new factor for every iteration
  bool renew_always = false;  // Iterative
  bool rounded_products = true;
  int slow_iterations = 16;  // Iterative
  bool keep_between = false;
  // Iterative, with block Jacobi: no matrix is ever assembled, products and diagonal blocks come from the objective. `inverse`
  // and rounded_products do not count then.
  bool matrix_free = false;
  // Direct, where the objective buckles.
  bool projects_partly = true;
};

class ProjectedNewton final : public Minimizer {
 public:
  explicit ProjectedNewton(const ProjectedNewtonOptions& options)
      : newton_(options), inverse_(options.inverse) {}
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;
  KeptModelPtr kept() const override { return kept_; }
  void recall(Objective& objective, const KeptModelPtr& kept) override;
  // Of the Hessian that the last model was made of; 0: there was none.
  std::uint64_t pattern_id() const { return inverse_.pattern_id(); }

 private:
  class Run;
  ProjectedNewtonOptions newton_;
  KeptModelPtr kept_;  // what inverse_ is made of, if that may outlast the minimisation
  ApproximateInverse inverse_;
  bool inverse_ready_ = false;
  std::vector<double> held_;      // Objective::choices() of the Hessian that inverse_ is made of
  linalg::BlockJacobi diagonal_;  // without a matrix
  linalg::RoundedMatrix rounded_;
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  std::vector<double> error_, right_;
  std::vector<double> way_, left_, start_;  // Objective::revise
};

// Plain Newton: raw Hessian, full steps, nothing to stop it from diverging (OPT §2, kept because OPT's Figs.
// 1–4 show where it fails). It solves ∇E = 0: a saddle counts as converged. The symmetric, possibly
// indefinite systems are solved by MINRES to 10⁻⁶.
class PlainNewton final : public Minimizer {
 public:
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;

 private:
  linalg::BlockJacobi jacobi_;
  linalg::Minres minres_;
  std::vector<double> gradient_, direction_;
};

}  // namespace lope::optimize
