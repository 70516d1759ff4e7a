// Modified proportioning with reduced gradient projections (Dostál & Schöberl 2005), the active-set conjugate
// gradient method that granular and splashing-liquid codes use (Narain et al. 2010, Gerszewski & Bargteil
// 2013): CG on the current face while its iterates stay feasible and the gradient at the bounds is small
// (proportional), a projected gradient step where they leave, a step along the chopped gradient where it is
// not. The objective decreases in every step.
//
// Symbols: g = Ap + b; φ the part of g on free rows; β the part at the bound that points inwards; Γ = 1;
// projected steps have length 1.9/‖A‖₁ ≤ 2/‖A‖₂.
//
// Deviation: where a CG step leaves the feasible set, the whole step is projected first (the projected CG
// step of Kružík et al. 2020), and only if that does not lower the objective the original expansion is taken.
// It changes more of the face at once, which counts where the preconditioner has to follow.
//
// Preconditioned on the face (Dostál, Domorádová & Sadowská 2011) with any MaskedInverse, which follows the
// face.
#pragma once

#include <lope/optimize/complementarity/masked_solver.h>

#include <memory>

namespace lope::optimize::complementarity {

class Mprgp final : public MaskedLcpSolver {
 public:
  explicit Mprgp(std::unique_ptr<linalg::MaskedInverse> inverse);
  // An iteration is a change of face (expansion or proportioning); inner iterations are CG steps.
  LcpSummary solve(linalg::Vector p, const LcpOptions& options) override;
};

}  // namespace lope::optimize::complementarity
