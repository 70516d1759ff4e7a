#include <lope/base/parallel.h>
#include <lope/geometry/bvh.h>
#include <lope/geometry/closest_point.h>
#include <lope/geometry/overlap.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Geometry>

namespace lope::geometry {

namespace {

template <std::size_t n>
std::array<Vec3, n> corners_of(const Mesh& mesh, const std::array<int, n>& element) {
  std::array<Vec3, n> x;
  for (std::size_t i = 0; i < n; ++i) x[i] = mesh.vertices[element[i]];
  return x;
}

template <class Element>
std::vector<Bounds> element_boxes(const Mesh& mesh, const std::vector<Element>& elements) {
  std::vector<Bounds> boxes(elements.size());
  parallel_for(elements.size(), 4096, [&](std::size_t e) {
    for (const int v : elements[e]) boxes[e].add(mesh.vertices[v]);
  });
  return boxes;
}

// The separating-axis test: keeps the least overlap of the two sets' shadows over the axes it is shown.
struct Separation {
  std::span<const Vec3> a, b;
  double overlap = std::numeric_limits<double>::infinity();

  void try_axis(const Vec3& axis) {
    const double length = axis.norm();
    if (length < 1e-12) return;  // parallel edges: the face normals cover them
    double min_a = 1e300, max_a = -1e300, min_b = 1e300, max_b = -1e300;
    for (const Vec3& x : a) {
      min_a = std::min(min_a, x.dot(axis));
      max_a = std::max(max_a, x.dot(axis));
    }
    for (const Vec3& x : b) {
      min_b = std::min(min_b, x.dot(axis));
      max_b = std::max(max_b, x.dot(axis));
    }
    overlap = std::min(overlap, std::min(max_a - min_b, max_b - min_a) / length);
  }
};

constexpr int tet_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
constexpr int tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

// The shortest way to separate two convex elements; not positive when they are apart. Unit-free axes: edges
// are normalised before their products are taken.
double element_depth(const std::array<Vec3, 4>& a, const std::array<Vec3, 4>& b) {
  Separation separation{a, b};
  for (const auto* tetrahedron : {&a, &b}) {
    const auto& x = *tetrahedron;
    for (const auto& f : tet_faces) {
      separation.try_axis((x[f[1]] - x[f[0]]).normalized().cross((x[f[2]] - x[f[0]]).normalized()));
    }
  }
  for (const auto& e : tet_edges) {
    const Vec3 edge = (a[e[1]] - a[e[0]]).normalized();
    for (const auto& g : tet_edges) {
      if (separation.overlap <= 0) return separation.overlap;
      separation.try_axis(edge.cross((b[g[1]] - b[g[0]]).normalized()));
    }
  }
  return separation.overlap;
}

double element_depth(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b) {
  Separation separation{a, b};
  for (const auto* triangle : {&a, &b}) {
    for (int i = 0; i < 3; ++i) {
      const Vec3 edge = ((*triangle)[(i + 1) % 3] - (*triangle)[i]).normalized();
      separation.try_axis(Vec3(-edge.y(), edge.x(), 0));
    }
  }
  return separation.overlap;
}

// Signs of the parts that a point cuts an element into: inside when none is negative.
bool contains(const std::array<Vec3, 4>& x, const Vec3& point) {
  for (int i = 0; i < 4; ++i) {
    std::array<Vec3, 4> part = x;
    part[i] = point;
    if ((part[1] - part[0]).dot((part[2] - part[0]).cross(part[3] - part[0])) < 0) return false;
  }
  return true;
}

bool contains(const std::array<Vec3, 3>& x, const Vec3& point) {
  for (int i = 0; i < 3; ++i) {
    if ((x[(i + 1) % 3] - x[i]).cross(point - x[i]).z() < 0) return false;
  }
  return true;
}

double squared_distance_to(const Vec3& point, const std::array<Vec3, 2>& x) {
  return closest_on_segment<3>(point, x[0], x[1]).squared_distance;
}

double squared_distance_to(const Vec3& point, const std::array<Vec3, 3>& x) {
  return closest_on_triangle(point, x[0], x[1], x[2]).squared_distance;
}

std::vector<Triangle> boundary_of(const std::vector<Tetrahedron>& elements) {
  return boundary_triangles(elements);
}

std::vector<Edge> boundary_of(const std::vector<Triangle>& triangles) { return boundary_edges(triangles); }

// Largest distance below the surface of `body` over some vertices of the other one.
template <class Element>
double vertex_depth(const Mesh& body, const std::vector<Element>& elements, const Bvh& tree,
                    const Mesh& other, const std::vector<int>& other_vertices) {
  std::vector<int> inside;
  for (const int v : other_vertices) {
    const Vec3& point = other.vertices[v];
    bool found = false;
    tree.for_each_containing(point,
                             [&](int e) { found = found || contains(corners_of(body, elements[e]), point); });
    if (found) inside.push_back(v);
  }
  if (inside.empty()) return 0;
  const auto surface = boundary_of(elements);
  const Bvh surface_tree(element_boxes(body, surface));
  return parallel_max(inside.size(), 64, [&](std::size_t begin, std::size_t end) {
    double deepest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto distance = [&](int t, const Vec3& p) {
        return squared_distance_to(p, corners_of(body, surface[t]));
      };
      const double squared = surface_tree.nearest(other.vertices[inside[i]], distance).squared_distance;
      deepest = std::max(deepest, std::sqrt(squared));
    }
    return deepest;
  });
}

template <class Element>
std::vector<int> vertices_of(const Mesh& mesh, const std::vector<Element>& elements,
                             const std::vector<int>& chosen) {
  std::vector<bool> touched(mesh.vertices.size(), false);
  for (const int e : chosen) {
    for (const int v : elements[e]) touched[v] = true;
  }
  std::vector<int> vertices;
  for (std::size_t v = 0; v < touched.size(); ++v) {
    if (touched[v]) vertices.push_back(static_cast<int>(v));
  }
  return vertices;
}

template <class Element>
OverlapReport find(const Mesh& a, const std::vector<Element>& elements_a, const Mesh& b,
                   const std::vector<Element>& elements_b) {
  OverlapReport report;
  if (elements_a.empty() || elements_b.empty()) return report;
  const Bvh tree_a(element_boxes(a, elements_a)), tree_b(element_boxes(b, elements_b));
  const std::vector<IndexPair> candidates = tree_a.pairs_with(tree_b);
  const double extent =
      std::max(bounds(a.vertices).extent().maxCoeff(), bounds(b.vertices).extent().maxCoeff());
  const double tolerance = 1e-9 * extent;
  std::vector<double> depths(candidates.size());
  parallel_for(candidates.size(), 1024, [&](std::size_t i) {
    const auto [ea, eb] = candidates[i];
    depths[i] = element_depth(corners_of(a, elements_a[ea]), corners_of(b, elements_b[eb]));
  });
  std::vector<int> chosen_a, chosen_b;
  double pair_depth = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!(depths[i] > tolerance)) continue;
    ++report.pairs;
    chosen_a.push_back(candidates[i][0]);
    chosen_b.push_back(candidates[i][1]);
    if (depths[i] > pair_depth) {
      pair_depth = depths[i];
      report.deepest = candidates[i];
    }
  }
  if (report.pairs == 0) return report;
  const std::vector<int> vertices_a = vertices_of(a, elements_a, chosen_a);
  const std::vector<int> vertices_b = vertices_of(b, elements_b, chosen_b);
  report.depth = std::max(vertex_depth(b, elements_b, tree_b, a, vertices_a),
                          vertex_depth(a, elements_a, tree_a, b, vertices_b));
  if (report.depth <= tolerance) report.depth = pair_depth;
  return report;
}

}  // namespace

OverlapReport find_overlap(const Mesh& a, const Mesh& b) {
  assert(a.tetrahedra.empty() == b.tetrahedra.empty() || a.vertices.empty() || b.vertices.empty());
  if (!a.tetrahedra.empty() || !b.tetrahedra.empty()) return find(a, a.tetrahedra, b, b.tetrahedra);
  return find(a, a.triangles, b, b.triangles);
}

}  // namespace lope::geometry
