// Constrained Delaunay triangulations of points in the plane (CGAL), and where other points are in them.
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lope::geometry {

class PlanarTriangulation {
 public:
  // The borders (pairs of points) enclose the domain, holes included; where they cross each other, the domain is all of the
  // convex hull. Of points that coincide, the first counts.
  PlanarTriangulation(std::span<const Vec2> points, std::span<const Edge> borders);
  ~PlanarTriangulation();
  PlanarTriangulation(PlanarTriangulation&&) noexcept;
  PlanarTriangulation& operator=(PlanarTriangulation&&) noexcept;

  // Those of the domain, counter-clockwise, in a fixed order; empty where the points lie on a line.
  const std::vector<Triangle>& triangles() const { return triangles_; }

  // The triangle of the domain that contains a point, or one near it.
  struct Place {
    int triangle = -1;
    std::array<double, 3> weights = {};  // barycentric; negative ones where the point is outside
  };
  // Nothing: the domain is empty.
  std::optional<Place> locate(const Vec2& point) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
  std::vector<Triangle> triangles_;
};

}  // namespace lope::geometry
