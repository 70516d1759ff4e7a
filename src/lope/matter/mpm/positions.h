// Where points go in a substep: with the velocity of the grid where they will be (OPT §6.3, backward Euler),
//
//     x = xₙ + h v(x),   v(x) = Σ v_i w_i(x),   w quadratic B-splines,
//
// instead of where they are. Nodes inside obstacles do not go deeper, so v brings nothing further in than where it vanishes.
// Solved point by point by Newton's method, whose steps are halved until the residual does not grow, 14 times at most; then the
// step is taken as it is.
//
// Deviations from OPT:
// - Where a point goes there are nodes that nothing touched before, or hardly anything: for a point of mass m they have the share
//   min(1, m_i/m) of their own velocity and otherwise that of the point, v + C (x_i − x_p) with C as in APIC, except that obstacles
//   hold them too. With 0 in their place (as printed) the front of whatever moves would be held back; like this affine motions
//   are exact.
// - v vanishes only where all nodes around are inside, up to 1.5 cells deep. A point that was outside an obstacle and would be inside
//   stops where it enters if the obstacle is sticky, and goes along its surface otherwise. What is inside already goes with v.
// - Obstacles may move: points are outside of them as they are at the end, as far as obstacles leave them room.
#pragma once

#include <lope/matter/mpm/boundary.h>
#include <lope/matter/mpm/grid.h>
#include <lope/matter/world.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter::mpm {

enum class Positions { Forward, Backward };

struct PositionCounts {
  std::int64_t unsolved = 0;  // points whose residual is not below 10⁻⁸ cells
  std::int64_t stopped = 0;   // at an obstacle
};

// `where`: positions at the end of a step of length h that begins at `time`. The grid is that of the particles as they are, `velocity`
// that of its nodes at the end, Dim numbers each; `kinds`: one per obstacle of the world.
template <int Dim>
PositionCounts backward_positions(const Grid<Dim>& grid, const World& world, std::span<const Boundary> kinds,
                                  double time, double h, std::span<const double> velocity,
                                  const Particles<Dim>& particles, std::vector<Vec<Dim>>& where);

}  // namespace lope::matter::mpm
