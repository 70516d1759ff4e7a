// Nonlinear full multigrid as a line-search method (CLOTH §4.2; NUMERICS §7): corrections found on coarse levels are search
// directions of the original problem. Nothing is ever discretised on a coarse level: matrices are Galerkin products of the
// projected Hessian (linalg/block_multigrid.h), residuals are restrictions of the gradient.
//
// A full multigrid cycle visits V-cycles of growing size, from the coarsest level alone to all levels (Fig. 2b). Which of their
// corrections are applied to the iterate one by one, each with its own line search, after which the gradient is
// computed anew, is the choice of §4.2.2 and Fig. 7:
// - EveryLevel: those of every smoothing on every level;
// - EveryCycle: those of every V-cycle;
// - LastCycle:  that of the smaller V-cycles together, then in the last, largest V-cycle those of its coarser half of levels and
//               of all levels (the paper's choice);
// - Never:      that of the whole full multigrid cycle (Newton's method with one linear cycle as solver).
// The matrices are renewed for every correction, once per cycle (the paper's choice) or once per minimisation (§4.2.1, Fig. 6).
// Smoothing is symmetric multi-colour Gauss–Seidel, so each of these directions but the sums of the linear full cycle is one of
// descent (Theorems 4.1, 4.2); the sign is looked at all the same, and a V-cycle over all levels takes its place.
//
// Deviations from the paper:
// - The stopping tests are those of all minimisers (stopping.h), not a number of cycles. With the displacement test a cycle
//   begins with a V-cycle, whose size tells whether the end may be near; then the remaining displacement is estimated with
//   the raw Hessian by CG, preconditioned with the V-cycle. While the test does not hold, a trustworthy estimate is the next
//   direction (`newton_near_the_end`; see lbfgs.h, which does the same).
// - Step lengths of line searches are remembered per kind of correction within a minimisation; steps may be lengthened.
// - Adaptive smoothing (§4.3) is not there: sweeps share work between their two halves and the residual (Eisenstat), which
//   rows that are skipped would spoil. High-order interpolation (of no use in the paper) is not there either.
#pragma once

#include <lope/linalg/block_multigrid.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/descent.h>

#include <vector>

namespace lope::optimize {

struct NonlinearMultigridOptions {
  enum class Matrix { EveryCorrection, EveryCycle, Once };
  Matrix matrix = Matrix::EveryCycle;
  enum class Residual { EveryLevel, EveryCycle, LastCycle, Never };
  Residual residual = Residual::LastCycle;
  int sweeps = 3;
  bool remembers_steps = true;      // otherwise line searches begin at 1
  bool newton_near_the_end = true;  // otherwise the estimate only decides
  bool single_precision = true;     // of the cycle
};

class NonlinearMultigrid final : public Minimizer {
 public:
  explicit NonlinearMultigrid(const NonlinearMultigridOptions& options = {});
  MinimizerSummary minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) override;

 private:
  class Run;
  NonlinearMultigridOptions options_;
  linalg::BlockMultigrid multigrid_;
  linalg::ConjugateGradient cg_;
  DescentWork work_;
  // Per level: right-hand side, correction, residual, a further correction.
  struct LevelWork {
    std::vector<double> f, x, r, c;
  };
  std::vector<LevelWork> levels_;
  std::vector<double> error_;
};

}  // namespace lope::optimize
