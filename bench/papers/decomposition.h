// What the subdomains of DOT can do on their own, without L-BFGS around them: rows of the comparison, not
// methods for use.
//
// - Jacobi and Gauss–Seidel domain decomposition (DOT §5.5; Quarteroni & Valli 1999): one sweep over the
// subdomains, with
//   their matrices taken once per step, is the direction of a line search. Jacobi adds the subdomains'
//   answers and divides by the number of copies of a node; Gauss–Seidel lets each subdomain see its
//   predecessors' answers.
// - The penalty-weighted ADMM of DOT §4.6: every subdomain keeps a copy of its nodes and its own elements'
// energy; copies
//   are tied to common interface positions by multipliers, in the metric K_j of the neighbours' stiffness
//   (eq. 9). The subdomain's problem is advanced by one Newton step per iteration, with its matrix taken once
//   per step.
#pragma once

#include <lope/optimize/minimizer.h>
#include <lope/step/simulation.h>

#include <memory>

namespace lope::bench {

enum class Sweep { Jacobi, GaussSeidel };

// The objective must offer a cover().
std::unique_ptr<optimize::Minimizer> make_decomposition(Sweep sweep, int subdomains);

// For the step problem of a 3D body at this state, by backward Euler with step length h; good for that one
// problem.
std::unique_ptr<optimize::Minimizer> make_penalty_admm(const step::Model& model, const step::State& state,
                                                       std::span<const std::uint8_t> fixed, double h,
                                                       int subdomains);

}  // namespace lope::bench
