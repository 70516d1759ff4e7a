// Velocities from material points to the grid and back.
//
// APIC (Jiang et al. 2015): a point hands each node v + C (x_i − x_p); with C = (4/dx²) Σ w v_i (x_i − x_p)ᵀ linear and
// angular momentum (Σ m x × v and the spin that C carries) are kept to rounding. Or FLIP (particles/transfer_options.h). Points
// always move with the grid's velocity.
#pragma once

#include <lope/matter/mpm/grid.h>
#include <lope/matter/particles/transfer_options.h>

namespace lope::matter::mpm {

// v_i = Σ w m (…) / m_i, Dim numbers per node of the grid.
template <int Dim>
void to_grid(Grid<Dim>& grid, const Particles<Dim>& particles, const TransferOptions& options, std::span<double> velocity);

// Velocities, C, positions and trial deformations F after a step of length h: `before` and `after` are the nodes'
// velocities at its beginning and at its end.
template <int Dim>
void to_particles(const Grid<Dim>& grid, const TransferOptions& options, double h, std::span<const double> before,
                  std::span<const double> after, Particles<Dim>& particles);

// Σ m v, and Σ m x × v with the spin of C (APIC: m dx²/4 of its skew part), about the origin.
template <int Dim>
Vec3 momentum(const Particles<Dim>& particles);
template <int Dim>
Vec3 angular_momentum(const Particles<Dim>& particles, double dx);
// Σ ½m|v|², with what C carries.
template <int Dim>
double kinetic_energy(const Particles<Dim>& particles, double dx);

}  // namespace lope::matter::mpm
