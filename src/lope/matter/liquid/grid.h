// The sparse staggered grid of a substep: where its cells are, and which particles are in which brick.
//
// Components of the velocity live in the middle of faces: the value of a cell along axis a is that of its
// lower face. A particle reaches, along axis a, the faces (and, in all directions, the cell centres) around
// it by linear interpolation; those of a particle in a brick all lie in the brick or in the layer around it.
#pragma once

#include <lope/geometry/bricks.h>
#include <lope/matter/liquid/particles.h>
#include <lope/matter/particles/binning.h>
#include <lope/matter/particles/particle_arrays.h>

#include <cmath>
#include <memory>
#include <vector>

namespace lope::matter::liquid {

template <int Dim>
struct Grid {
  using Bricks = geometry::BrickSet<Dim>;
  using Index = geometry::GridIndex<Dim>;

  Vec<Dim> origin = Vec<Dim>::Zero();  // lowest corner of cell 0
  double dx = 1;
  std::shared_ptr<const Bricks> bricks = std::make_shared<const Bricks>();
  // Particles first[c] … first[c + 1] − 1 are in the cell whose values are at place c.
  std::vector<std::uint32_t> first;

  // The particles of brick b: begin … end − 1.
  std::uint32_t begin(std::size_t b) const { return first[b * Bricks::cells]; }
  std::uint32_t end(std::size_t b) const { return first[(b + 1) * Bricks::cells]; }

  Vec<Dim> to_cells(const Vec<Dim>& x) const { return (x - origin) / dx; }
  Index cell_of(const Vec<Dim>& x) const {
    Index cell;
    for (int a = 0; a < Dim; ++a)
      cell[static_cast<std::size_t>(a)] = static_cast<int>(std::floor((x[a] - origin[a]) / dx));
    return cell;
  }
  Vec<Dim> corner(const Index& cell) const {
    Vec<Dim> result;
    for (int a = 0; a < Dim; ++a) result[a] = origin[a] + dx * cell[static_cast<std::size_t>(a)];
    return result;
  }
};

// Memory that sorting keeps from one time to the next.
template <int Dim>
struct SortingMemory {
  Binning binning;
  Particles<Dim> spare;
};

// Sorts the particles by cells and makes the bricks that hold them, with those that come nearer than `band`
// cells (at most 8) to a particle. Particles must be finite and within the range of BrickSet.
template <int Dim>
void bin_particles(Particles<Dim>& particles, int band, Grid<Dim>& grid, SortingMemory<Dim>& memory);

}  // namespace lope::matter::liquid
