// Newton's method with the projected Hessian and an Armijo line search (PN of DOT §2; NUMERICS §4).
//
// Direction: H d = −∇E with H made positive definite element by element, solved
// - Direct: by sparse Cholesky (`newton`), or
// - Iterative: by block-Jacobi CG to the relative tolerance min(½, √(‖g‖/‖g₀‖)) (`newton-pcg`, inexact
// Newton). Deviations from PN as the papers use it:
// - Within one minimisation a factor is kept as CG's preconditioner for later iterates, and renewed when CG
// needs
//   more than a few iterations. It is not kept from one
//   minimisation to the next: the result would then depend on more than the state of the simulation.
// - With the displacement test, the estimate of the remaining displacement comes from the *raw* Hessian; when
// it
//   is trustworthy it is also the search direction, which restores quadratic convergence where projection
//   spoils it.
#pragma once

#include <lope/linalg/cholesky.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/minres.h>
#include <lope/linalg/rounded_matrix.h>
#include <lope/optimize/approximate_inverse.h>
#include <lope/optimize/descent.h>

#include <vector>

namespace lope::optimize {

enum class LinearSolver { Direct, Iterative };

struct ProjectedNewtonOptions {
  LinearSolver solver = LinearSolver::Direct;
  // Of the iterative solver; renewed in every iteration, or only in the first.
  InverseOptions preconditioner = {.kind = InverseKind::BlockJacobi};
  bool renew_always = true;
  // CG multiplies by a copy of the Hessian in single precision when it looks for a direction.
  bool rounded_products = true;
};

class ProjectedNewton final : public Minimizer {
 public:
  explicit ProjectedNewton(const ProjectedNewtonOptions& options)
      : newton_(options), inverse_(options.preconditioner) {}
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;

 private:
  class Run;
  ProjectedNewtonOptions newton_;
  linalg::Cholesky cholesky_;
  ApproximateInverse inverse_;
  bool factor_ready_ = false;
  linalg::RoundedMatrix rounded_;
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  std::vector<double> error_, right_;
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
