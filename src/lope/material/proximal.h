// The local problem of ADMM and projective dynamics (Overby et al. 2017, eq. 12; DOT §5.2): which deformation
// is a compromise between a given one and the energy?
#pragma once

#include <lope/material/parameters.h>
#include <lope/math/types.h>

namespace lope::material {

// argmin over σ of ψ(σ) + ½ weight |σ − target|², weight in Pa. ψ is isotropic and the penalty invariant
// under rotations, so F = U diag(σ) Vᵀ solves the problem for the whole F with target U diag(target) Vᵀ
// ("diagonal space").
//
// Newton's method with a Hessian made definite and an Armijo line search, to 10⁻¹² of the stretches: a local
// minimum near the target (ψ need not be convex). Densities that are defined for J > 0 only start from
// positive stretches and stay there. Never fails: where Newton stops early the best point found is returned.
template <int d>
Vec<d> proximal_stretches(const Parameters& parameters, double weight, const Vec<d>& target);

}  // namespace lope::material
