// Dividing a mesh into parts of about equal size with short cuts between them (METIS 5, k-way on the dual
// graph: Karypis and Kumar 1998).
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <vector>

namespace lope::geometry {

// The part (0 … parts−1) of every tetrahedron, or of every triangle of a mesh without tetrahedra; neighbours
// share a face (an edge). The same input gives the same parts. METIS seeds the C library's random numbers:
// not to be called from two threads at once. Fails when there are fewer elements than parts, or METIS has no
// memory.
Expected<std::vector<int>> partition_elements(const Mesh& mesh, int parts);

// What the colouring "partition" shows: parts of about 2000 elements, or one part where METIS fails.
std::vector<int> partition_for_colouring(const Mesh& mesh);

}  // namespace lope::geometry
