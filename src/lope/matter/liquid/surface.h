// Where the liquid is, from its particles: the volume fraction ψ of each cell's surroundings, and a level
// set.
//
//   ψ(c) = Σ_p V_p k(x_p − c) / ∫_open k,   k: the linear kernel of half-width Δx around the centre c,
// V_p the volume a particle stands for, the integral over what walls leave open. ψ is 1 inside liquid whose
// particles have their volume, ½ where the flat surface passes through the centre, and does not fade near
// walls. The level set is the distance z of a flat surface parallel to the grid that gives this ψ:
//   ψ = ½ (1 − z/Δx)² for z ≥ 0,   1 − ½ (1 + z/Δx)² for z < 0,
// within one cell of the surface and ±Δx beyond. It is exact for such surfaces, uses all particles around a
// cell, so that a calm surface is smooth, and follows mass: where particles crowd, the surface moves out.
// Particles alone in the air do not make liquid cells; they fly freely.
//
// Cells that a wall nearly fills, as a wall that is slanted to the grid has many, are too small to be sure of a particle:
// on their own they would be air in the midst of liquid, at pressure zero, and no slanted container would be sealed. The
// less of a cell's kernel is open, below `well_open`, the more its neighbours count in its ψ:
//   ψ(c) = V_p (m + λ Σ m) / (K + λ Σ K),   λ = 1 − K / well_open,
// m and K the sum over the particles and the integral above (K as a part of ∫ k), the sums over the 3^Dim cells around c.
// And such a cell is never air on its own: with well open liquid but no well open air around it, it is liquid (ψ is at least
// `hole_fraction`). All liquid above it would fall into it for a whole substep, however little room there is.
//
// Deviation from the usual union of balls (Bridson): that one is bumpy at the scale of particles, and the
// bumps drive currents in water at rest.
#pragma once

#include <lope/matter/liquid/grid.h>

#include <span>
#include <vector>

namespace lope::matter::liquid {

// z/Δx of a volume fraction, and back.
double surface_distance(double fraction);
double surface_fraction(double distance);

// ∫_open k / ∫ k of every cell from the open parts of the cells (those outside the bricks count as open);
// `brick_free`: bricks all of whose cells are open.
template <int Dim>
void open_kernel(const geometry::BrickSet<Dim>& bricks, std::span<const double> open_volume,
                 std::span<const std::uint8_t> brick_free, std::vector<double>& result);

// ψ from the masses of to_grid and the open parts of the kernel. Cells with less than `least_open` of it get 0.
inline constexpr double least_open = 0.02;
void volume_fractions(std::span<const double> mass, std::span<const double> open_kernel,
                      double particle_volume, std::vector<double>& fraction);

// ψ anew of the cells that are open, but not well open.
inline constexpr double well_open = 0.5;
inline constexpr double hole_fraction = 0.595;  // a tenth of a cell below the surface
template <int Dim>
void share_fractions(const geometry::BrickSet<Dim>& bricks, std::span<const double> mass,
                     std::span<const double> open_kernel, std::span<const double> open_volume,
                     std::span<const std::uint8_t> brick_free, double particle_volume, std::vector<double>& fraction);

// The level set at the centres, m.
void surface_from(std::span<const double> fraction, double dx, std::vector<double>& distance);

}  // namespace lope::matter::liquid
