// Triangles for a flat panel whose boundary vertices are given: none is added to the boundary, so that two panels that are sewn
// together keep matching vertices.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <span>
#include <vector>

namespace lope::geometry {

struct PanelMesh {
  std::vector<Vec2> points;  // those of the boundary first
  std::vector<Triangle> triangles;
};

// boundary: a simple polygon, counter-clockwise, its sides of about `edge`. Inside, points of a lattice of equilateral triangles that
// are not too near the boundary, moved to the centres of what surrounds them, in a constrained Delaunay triangulation, a few times
// (Lloyd's iteration, with triangles in place of Voronoi cells). Fails where triangles without area remain, naming the place.
Expected<PanelMesh> mesh_panel(std::span<const Vec2> boundary, double edge);

}  // namespace lope::geometry
