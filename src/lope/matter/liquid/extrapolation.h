// Velocities beyond the liquid: particles that leave it, and those beside walls, need some.
#pragma once

#include <lope/geometry/brick_mask.h>
#include <lope/matter/liquid/walls.h>
#include <lope/matter/liquid/transfers.h>

namespace lope::matter::liquid {

// Which faces have a velocity, a mask per brick along each axis.
template <int Dim>
struct KnownFaces {
  PerAxis<std::vector<geometry::BrickMask<Dim>>, Dim> solved;  // next to liquid: the pressure has acted on it
  PerAxis<std::vector<geometry::BrickMask<Dim>>, Dim> flying;  // what particles in the air say: they fly freely
};

// Fills faces from their known neighbours along the axes, layer after layer (mean of the neighbours). The
// first layer takes what was solved and overrules what flies: a particle just above the surface must move
// with the liquid, not fall into it. Later layers fill only what is unknown. Afterwards `solved` holds all
// that is known.
template <int Dim>
void extrapolate(const geometry::BrickSet<Dim>& bricks, int layers,
                 PerAxis<std::vector<double>, Dim>& velocity, KnownFaces<Dim>& known);

// On closed faces near open space (BrickWalls::closed, per brick): takes away the part of the velocity,
// relative to the wall, that leads into the wall and, where walls hold the liquid, also that which leads
// out of it. What remains is slip.
template <int Dim>
void respect_walls(const Grid<Dim>& grid, const Walls& walls,
                    std::span<const std::shared_ptr<const BrickWalls<Dim>>> samples, bool walls_hold,
                    PerAxis<std::vector<double>, Dim>& velocity);

}  // namespace lope::matter::liquid
