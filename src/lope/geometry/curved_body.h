// Curved shapes as the implicit bodies that the Delaunay mesher wants, and the maps onto their true surfaces.
// Internal to geometry/; use shapes.h.
#pragma once

#include <lope/geometry/delaunay_meshing.h>
#include <lope/geometry/shapes.h>

#include <functional>
#include <string>

namespace lope::geometry {

struct CurvedBody {
  std::string name;
  delaunay::ImplicitBody implicit;  // in the body's own frame: centre at the origin, axis along z
  // The point of the surface for a boundary vertex that lies within `tolerance` of it.
  std::function<Vec3(const Vec3& vertex, double tolerance)> project;
  double thinnest = 0;  // smallest radius of curvature, wall or gap: bounds the edge length
  Mat3 rotation = Mat3::Identity();
  Vec3 center = Vec3::Zero();
  bool largest_part_only = false;
};

// Fail where a size is not positive and finite, an axis is zero, or a torus has no hole.
Expected<CurvedBody> curved_body(const Sphere& sphere);
Expected<CurvedBody> curved_body(const Torus& torus);
Expected<CurvedBody> curved_body(const Cylinder& cylinder);
Expected<CurvedBody> curved_body(const Capsule& capsule);
Expected<CurvedBody> curved_body(const ImplicitShape& shape);

// Points where the lines of a grid of at most `spacing` cross the surface, so that every component, wall and
// handle wider than the spacing is met; thinned until no two are closer than `apart`.
std::vector<Vec3> surface_seeds(const delaunay::ImplicitBody& body, double spacing, double apart);

// By counting points of a coarse grid.
double approximate_volume(const delaunay::ImplicitBody& body);

}  // namespace lope::geometry
