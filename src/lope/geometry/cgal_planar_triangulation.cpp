#include <lope/geometry/planar_triangulation.h>

#include <algorithm>
#include <vector>

#include <CGAL/Constrained_Delaunay_triangulation_2.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_face_base_with_info_2.h>
#include <CGAL/Triangulation_vertex_base_with_info_2.h>

namespace lope::geometry {
namespace {

// Outer triangles that are looked through for one of the domain nearby.
constexpr std::size_t reach = 200;

struct FaceInfo {
  int nesting = -1;   // borders between the face and infinity
  int triangle = -1;  // its number in the domain
};

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Vertices = CGAL::Triangulation_vertex_base_with_info_2<int, Kernel>;
using Faces = CGAL::Constrained_triangulation_face_base_2<Kernel, CGAL::Triangulation_face_base_with_info_2<FaceInfo, Kernel>>;
using Storage = CGAL::Triangulation_data_structure_2<Vertices, Faces>;
using Triangulation =
    CGAL::Constrained_Delaunay_triangulation_2<Kernel, Storage, CGAL::No_constraint_intersection_requiring_constructions_tag>;
using Point = Kernel::Point_2;
using Face = Triangulation::Face_handle;

Vec2 position(const Face& face, int k) { return {face->vertex(k)->point().x(), face->vertex(k)->point().y()}; }

std::array<double, 3> barycentric(const Face& face, const Vec2& p) {
  const Vec2 a = position(face, 0), u = position(face, 1) - a, v = position(face, 2) - a, w = p - a;
  const double area = u[0] * v[1] - u[1] * v[0];
  const double second = (w[0] * v[1] - w[1] * v[0]) / area, third = (u[0] * w[1] - u[1] * w[0]) / area;
  return {1 - second - third, second, third};
}

}  // namespace

struct PlanarTriangulation::Implementation {
  Triangulation triangulation;
  mutable Face last;  // where the next point is looked for first

  bool insert(std::span<const Vec2> points, std::span<const Edge> borders) {
    triangulation.clear();
    std::vector<Triangulation::Vertex_handle> handles(points.size());
    Face hint;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t before = triangulation.number_of_vertices();
      handles[i] = triangulation.insert(Point(points[i][0], points[i][1]), hint);
      if (triangulation.number_of_vertices() > before) handles[i]->info() = static_cast<int>(i);
      hint = handles[i]->face();
    }
    try {
      for (const Edge& edge : borders) {
        const auto &a = handles[static_cast<std::size_t>(edge[0])], &b = handles[static_cast<std::size_t>(edge[1])];
        if (a != b) triangulation.insert_constraint(a, b);
      }
    } catch (const Triangulation::Intersection_of_constraints_exception&) {
      return false;
    }
    return triangulation.number_of_vertices() <= points.size();
  }

  // Floods the faces from infinity inwards, border after border.
  void nest() {
    std::vector<Face> layer = {triangulation.infinite_face()};
    for (int depth = 0; !layer.empty(); ++depth) {
      std::vector<Face> next, queue = std::move(layer);
      while (!queue.empty()) {
        const Face face = queue.back();
        queue.pop_back();
        if (face->info().nesting >= 0) continue;
        face->info().nesting = depth;
        for (int k = 0; k < 3; ++k) {
          const Face other = face->neighbor(k);
          if (other->info().nesting >= 0) continue;
          (triangulation.is_constrained({face, k}) ? next : queue).push_back(other);
        }
      }
      layer = std::move(next);
    }
  }
};

PlanarTriangulation::PlanarTriangulation(std::span<const Vec2> points, std::span<const Edge> borders)
    : implementation_(std::make_unique<Implementation>()) {
  Triangulation& triangulation = implementation_->triangulation;
  const bool bordered = implementation_->insert(points, borders);
  if (!bordered) implementation_->insert(points, {});
  if (triangulation.dimension() < 2) return;
  if (bordered) implementation_->nest();
  for (const Face face : triangulation.finite_face_handles()) {
    if (bordered && face->info().nesting % 2 == 0) continue;
    face->info().triangle = static_cast<int>(triangles_.size());
    triangles_.push_back({face->vertex(0)->info(), face->vertex(1)->info(), face->vertex(2)->info()});
  }
}

PlanarTriangulation::~PlanarTriangulation() = default;
PlanarTriangulation::PlanarTriangulation(PlanarTriangulation&&) noexcept = default;
PlanarTriangulation& PlanarTriangulation::operator=(PlanarTriangulation&&) noexcept = default;

std::optional<PlanarTriangulation::Place> PlanarTriangulation::locate(const Vec2& point) const {
  if (triangles_.empty()) return {};
  const Triangulation& triangulation = implementation_->triangulation;
  const Face start = triangulation.locate(Point(point[0], point[1]), implementation_->last);
  implementation_->last = start;
  if (start->info().triangle >= 0) return Place{start->info().triangle, barycentric(start, point)};
  // Rings of outer faces around it, until there are faces of the domain; the one that is left least.
  std::vector<Face> seen = {start};
  Face best;
  double least = 0;
  for (std::size_t i = 0; i < seen.size() && (seen.size() < reach || best == Face()); ++i) {
    for (int k = 0; k < 3; ++k) {
      const Face other = seen[i]->neighbor(k);
      if (std::find(seen.begin(), seen.end(), other) != seen.end()) continue;
      seen.push_back(other);
      if (other->info().triangle < 0) continue;
      const std::array<double, 3> weights = barycentric(other, point);
      const double smallest = std::min({weights[0], weights[1], weights[2]});
      if (best == Face() || smallest > least) {
        best = other;
        least = smallest;
      }
    }
  }
  if (best == Face()) return {};
  return Place{best->info().triangle, barycentric(best, point)};
}

}  // namespace lope::geometry
