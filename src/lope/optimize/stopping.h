// When a minimisation is done (NUMERICS §6).
//
// The two characteristic norms divide the gradient by a natural force scale (DOT eq. 15; HOT appendix, where
// "scale with" is a division). Lope's default is an accuracy with a meaning: the largest distance by which
// any node is still away from the minimiser, estimated by solving H e = ∇E with the raw Hessian to 10%, is
// compared with what the objective allows (Objective::budget). An estimate that passes is applied: the result
// is x − e, whose own error is a small part of it.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/optimize/minimizer.h>

#include <functional>

namespace lope::optimize {

// 10⁻⁴ of the body's size (Displacement), 10⁻⁵ (CharacteristicGlobal), 10⁻⁷ (CharacteristicNodewise), 10⁻³ newtons
// (GradientNorm), 10⁻⁵ of the body's size (RmsStep).
double default_epsilon(StoppingTest test);

// The right-hand side of a test; for Displacement the accuracy, of which the objective may allow only a part.
double resolved_tolerance(const StoppingOptions& options, const Objective& objective);

inline bool tests_gradient(StoppingTest test) {
  return test != StoppingTest::Displacement && test != StoppingTest::RmsStep;
}

// Left-hand side of a test that needs the gradient only.
double gradient_measure(StoppingTest test, const Objective& objective, linalg::ConstVector gradient);

struct DisplacementEstimate {
  bool trustworthy = false;  // the Hessian showed no negative curvature and CG reached 10%, or what the test needs of it
  bool saddle = false;       // the Hessian showed negative curvature: −e leads along it, downhill
  double largest = 0;        // max over nodes of |e_i|
  int iterations = 0;        // of CG
};

// Solves H e = g, H the raw Hessian where the gradient g was taken, by CG with the given preconditioner;
// leaves e in `error`. The minimiser is near x − e. With a preconditioner that is near H⁻¹, 10% is the
// preconditioned residual's; with one that is equivalent to H, it is a bound of e's error. With another one, whose residual says
// nothing about smooth errors, and with one that does not see the couplings of H, whose residual is that of the stiff contacts and hides
// how bodies move as a whole, e must have settled (see the source). `space`: the objective's.
//
// `strain`, if given, says how many times as large as allowed an estimate e is. With an equivalent preconditioner e is then
// known to a tenth of what is allowed, within 3% and 20% of itself: one that passes need be no better, since so much may remain
// when it has been applied, and one that does not is a direction that is to end near enough for the next test to pass.
using Strain = std::function<double(linalg::ConstVector e)>;
DisplacementEstimate estimate_displacement(const linalg::Space& space, const linalg::Operator& hessian,
                                           linalg::Preconditioner& preconditioner,
                                           linalg::ConjugateGradient& cg, linalg::ConstVector gradient,
                                           linalg::Vector error, int max_iterations,
                                           const Strain& strain = {});

}  // namespace lope::optimize
