// Non-smooth Newton on the minimum map (Andersen, Niebe & Erleben 2017): H_i(p) = min(p_i, (Ap+b)_i) on S,
// (Ap+b)_i elsewhere; a generalised derivative takes the row of the identity where p_i is the smaller one and
// the row of A elsewhere. The Newton direction is searched by halving with Armijo's rule on θ = ½‖H‖²,
// projected on p_S ≥ 0.
//
// Deviations: the derivative's system is solved in its symmetric reduced form by preconditioned CG (the
// authors use GMRES or CG without preconditioner: choose MaskedJacobi for that), to 10⁻² of the residual;
// where the line search stalls, ten projected Gauss–Seidel sweeps take the place of the authors' gradient
// step.
#pragma once

#include <lope/linalg/gauss_seidel.h>
#include <lope/optimize/complementarity/masked_solver.h>

#include <memory>

namespace lope::optimize::complementarity {

class MinMapNewton final : public MaskedLcpSolver {
 public:
  explicit MinMapNewton(std::unique_ptr<linalg::MaskedInverse> inverse);
  // Inner iterations are CG iterations and evaluations of the line search together, as LCP §5 counts them.
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;

 private:
  linalg::GaussSeidel sweeps_;
};

}  // namespace lope::optimize::complementarity
