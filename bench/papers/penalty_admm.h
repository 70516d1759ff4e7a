// The alternation that DOT §4.6 mentions and leaves: subdomains with copies of their interface nodes, tied to shared positions by penalties and
// multipliers. A row of the comparison, not a method for use.
//
//   x_j ← argmin E_j(x_j) + λ_jᵀ(z_j − R_j x_Γ) + ½|z_j − R_j x_Γ|²_{K_j}     every subdomain on its own, a few Newton steps
//   x_Γ ← (Σ R_jᵀK_jR_j)⁻¹ Σ R_jᵀ(K_j z_j + λ_j)
//   λ_j ← λ_j + K_j (z_j − R_j x_Γ)
//
// E_j: inertia and elasticity of the subdomain's elements; z_j: its interface nodes; K_j: DOT eq. 9, the stiffness and inertia of the other
// subdomains there, taken at the beginning of the step, all Hessians projected, times `weight`. The iterate on the whole mesh is x_Γ on interfaces
// and x_j inside.
//
// Deviation: the paper prints no details of it; the order of the updates and the Newton steps are ours.
#pragma once

#include <lope/matter/solid/solid.h>
#include <lope/optimize/minimizer.h>

#include <memory>

namespace lope::bench {

struct PenaltyAdmmOptions {
  int subdomains = 2;
  double weight = 1;     // of K_j
  int newton_steps = 5;  // of a subdomain, at most
};

// For objectives that are one body of tetrahedra without damping, forces or contact, in a step of backward Euler of length h. The body must outlive it.
std::unique_ptr<optimize::Minimizer> make_penalty_admm(const matter::SolidBody& body, double h,
                                                       const PenaltyAdmmOptions& options);

}  // namespace lope::bench
