// Bodies as users describe them, and their meshes.
//
// Box and Rectangle become structured lattices. Curved shapes, implicit bodies and closed surfaces are meshed
// by Delaunay refinement (CGAL Mesh_3: Jamin, Alliez, Yvinec and Boissonnat 2015, "CGALmesh") followed by
// sliver perturbation and exudation. Our deviations: seeds on every component of the surface instead of
// random rays, boundary vertices moved onto the true surface afterwards, vertices and elements sorted along a
// Morton curve.
//
// Every result: elements positively oriented (2D: counter-clockwise, z = 0), every vertex used, `triangles`
// empty for tetrahedral meshes (see boundary_triangles). The same input gives the same bits. Lengths in
// metres.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <array>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace lope::geometry {

struct Box {
  Vec3 center = Vec3::Zero();
  Vec3 size = Vec3::Ones();
};
Box box_between(const Vec3& min, const Vec3& max);

struct Sphere {
  Vec3 center = Vec3::Zero();
  double radius = 0.5;
};

struct Torus {
  Vec3 center = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();
  double ring_radius = 0.4;  // from the centre to the middle of the tube
  double tube_radius = 0.15;
};

struct Cylinder {
  Vec3 center = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();
  double radius = 0.25;
  double length = 1;
};

struct Capsule {
  Vec3 center = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();
  double radius = 0.25;
  double length = 1;  // between the centres of the two half spheres
};

// The inside of a closed triangle surface, which must pass check_surface (surface_check.h).
struct ClosedSurface {
  Mesh surface;
  double feature_angle = 50;  // degrees between normals from which an edge is sharp and is kept exactly
};

// The points where `value` is negative. `box` contains them strictly; parts thinner than `thinnest` may be
// missed.
struct ImplicitShape {
  std::string name = "implicit shape";
  std::function<double(const Vec3&)> value;
  Bounds box;
  double thinnest = 0;
  bool largest_part_only = false;  // drop all but the largest connected component of the mesh
};

// A ball with a concentric cavity.
ImplicitShape hollow_sphere(const Vec3& center, double outer_radius, double inner_radius);

// A ball cut by the gyroid sin X cos Y + sin Y cos Z + sin Z cos X < 0, X = 2πx/period: one of its two
// labyrinths, with rounded rims: a smooth body of high genus.
ImplicitShape gyroid_ball(const Vec3& center, double radius, double period);

// A tube around the (p, q) torus knot: p turns about the z-axis, q turns about the ring; p and q positive and
// coprime, the winding radius below the ring radius.
struct TorusKnot {
  Vec3 center = Vec3::Zero();
  int p = 2;
  int q = 3;
  double ring_radius = 0.35;
  double winding_radius = 0.15;
  double tube_radius = 0.06;
};
ImplicitShape torus_knot(const TorusKnot& knot);

// Balls that melt into each other where they are nearer than about `blend`: the points where a smooth minimum of the
// distances to them, −b log Σ exp(−(|x − c_i| − r_i)/b), is negative. Only the largest connected part is kept.
struct Metaballs {
  std::vector<Vec3> centers;
  std::vector<double> radii;  // as many, or one for all
  double blend = 0.05;
};
ImplicitShape metaballs(const Metaballs& balls);

// A hollow sphere with six round holes in its wall, where the axes meet it.
struct PiercedShell {
  Vec3 center = Vec3::Zero();
  double outer_radius = 0.5;
  double inner_radius = 0.4;
  double hole_radius = 0.15;
};
ImplicitShape pierced_shell(const PiercedShell& shell);

using Shape = std::variant<Box, Sphere, Torus, Cylinder, Capsule, ClosedSurface, ImplicitShape>;

// How the cells of a box lattice are cut.
enum class LatticePattern {
  FiveTets,  // five per cell, alternating: best angles (54.7°–90°), mirror symmetric for even cell counts
  Kuhn,      // six per cell along one diagonal: all interior nodes alike, but with a direction
  MirroredKuhn,  // six per cell, mirrored from cell to cell: mirror symmetric for even cell counts
};

struct MeshingOptions {
  std::array<int, 3> lattice = {0, 0, 0};  // Box: exact node counts along x, y, z; zero: from the edge length
  LatticePattern pattern = LatticePattern::FiveTets;
  double sliver_angle = 12;   // degrees; smaller dihedral angles are fought by perturbation; 0: not at all
  double max_vertices = 3e7;  // refuse when the estimate is above
};

// `edge_length`: side of the cells of a box, rounded so that they fit; mean edge length elsewhere (within
// about 10%), and never more than the smallest radius of the shape. Fails for sizes that are not positive and
// finite, for a surface that is not closed and free of self-intersections, and for estimates above
// max_vertices.
Expected<Mesh> tetrahedralize(const Shape& shape, double edge_length, const MeshingOptions& options = {});

struct Rectangle {
  Vec2 center = Vec2::Zero();
  Vec2 size = Vec2::Ones();
};

struct Disc {
  Vec2 center = Vec2::Zero();
  double radius = 0.5;
};

// An outer loop and holes; the last point of a loop is joined to its first. Any orientation.
struct Polygon {
  std::vector<std::vector<Vec2>> loops;
};

using PlanarShape = std::variant<Rectangle, Disc, Polygon>;

struct PlanarOptions {
  std::array<int, 2> lattice = {0, 0};  // Rectangle: exact node counts along x, y; zero: from the edge length
  bool alternating = true;              // Rectangle: diagonals alternate; otherwise all run the same way
  double max_vertices = 3e7;
};

// Boundary vertices of a disc lie on the circle.
Expected<Mesh> triangulate(const PlanarShape& shape, double edge_length, const PlanarOptions& options = {});

}  // namespace lope::geometry
