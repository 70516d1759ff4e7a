// Nonlinear full multigrid as a line-search method (CLOTH §4.2; NUMERICS §7): corrections found on coarse levels are search
// directions of the original problem. Nothing is ever discretised on a coarse level: matrices are Galerkin products of the
// projected Hessian (linalg/block_multigrid.h), residuals are restrictions of the gradient.
//
// Of the corrections of a full multigrid cycle (full_multigrid.h) each is applied to the iterate with a line search of its own, after which the
// gradient is computed anew. The matrices are renewed for every correction, once per cycle (the paper's choice) or once per minimisation (§4.2.1,
// Fig. 6). Sweeps may be accelerated by Chebyshev's weights or adaptive (§4.3; linalg/block_multigrid.h). Before each line search the sign of the slope is
// looked at: a correction that is not one of descent is found again with plain sweeps, and then a V-cycle over all levels takes its place.
//
// Deviations from the paper:
// - The stopping tests are those of all minimisers (stopping.h), not a number of cycles. With the displacement test a cycle
//   begins with a V-cycle, whose size tells whether the end may be near; then the remaining displacement is estimated with
//   the raw Hessian by CG, preconditioned with the V-cycle. While the test does not hold, a trustworthy estimate is the next
//   direction (`newton_near_the_end`; see lbfgs.h, which does the same).
// - Step lengths of line searches are remembered per kind of correction within a minimisation; steps may be lengthened.
// - With the displacement test a direction of negative curvature that the estimate meets is followed.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/descent.h>
#include <lope/optimize/full_multigrid.h>

#include <vector>

namespace lope::optimize {

struct NonlinearMultigridOptions {
  enum class Matrix { EveryCorrection, EveryCycle, Once };
  Matrix matrix = Matrix::EveryCycle;
  using Residual = FullMultigrid::Residual;
  Residual residual = Residual::LastCycle;
  int sweeps = 3;
  linalg::SmootherOptions smoother = {};
  bool remembers_steps = true;      // otherwise line searches begin at 1
  bool newton_near_the_end = true;  // otherwise the estimate only decides
  bool single_precision = true;     // of the cycle
};

class NonlinearMultigrid final : public Minimizer {
 public:
  explicit NonlinearMultigrid(const NonlinearMultigridOptions& options = {});
  MinimizerSummary minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) override;
  // Of the rows that were to be smoothed in the last minimisation, the part that was skipped.
  double skipped() const { return skipped_; }

 private:
  class Run;
  NonlinearMultigridOptions options_;
  FullMultigrid cycle_;
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  double skipped_ = 0;
  std::vector<double> residual_;
  std::vector<double> error_;
};

}  // namespace lope::optimize
