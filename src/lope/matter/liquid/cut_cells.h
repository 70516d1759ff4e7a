// How much of a cell, or of a face between two cells, a wall leaves open, from its signed distances φ at the
// corners (negative inside the wall; a corner on the surface counts as wall, so that a face that lies in a
// wall is closed).
//
// Deviation from the usual marching squares: a square is cut into four triangles about its centre, a cube
// into 24 tetrahedra, and φ is taken as linear in each. There are no ambiguous cases, the fraction is
// continuous in the corner values, exact for a plane, and invariant under mirroring.
#pragma once

#include <lope/math/types.h>

#include <array>

namespace lope::matter::liquid {

double open_part_of_edge(double a, double b);
// Corners in the order (0,0), (1,0), (0,1), (1,1).
double open_part_of_square(const std::array<double, 4>& corners);
// Corners x fastest.
double open_part_of_cube(const std::array<double, 8>& corners);

// Of a cell with 2^Dim corners, x fastest.
template <int Dim>
double open_part_of_cell(const std::array<double, std::size_t{1} << Dim>& corners) {
  if constexpr (Dim == 2)
    return open_part_of_square(corners);
  else
    return open_part_of_cube(corners);
}

}  // namespace lope::matter::liquid
