// Where particles come from and go: the shapes that are full at the start, emitters, and the exchange of
// particles between crowded and empty places.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/matter/liquid/grid.h>
#include <lope/matter/liquid/walls.h>

#include <cstdint>
#include <functional>

namespace lope::matter::liquid {

struct Seeding {
  int per_axis = 2;        // particles of a full cell along each axis
  std::uint64_t seed = 1;  // of the jitter
};

// Fills {φ < 0} of a shape, bounded by `region`, with particles on the lattice of the sub-cells; what walls
// cover or `earlier` shapes have filled stays as it is. Near the surface the lattice is regular and, below
// flat faces parallel to the grid, shifted so that its last layer lies half its spacing below them: such a
// surface begins flat and at its height. Deep inside, particles are moved about a little at random to avoid
// patterns. Returns how many lattice points the walls took.
template <int Dim>
std::size_t fill_shape(const Grid<Dim>& grid, const geometry::LevelSet& shape, const geometry::Bounds& region,
                       std::span<const geometry::LevelSetPtr> earlier, const Walls& walls,
                       const Seeding& seeding, const std::function<Vec3(const Vec3&)>& velocity,
                       Particles<Dim>& particles);

// Keeps an emitter full: its particles get its velocity, and those of its lattice points that are a spacing
// away from all particles get a new one. The particles must be binned in `grid`. Returns how many were added;
// they are not binned.
template <int Dim>
std::size_t feed_emitter(const Grid<Dim>& grid, const geometry::LevelSet& shape,
                         const geometry::Bounds& region, const Walls& walls, const Seeding& seeding,
                         const Vec3& velocity, Particles<Dim>& particles);

}  // namespace lope::matter::liquid
