// The implicit time schemes as one table (NUMERICS §1): where inertia alone would lead (x̂), how strongly it
// pulls (c), what velocity follows, and the velocity-proportional damping terms in the same form (NUMERICS
// §3, OPT §4.2).
//
//   scheme          x̂ without h² terms                        c    damping weight w, target y
//   backward Euler  xₙ + h vₙ                                 1    1/h,     xₙ
//   BDF-2           (4xₙ − xₙ₋₁)/3 + h(8vₙ − 2vₙ₋₁)/9          4/9  3/(2h),  (4xₙ − xₙ₋₁)/3
//   trapezoid       xₙ + h vₙ + (h²/4) aₙ                     1/4  2/h,     xₙ + h vₙ/2
// and x̂ += c h² M⁻¹ f_ext for all. New velocities are differences of the same formulas: w (x − y) for the
// last column. BDF-2 starts (and restarts after a change of h) with one step of backward Euler.
//
// Static has no velocities and no inertia (whoever solves it adds what keeps the minimiser unique). Its x̂ and y are xₙ,
// and gravity belongs to the forces from outside (StepSetup::force); w = 1/h makes friction that of the way slid in the
// step.
//
// The trapezoid rule alone lets the highest frequencies ring for ever, and where forces are not linear (a body
// that turns, contact) they gain energy. With a dissipation δ of 0 … 1 it is the scheme of Wood, Bossak &
// Zienkiewicz 1980, of second order still, that takes the part δ from the amplitude of an infinitely fast
// oscillation in a step (ρ∞ = 1 − δ) and hardly anything from a slow one:
//   α = (ρ∞ − 1)/(ρ∞ + 1),  β = (1 − α)²/4,  γ = ½ − α,
//   (1 − α) a + α aₙ = M⁻¹ f(x),  x = xₙ + h vₙ + h²((½ − β) aₙ + β a),  v = vₙ + h((1 − γ) aₙ + γ a),
// hence c = β/(1 − α), w = γ/(β h). Forces are those at the end of the step, as in the other schemes, which is
// why it was taken and not another one of its family: contact and friction need no case of their own.
#pragma once

#include <lope/math/types.h>
#include <lope/matter/world.h>

#include <span>
#include <vector>

namespace lope::matter {

// Position, velocity and acceleration of nodes, interleaved coordinates.
struct NodalMotion {
  std::vector<double> x, v;
  std::vector<double> previous_x, previous_v;  // of the step before (BDF-2)
  std::vector<double> a;                       // accelerations (trapezoid)
};

// Where a step leads.
struct StepEnd {
  std::vector<double> x, v, a;
};

struct SchemeTerms {
  double inertia = 0;                  // 1/(c h²)
  std::vector<double> target;          // x̂
  double damping = 0;                  // w
  std::vector<double> damping_target;  // y
  double gamma = 0.5;                  // trapezoid: share of the new acceleration in the new velocity
};

// The scheme actually used for a step: BDF-2 needs the step before, taken with the same h.
Scheme effective_scheme(Scheme scheme, bool has_previous_step);

// `a` are the accelerations at the beginning of the step, read by the trapezoid only: those of the state, but
// for nodes that were released. `gravity` is f_ext/m per node (dimension entries, the same for all nodes).
// `dissipation` is the trapezoid's δ.
void scheme_terms(Scheme scheme, double h, const NodalMotion& body, std::span<const double> a,
                  std::span<const double> gravity, SchemeTerms& terms, double dissipation = 0);

// The positions x with the velocities and accelerations that belong to them. Scripted nodes get their mean
// velocity over the step.
void finish_step(Scheme scheme, double h, std::span<const double> x, std::span<const std::uint8_t> scripted,
                 const SchemeTerms& terms, const NodalMotion& body, std::span<const double> a, StepEnd& end);

// Makes the end of a step the state, which becomes the step before; and back. Nothing is copied: what neither
// holds any more is in `end`.
void commit(NodalMotion& body, StepEnd& end);
void take_back(NodalMotion& body, StepEnd& end);

}  // namespace lope::matter
