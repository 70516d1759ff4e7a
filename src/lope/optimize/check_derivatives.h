// Derivatives of an objective against differences of what they are derivatives of: the first thing to do with a new one.
//
// Along random directions p, central differences of the value are compared with ∇E·p, those of the gradient with H p, and
// H p by the assembled matrix with H p without it. Where the objective has a kink or jumps (contact that begins), the
// differences mean nothing: check it where it is smooth.
#pragma once

#include <lope/optimize/objective.h>

#include <cstdint>
#include <span>

namespace lope::optimize {

struct DerivativeCheck {
  // Metres between the points of a difference; 0: 10⁻⁶ of the objective's length.
  double step = 0;
  int directions = 8;
  std::uint64_t seed = 1;
};

// The largest over the directions, as parts of the sizes of what is compared.
struct DerivativeErrors {
  double gradient = 0;  // of ∇E·p
  double hessian = 0;   // of H p, H exact (HessianKind::Raw)
  double product = 0;   // of H p without the matrix, both kinds
  double largest() const;
};

// At x, which is projected first (Objective::project). The current point is unspecified afterwards.
DerivativeErrors check_derivatives(Objective& objective, std::span<const double> x, const DerivativeCheck& how = {});

}  // namespace lope::optimize
