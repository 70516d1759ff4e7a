// L-BFGS with an initialiser: limited-memory BFGS (Nocedal & Wright 2006, Alg. 7.4) in which an approximate inverse D
// of the Hessian, built once per minimisation, stands between the two loops (DOT §4.1, Alg. 1; HOT Alg. 3).
//
// Which D makes which method: Cholesky factor LBFGS-H, scalar Laplacian LBFGS-PD, subdomains DOT, and so on
// (approximate_inverse.h). D is taken at options.reference, the beginning of the time step in a simulation.
// - A pair with yᵀs ≤ 10⁻¹² |y||s| is skipped. If the direction is not one of descent the history is dropped; if −D∇E is
//   not one either, which only the one-sided weighting of subdomains allows, D is replaced by block Jacobi until it is
//   renewed.
// - The line search starts at max(0.1, −pᵀ∇E / pᵀHp), H the projected Hessian that D was made from (DOT eq. 14);
//   `quadratic_first_step = false` starts at 1. Deviation: not below the last step that was found, or 1, whichever is
//   less. Where H has become too stiff a model, every search would lengthen its step again from 0.1.
// - After `renew_after` iterations D is built anew at the iterate and the history is dropped: where a step goes far, a
//   model from its beginning may be of no use. Deviation from the papers.
// - D is not kept for the next minimisation (see newton.h); `keep_between` does so, for comparisons, where the objective
//   allows it.
// - With the displacement test a short direction only says that the end may be near; the test itself is a CG solve with
//   the raw Hessian at the iterate, preconditioned by D (stopping.h). While it does not hold, its result is the next
//   direction, a Newton direction: deviation from the papers.
// - `as_printed` takes two of the deviations back: the line search starts at eq. 14 and only backtracks, and the solve of
//   the displacement test decides but gives no direction.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/approximate_inverse.h>
#include <lope/optimize/descent.h>

#include <optional>
#include <vector>

namespace lope::optimize {

struct LbfgsOptions {
  InverseOptions inverse;
  int window = 5;  // pairs kept
  bool quadratic_first_step = true;
  int renew_after = 30;       // iterations with one D (0: as many as it takes, as printed)
  bool as_printed = false;
  bool keep_between = false;  // D for the next minimisation, while that takes no more than twice the iterations
};

// DOT with every setting that Li et al. 2019 print: METIS parts of the elements, six of them (§5.4: as many as cores, six
// in the paper's main experiments; never this machine's, because results may not depend on it), exact factors in double
// precision at xₙ once per time step (eq. 12), D = B Sᵀ diag(H_j⁻¹) S with B = 1/multiplicity (eq. 10, 13), no coarse space,
// m = 5 pairs (§4.1), and as_printed. H is the projected Hessian, as in the published program. The initial guess and the
// test of eq. 15 are settings of the scene (`start = "inertia"`, `tolerance = "characteristic"`), not of the method. Left of
// our own: CHOLMOD's ordering is replaced by ours, which only changes rounding; pairs without positive curvature are
// skipped, and a D that gives no descent is replaced (above), of which the paper says nothing.
LbfgsOptions dot_as_printed();

// HOT (Wang et al. 2020, Alg. 3): eight pairs, one V-cycle of the projected Hessian at the start of the step between the two
// loops, line searches that start at 1. Deviations: those above, and a coarsest level that is factorised where it is small
// (linalg/block_multigrid.h).
LbfgsOptions hot_options();

class Lbfgs final : public Minimizer {
 public:
  explicit Lbfgs(const LbfgsOptions& options) : lbfgs_(options), inverse_(options.inverse) {}
  MinimizerSummary minimize(Objective& objective, std::span<double> x,
                            const MinimizerOptions& options) override;
  KeptModelPtr kept() const override { return kept_; }
  void recall(Objective& objective, const KeptModelPtr& kept) override;

 private:
  class Run;
  struct Pair {
    std::vector<double> s, y;  // differences of iterates and of gradients
    double ys = 0;             // yᵀs
  };
  bool build(Objective& objective, MinimizerTimings& timings);

  LbfgsOptions lbfgs_;
  KeptModelPtr kept_;  // what D is made of, if that may outlast the minimisation
  ApproximateInverse inverse_;
  bool inverse_ready_ = false;
  linalg::BlockJacobi jacobi_;
  std::optional<linalg::BlockMatrix> model_;  // H, for the first step of line searches
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  std::vector<Pair> pairs_;  // a ring
  std::vector<double> previous_x_, previous_gradient_, vector_;
};

}  // namespace lope::optimize
