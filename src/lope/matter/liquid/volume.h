// Keeping the liquid's volume: what particles cover is not theirs by right, it must be kept even.
//
// ψ (surface.h) should be 1 in cells inside the liquid, but particles drift into strings and clusters where
// the flow stretches them, and leave gaps. Four things are done about it, none of which changes their number:
//   holes      a cell that has liquid on all sides is liquid, however few particles it has;
//   expansion  cells whose ψ is off by more than a tolerance get a wanted net outflow in the pressure
//              equations that undoes a part of it in every substep; the mean over all inner cells is kept
//              to a much smaller tolerance;
//   drift      inside the liquid, particles move down the gradient of ψ, a step of explicit diffusion where
//              ψ differs by more than the tolerance (their velocities do not change);
//   exchange   (liquid.cpp) particles of the most crowded inner cells are put into those that have hardly
//   any.
// The tolerance is the noise that ψ has in any set of particles: it falls with the root of their number.
#pragma once

#include <lope/geometry/brick_mask.h>
#include <lope/matter/liquid/transfers.h>

#include <span>
#include <vector>

namespace lope::matter::liquid {

// A mask per brick.
template <int Dim>
using CellMasks = std::vector<geometry::BrickMask<Dim>>;

// Closes the holes in a level set at the cells' centres and finds the `deep` cells: liquid, with liquid or
// walls on all sides.
template <int Dim>
void close_holes(const geometry::BrickSet<Dim>& bricks, std::span<const double> open_volume, double dx,
                 std::vector<double>& distance, CellMasks<Dim>& deep);

// How much the cells should expand, as a net outflow [m/s], in a substep of length dt. In proportion to what
// is open of a cell: otherwise the outflow of a cell that a wall nearly fills would be a jet. All cells together expand by
// no more than the surface cells alone may: what crowds in a container that is full up to a small opening must not spout out
// of it, faster in shorter substeps, which in turn have to be shorter because of it. (Of all liquid, not of each part of it.)
template <int Dim>
void want_expansion(std::span<const double> fraction, std::span<const double> open_volume,
                    std::span<const double> distance, const CellMasks<Dim>& deep, double particles_per_cell,
                    double dx, double dt, std::vector<double>& expansion);

// The drift of the particles in this substep as a staggered field of displacements [m], and the bricks in
// and around which there is any.
template <int Dim>
void drift_to_even(const geometry::BrickSet<Dim>& bricks, std::span<const double> fraction,
                   const PerAxis<std::vector<double>, Dim>& open, const CellMasks<Dim>& deep,
                   double particles_per_cell, double dx, PerAxis<std::vector<double>, Dim>& drift,
                   std::vector<std::uint8_t>& brick_drifts);

}  // namespace lope::matter::liquid
