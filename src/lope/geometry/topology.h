// Connectivity and order of meshes. The elements of a mesh are its tetrahedra or, where it has none, its
// triangles. Indices are within range: asserted.
#pragma once

#include <lope/geometry/mesh.h>

#include <vector>

namespace lope::geometry {

struct Components {
  int count = 0;
  std::vector<int> of_vertex;  // numbered by their first vertex; −1 for vertices that no element uses
};

// Vertices that are joined by elements.
Components connected_components(const Mesh& mesh);

// Per vertex: whether an element uses it.
std::vector<bool> used_vertices(const Mesh& mesh);

// Edges that belong to exactly one triangle, in the triangle's direction, sorted by their vertices.
std::vector<Edge> boundary_edges(const std::vector<Triangle>& triangles);

// Vertices of boundary triangles or, for a mesh of triangles, of edges that have one triangle; sorted.
std::vector<int> boundary_vertices(const Mesh& mesh);

// Drops the vertices that neither a tetrahedron nor a triangle uses, in order; returns the new index of every
// old vertex (−1: dropped).
std::vector<int> drop_unused_vertices(Mesh& mesh);

// Drops all tetrahedra (and triangles) outside the component with the most elements, and the vertices they
// leave.
void keep_largest_component(Mesh& mesh);

// Renumbers vertices along a Morton curve and sorts elements by their vertices: neighbours in space become
// neighbours in memory, and the result does not depend on the order of the input.
void sort_spatially(Mesh& mesh);

// Six times the signed volume: positive for positively oriented tetrahedra.
double six_volumes(const std::vector<Vec3>& vertices, const Tetrahedron& tetrahedron);

}  // namespace lope::geometry
