// Thin sheets: triangles in space whose rest shape is flat. The rest shape lies in the plane of the material, in one or more
// patches, which share nodes in space where they are stitched together.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <array>
#include <vector>

namespace lope::geometry {

// Material coordinates are lengths at rest, metres; patches may lie anywhere in the plane, over each other too.
struct Sheet {
  std::vector<Vec3> vertices;       // nodes, in space
  std::vector<Triangle> triangles;  // of nodes
  std::vector<Vec2> flat;           // material coordinates of flat vertices; each belongs to one node
  std::vector<Triangle> flat_triangles;  // of flat vertices, parallel to `triangles`, counter-clockwise
};

// One flat vertex per node: the plane of the vertices' x and y.
Sheet flat_sheet(std::vector<Vec3> vertices, std::vector<Triangle> triangles);

// Rectangles in the plane z = 0 around the origin and discs, of nearly equilateral triangles with edges of about
// `edge_length` (metres, positive; at least one triangle row).
Sheet rectangle_sheet(double width, double height, double edge_length);
Sheet disc_sheet(double radius, double edge_length);

// A cut-off cone around the y axis, open at both ends, its middle in the origin; of equal radii a tube. Flat it is a part of a
// ring, or a rectangle, which is closed along one straight seam: nodes there belong to two flat vertices. At least six edges around.
// Vertices lie on the cone, so edges around it are chords, shorter than flat by (edge/radius)²/24.
Sheet funnel_sheet(double bottom_radius, double top_radius, double length, double edge_length);

// What is wrong with a sheet, naming the culprit: indices out of range, degenerate or flipped triangles, edges with more than
// two triangles or neighbours of opposite orientation, nodes that no triangle uses, a flat vertex of two nodes.
Expected<void> check_sheet(const Sheet& sheet);

// Connected pieces of nodes.
int sheet_pieces(const Sheet& sheet);

// An inner edge with its two triangles, counter-clockwise (0, 1, 2) and (1, 0, 3).
struct Hinge {
  std::array<int, 4> nodes;
  std::array<int, 2> triangles;
  // The same corners in the material: of the first triangle 0, 1, 2, of the second 1, 0, 3.
  std::array<Triangle, 2> flat;
};
// In a fixed order.
std::vector<Hinge> hinges(const Sheet& sheet);

// Twice the area of a triangle of the material, signed.
inline double twice_area(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

}  // namespace lope::geometry
