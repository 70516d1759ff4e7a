// Coulomb friction, applied to velocities after the solve (OPT §5.1–5.3). Positions stay as they are, kinetic
// energy never grows in the obstacle's frame (nor, between bodies, at all).
//
// Corrections of the text (NUMERICS §3): the force is in newtons, so the impulse is μh f; velocities are
// relative to the obstacle; the cap of §5.3 is min(μh‖f‖/‖j‖, 1). What the rules cannot do, as OPT says: they
// take away motion that the solve has already made, so a body that should stick still creeps by the
// tangential acceleration times h² in every step.
#pragma once

#include <lope/math/types.h>

#include <array>

namespace lope::matter {

// A node against an obstacle (§5.1, §5.2): the new velocity of a node of mass m whose velocity is v, pressed
// by `force` newtons along the unit normal n onto an obstacle that moves with `carried` there.
Vec3 slide(const Vec3& v, const Vec3& carried, const Vec3& n, double force, double mass, double friction,
           double h);

// A point against a surface primitive (§5.3): node 0 touches the point Σ w_i x_i of nodes 1 … 3 (w₀ = −1,
// unused nodes have w = 0 and any mass) with `force` newtons along the unit normal n. Changes v.
void slide(std::array<Vec3, 4>& v, const std::array<double, 4>& mass, const std::array<double, 4>& weight,
           const Vec3& n, double force, double friction, double h);

}  // namespace lope::matter
