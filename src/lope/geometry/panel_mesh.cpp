#include <lope/base/errors.h>
#include <lope/geometry/panel_mesh.h>
#include <lope/geometry/planar_triangulation.h>
#include <lope/geometry/sheet.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lope::geometry {
namespace {

// Of the edge: points of the lattice keep this distance from the boundary.
constexpr double margin = 0.6;
constexpr int smoothing_rounds = 8;
// Of its longest edge squared: the area of a triangle that is none.
constexpr double degenerate = 1e-4;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// Negative outside.
double depth(std::span<const Vec2> boundary, const Vec2& p) {
  bool inside = false;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    const Vec2 &a = boundary[i], &b = boundary[(i + 1) % boundary.size()], along = b - a;
    const double t = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
    nearest = std::min(nearest, (a + t * along - p).squaredNorm());
    if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) / along[1] * along[0]) inside = !inside;
  }
  return (inside ? 1 : -1) * std::sqrt(nearest);
}

void add_lattice(std::span<const Vec2> boundary, double edge, std::vector<Vec2>& points) {
  Vec2 low = boundary[0], high = boundary[0];
  for (const Vec2& p : boundary) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double rise = 0.5 * std::numbers::sqrt3 * edge;
  const int rows = static_cast<int>((high[1] - low[1]) / rise),
            columns = static_cast<int>((high[0] - low[0]) / edge);
  for (int r = 0; r <= rows; ++r) {
    for (int c = 0; c <= columns; ++c) {
      const Vec2 p(low[0] + (c + (r % 2 == 0 ? 0.25 : 0.75)) * edge, low[1] + (r + 0.5) * rise);
      if (depth(boundary, p) > margin * edge) points.push_back(p);
    }
  }
}

// Points of the inside go to the mean of the centres of the triangles around them, weighted by area.
void smooth(const std::vector<Triangle>& triangles, std::size_t fixed, std::vector<Vec2>& points) {
  struct Around {
    Vec2 moment = Vec2::Zero();
    double area = 0;
  };
  std::vector<Around> around(points.size());
  for (const Triangle& t : triangles) {
    const Vec2 &a = points[index(t[0])], &b = points[index(t[1])], &c = points[index(t[2])];
    const double part = twice_area(a, b, c);
    for (const int i : t) {
      around[index(i)].moment += part / 3 * (a + b + c);
      around[index(i)].area += part;
    }
  }
  for (std::size_t i = fixed; i < points.size(); ++i) {
    if (around[i].area > 0) points[i] = around[i].moment / around[i].area;
  }
}

// Points of the inside that no triangle uses.
void drop_unused(std::size_t fixed, PanelMesh& mesh) {
  std::vector<int> place(mesh.points.size(), -1);
  for (std::size_t i = 0; i < fixed; ++i) place[i] = static_cast<int>(i);
  for (const Triangle& t : mesh.triangles) {
    for (const int i : t) place[index(i)] = i;
  }
  std::vector<Vec2> kept;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    place[i] = static_cast<int>(kept.size());
    kept.push_back(mesh.points[i]);
  }
  for (Triangle& t : mesh.triangles) {
    for (int& i : t) i = place[index(i)];
  }
  mesh.points = std::move(kept);
}

}  // namespace

Expected<PanelMesh> mesh_panel(std::span<const Vec2> boundary, double edge) {
  PanelMesh mesh;
  mesh.points.assign(boundary.begin(), boundary.end());
  add_lattice(boundary, edge, mesh.points);
  std::vector<Edge> borders;
  const int n = static_cast<int>(boundary.size());
  for (int i = 0; i < n; ++i) borders.push_back({i, (i + 1) % n});
  mesh.triangles = PlanarTriangulation(mesh.points, borders).triangles();
  for (int round = 0; round < smoothing_rounds; ++round) {
    smooth(mesh.triangles, boundary.size(), mesh.points);
    mesh.triangles = PlanarTriangulation(mesh.points, borders).triangles();
  }
  drop_unused(boundary.size(), mesh);
  std::vector<bool> used(boundary.size(), false);
  for (const Triangle& t : mesh.triangles) {
    const Vec2 &a = mesh.points[index(t[0])], &b = mesh.points[index(t[1])], &c = mesh.points[index(t[2])];
    const double longest = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    if (!(twice_area(a, b, c) > degenerate * longest))
      return input_error("it is too narrow at ({:.4g}, {:.4g}): a triangle there has no area", a[0], a[1]);
    for (const int i : t) {
      if (i < n) used[index(i)] = true;
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i])
      return input_error("it is too narrow at ({:.4g}, {:.4g}): no triangle fits there", boundary[i][0],
                         boundary[i][1]);
  }
  return mesh;
}

}  // namespace lope::geometry
