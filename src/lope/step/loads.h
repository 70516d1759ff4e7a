// Forces from outside on a part of a body: so many newtons in all, a torque, a traction or a pressure. What follows
// the body (torques and pressures) is taken where the body is at the beginning of the step; equilibria renew it until
// it fits (Scheme::Static).
#pragma once

#include <lope/step/model.h>

#include <span>

namespace lope::step {

// Adds the forces of all loads of the body at time t, with its nodes at x, to `force` (both interleaved, newtons).
void add_loads(const SolidBody& body, std::span<const double> x, double time, std::span<double> force);

// Whether some load depends on the positions.
bool has_following_loads(const SolidBody& body);

// Fills the parts of a load that follow from its vertices: the surface elements all of whose vertices it has, and the
// share of each vertex in them (equal shares where there is no whole surface element).
void spread(const SolidBody& body, Load& load);

}  // namespace lope::step
