// Plastic flow: what a step's elastic trial strain becomes when the material yields. Pure functions of the principal
// stretches σ of the trial F = U diag(σ) Vᵀ; the rotations stay as they are (isotropy). With ε = ln σ, p_i = σ_i ψ_i the
// principal Kirchhoff stresses, s the deviatoric part in d dimensions (deviation: in 2D the stress across the plane
// takes no part in the yield condition) and q = √(3/2)|s| von Mises' equivalent stress:
//
//   von Mises        q ≤ yield. The stretches move along ε(t) = mean + t dev ε, t ∈ [0, 1], until the condition holds:
//                    J is kept exactly. For StvkHencky this is the closed radial return; for any other density t is
//                    found by bisection (HOT's programs hold the pressure instead, and change J a little).
//   Bingham          as von Mises, but of the excess q − yield a part 1/(1 + 3μh/η) is left after a step of length h:
//                    backward Euler of Perzyna's law with the viscosity η (Pa s). Sauces, clay.
//   snow             σ_i clamped into [1 − compression, 1 + stretch] (Stomakhin et al. 2013); the plastic variable is
//                    J_p, the volume ratio of what has flowed, and the elastic constants harden by
//                    exp(hardening (1 − J_p)), held within [e⁻⁵, e⁵] (deviation: the paper lets it grow without end).
//   Drucker–Prager   for StvkHencky (Klár et al. 2016, their case analysis): no tension, and |s_ε| 2μ ≤ −α (dλ + 2μ) tr ε
//                    with α = √(2/3) 2 sin φ/(3 − sin φ); J is kept in the frictional case. The plastic variable is the
//                    volume correction of Tampubolon et al. 2017: what an expansion has added to tr ε is taken off later
//                    compressions, so that sand which was thrown apart does not gain volume.
//
// Without a volume correction no rule raises the elastic energy, and each is idempotent (Bingham: where nothing is in
// excess).
#pragma once

#include <lope/material/parameters.h>
#include <lope/math/types.h>

#include <limits>
#include <span>
#include <string_view>

namespace lope::material {

enum class Flow { None, VonMises, Bingham, Snow, DruckerPrager };

struct Plasticity {
  Flow flow = Flow::None;
  double yield = 0;           // von Mises, Bingham: Pa
  double viscosity = 0;       // Bingham: Pa s
  double compression = 0;     // snow: critical compression θ_c
  double stretch = 0;         // snow: critical stretch θ_s
  double hardening = 0;       // snow: exponent ξ
  double friction_angle = 0;  // Drucker–Prager: radians
};

struct FlowEntry {
  Flow flow;
  std::string_view name;         // as in scene files
  std::string_view description;  // one line
};
std::span<const FlowEntry> flows();
const FlowEntry* find_flow(std::string_view name);

// The plastic variable of matter that has not flowed: J_p = 1 for snow, otherwise 0 (von Mises and Bingham: the
// equivalent plastic strain √(2/3) Σ|Δε|).
double initial_plastic_variable(const Plasticity& plasticity);

// The elastic constants at a value of the plastic variable.
Parameters hardened(const Parameters& elastic, const Plasticity& plasticity, double variable);

// The stretches after flow in a step of length h (seconds); changes the variable. `elastic` is before hardening.
template <int d>
Vec<d> flow(const Parameters& elastic, const Plasticity& plasticity, const Vec<d>& sigma, double h, double& variable);

// Whether flow can take place inside the minimisation of a step, by the potential of yielding_hencky.h: von Mises, Bingham and
// Drucker–Prager with StvkHencky.
bool has_potential(const Parameters& elastic, const Plasticity& plasticity);
// Whether that potential depends on the pressure, which has to be known from another point: Drucker–Prager.
bool is_lagged(const Plasticity& plasticity);
// The constants of that potential in d dimensions for a step of length h, where the trace of the trial strain is `trace` (without
// the volume correction) and the plastic variable has this value.
struct Yielding {
  double yield = std::numeric_limits<double>::infinity();  // |dev ε|
  double left = 0;
  double correction = 0;
  double tension = 1;
};
template <int d>
Yielding yielding(const Parameters& elastic, const Plasticity& plasticity, double trace, double h, double variable);

// q at given stretches: √(3/2) of the deviatoric Kirchhoff stress, Pa.
template <int d>
double equivalent_stress(const Parameters& elastic, const Vec<d>& sigma);

}  // namespace lope::material
