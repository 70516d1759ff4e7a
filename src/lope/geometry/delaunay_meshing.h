// The doors to CGAL, whose headers are heavy: each of the functions below is the whole of one source file
// (cgal_*.cpp), and nothing of CGAL is seen outside it. Internal to geometry/; use shapes.h and
// surface_check.h.
//
// Sequential, seeded, without time limits: the same input gives the same bits. Library exceptions become
// Errors.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace lope::geometry::delaunay {

struct Sizes {
  double edge = 0;              // aimed mean edge length, metres
  double surface_distance = 0;  // largest distance of the middle of a surface triangle from the true surface
  double sliver_angle = 0;      // perturb vertices until dihedral angles exceed it, where possible; degrees
};

// A body {value < 0} and what the mesher must be told about it.
struct ImplicitBody {
  std::function<double(const Vec3&)> value;  // continuous; the sign decides
  Bounds box;                                // strictly contains the body
  std::vector<Vec3> seeds;                   // some points of every component of the surface, well apart
  std::vector<std::vector<Vec3>>
      sharp_loops;  // closed polylines along sharp edges (first point = last point)
};

// Tetrahedra of any orientation and vertices in any order; unused vertices are left out.
Expected<Mesh> mesh_implicit(const ImplicitBody& body, const Sizes& sizes);

// The inside of a closed surface that has passed check_surface. Edges whose triangles' normals differ by more
// than `feature_angle` degrees are kept exactly.
Expected<Mesh> mesh_polyhedron(const Mesh& surface, double feature_angle, const Sizes& sizes);

// A planar region (z ignored, zero in the result): the outer loop and the loops of holes, constrained
// Delaunay triangles of about `edge`, counter-clockwise. A loop's points are kept; its edges may be split.
Expected<Mesh> mesh_polygon(const std::vector<std::vector<Vec2>>& loops, double edge);

// Two triangles of a manifold surface that cross, or none.
Expected<std::optional<std::array<int, 2>>> find_self_intersection(const Mesh& surface);

}  // namespace lope::geometry::delaunay
