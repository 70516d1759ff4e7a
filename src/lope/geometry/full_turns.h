// Where a deformed mesh is tangled: lines around which its elements make a full turn.
//
// Let R_e be the rotation nearest to an element's deformation gradient. From an element to its neighbour it
// turns by less than half a turn. Once around an inner edge (in two dimensions: around an inner vertex) these
// turns add up to nothing or to a full turn, and no small change of the positions leads from one to the
// other: the rotations form a space in which a full turn cannot be drawn together, two of them can (π₁(SO(3))
// = ℤ/2). The edges with a full turn make lines that end at the surface only. What is bent, twisted or wrung
// has none, however much; a body with such a line is tangled, and can get rid of it only by moving it to the
// surface.
//
// In unit quaternions q_e a full turn is a change of sign, so that an edge has one if an odd number of the
// faces around it has q_e·q_f < 0. In the plane this counts odd numbers of full turns.
#pragma once

#include <lope/geometry/mesh.h>

#include <span>
#include <vector>

namespace lope::geometry {

// The vertices of these edges (2D: these vertices), in order. The mesh is the rest shape, whose elements are
// its tetrahedra (dimension 3) or triangles (2); x: `dimension` coordinates per vertex, finite.
std::vector<int> vertices_in_full_turns(const Mesh& mesh, int dimension, std::span<const double> x);

}  // namespace lope::geometry
