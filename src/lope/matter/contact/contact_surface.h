// The surfaces of everything in an island that may touch, as points, edges and triangles over one numbering of nodes: the bodies'
// nodes first, in the order of their meshes, then the vertices of triangulated obstacles, which are led and never solved for.
// In the plane there are points and edges only.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/matter/contact/self_contact.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter {

// What pairs of one body or obstacle have in common.
struct SurfaceOwner {
  bool with_itself = false;
  bool led = false;          // an obstacle
  double reach = 0;          // ĝ, metres: at which gap its barriers begin
  double half_thickness = 0;
  double pressure = 0;       // κ, N/m²
};

struct ContactSurface {
  int dimension = 3;
  int bodies = 0;             // owners from here on are obstacles
  int body_nodes = 0;         // nodes from here on are led
  bool apart = false;         // bodies meet obstacles only
  std::vector<Vec3> rest;     // of all nodes
  std::vector<int> owner;     // of every node
  std::vector<SurfaceOwner> owners;
  std::vector<int> points;    // nodes on the surface
  std::vector<geometry::Edge> edges;
  std::vector<geometry::Triangle> triangles;
  // At rest, square metres (2D: metres): a third of the triangles around a point or an edge; half of a point's edges in 2D.
  std::vector<double> point_area, edge_area;
  std::vector<double> edge_length;
  double mean_edge = 0;

  std::size_t nodes() const { return rest.size(); }
};

// Bodies with tetrahedra give their boundary, other bodies of three dimensions all their triangles. A body's reach is
// `relative_reach` times its mean surface edge unless `reach` is positive; pressures are left at 0. Of obstacles: their
// surfaces (Obstacle::surface), read during construction only, whose vertices move on straight lines within a step.
ContactSurface make_contact_surface(int dimension, std::span<const SelfContactBody> bodies,
                                    std::span<const geometry::Mesh* const> obstacles, double reach);

// Barriers begin at this part of the mean edge of a body's surface.
inline constexpr double relative_reach = 0.05;

}  // namespace lope::matter
