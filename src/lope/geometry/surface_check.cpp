#include <lope/base/errors.h>
#include <lope/geometry/delaunay_meshing.h>
#include <lope/geometry/surface_check.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::geometry {

namespace {

// One side of a triangle: from vertex `from` to `to`, in the triangle's direction.
struct Side {
  int from, to, triangle;
  Edge key() const { return {std::min(from, to), std::max(from, to)}; }
};

std::vector<Side> sorted_sides(const Mesh& surface) {
  std::vector<Side> sides;
  sides.reserve(3 * surface.triangles.size());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Triangle& v = surface.triangles[t];
    for (int i = 0; i < 3; ++i) sides.push_back({v[i], v[(i + 1) % 3], static_cast<int>(t)});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    const Edge ka = a.key(), kb = b.key();
    return ka != kb ? ka < kb : a.triangle < b.triangle;
  });
  return sides;
}

std::string where(const Mesh& surface, int vertex) {
  const Vec3& p = surface.vertices[vertex];
  return fmt::format("{} at ({:.6g}, {:.6g}, {:.6g})", vertex, p.x(), p.y(), p.z());
}

std::optional<Error> check_data(const Mesh& surface) {
  if (surface.triangles.empty()) return Error{"the surface has no triangles; a closed surface is needed"};
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    if (!surface.vertices[v].allFinite()) {
      return Error{fmt::format("vertex {} of the surface is not finite; correct or remove it", v)};
    }
  }
  const int count = static_cast<int>(surface.vertices.size());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (const int v : surface.triangles[t]) {
      if (v < 0 || v >= count) {
        return Error{
            fmt::format("triangle {} of the surface names vertex {}, but there are {}", t, v, count)};
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> check_areas(const Mesh& surface) {
  constexpr double flat = 1e-14;  // of the square of the longest edge: nothing but round-off
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [i, j, k] = surface.triangles[t];
    const Vec3 a = surface.vertices[j] - surface.vertices[i], b = surface.vertices[k] - surface.vertices[i];
    const double longest = std::max({a.squaredNorm(), b.squaredNorm(), (a - b).squaredNorm()});
    if (!(a.cross(b).norm() > flat * longest)) {
      return Error{
          fmt::format("triangle {} of the surface (vertices {}, {}, {}) has no area; remove it and join its "
                      "neighbours, or clean the surface in a mesh editor",
                      t, i, j, k)};
    }
  }
  return std::nullopt;
}

bool is_open(const std::vector<Side>& sides) {
  for (std::size_t i = 0; i < sides.size(); i += 2) {
    if (i + 1 == sides.size() || sides[i].key() != sides[i + 1].key()) return true;
  }
  return false;
}

std::optional<Error> check_edges(const Mesh& surface, const std::vector<Side>& sides) {
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].key() == sides[i].key()) ++end;
    const Side& side = sides[i];
    const std::string edge = fmt::format("the edge between vertices {} and {}", where(surface, side.key()[0]),
                                         where(surface, side.key()[1]));
    if (end - i == 1) {
      return Error{fmt::format("the surface is open: {} belongs to triangle {} only; close the hole", edge,
                               side.triangle)};
    }
    if (end - i > 2) {
      return Error{
          fmt::format("the surface is not manifold: {} belongs to {} triangles ({}, {}, {}, …); separate the "
                      "parts that meet there",
                      edge, end - i, side.triangle, sides[i + 1].triangle, sides[i + 2].triangle)};
    }
    if (side.from == sides[i + 1].from) {
      return Error{fmt::format(
          "triangles {} and {} are oriented against each other at {}; make the orientation of the "
          "surface consistent",
          side.triangle, sides[i + 1].triangle, edge)};
    }
    i = end;
  }
  return std::nullopt;
}

// At a manifold vertex the triangles form one fan: their corners are all joined across the edges they share.
std::optional<Error> check_fans(const Mesh& surface, const std::vector<Side>& sides) {
  std::vector<int> parent(3 * surface.triangles.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int corner) {
    while (parent[corner] != corner) corner = parent[corner] = parent[parent[corner]];
    return corner;
  };
  const auto corner = [&](int triangle, int vertex) {
    const Triangle& t = surface.triangles[triangle];
    return 3 * triangle + static_cast<int>(std::find(t.begin(), t.end(), vertex) - t.begin());
  };
  for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
    for (const int vertex : sides[i].key()) {
      const int a = root(corner(sides[i].triangle, vertex)), b = root(corner(sides[i + 1].triangle, vertex));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<int> fan_of_vertex(surface.vertices.size(), -1);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (int i = 0; i < 3; ++i) {
      int& fan = fan_of_vertex[surface.triangles[t][i]];
      const int mine = root(static_cast<int>(3 * t) + i);
      if (fan == -1) fan = mine;
      if (fan != mine) {
        return Error{
            fmt::format("the surface is not manifold: separate fans of triangles ({} and {}) meet at vertex "
                        "{}; duplicate or move the vertex",
                        fan / 3, mine / 3, where(surface, surface.triangles[t][i]))};
      }
    }
  }
  return std::nullopt;
}

// Joins vertices at exactly the same place.
void join_coincident_vertices(Mesh& surface) {
  std::vector<int> order(surface.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](int a, int b) {
    const Vec3 &p = surface.vertices[a], &q = surface.vertices[b];
    if (p != q) return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
    return a < b;
  };
  std::sort(order.begin(), order.end(), less);
  std::vector<int> representative(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && surface.vertices[order[i]] == surface.vertices[order[i - 1]];
    representative[order[i]] = same ? representative[order[i - 1]] : order[i];
  }
  for (Triangle& t : surface.triangles) {
    for (int& v : t) v = representative[v];
  }
}

double cone_volume(const Mesh& surface, const Triangle& t, const Vec3& origin) {
  const Vec3 a = surface.vertices[t[0]] - origin;
  const Vec3 b = surface.vertices[t[1]] - origin;
  const Vec3 c = surface.vertices[t[2]] - origin;
  return a.dot(b.cross(c)) / 6;
}

// How often a component of the surface winds around a point: the solid angles of its triangles (van Oosterom
// and Strackee 1983) over 4π.
double winding_number(const Mesh& surface, const std::vector<int>& triangles, const Vec3& point) {
  double angle = 0;
  for (const int t : triangles) {
    const Vec3 a = surface.vertices[surface.triangles[t][0]] - point;
    const Vec3 b = surface.vertices[surface.triangles[t][1]] - point;
    const Vec3 c = surface.vertices[surface.triangles[t][2]] - point;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return angle / (4 * std::numbers::pi);
}

// Components inside an odd number of others bound cavities and point the other way.
void orient_components(Mesh& surface) {
  const Components components = connected_components(surface);
  std::vector<std::vector<int>> triangles(components.count);
  std::vector<Bounds> boxes(components.count);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const int c = components.of_vertex[surface.triangles[t][0]];
    triangles[c].push_back(static_cast<int>(t));
    for (const int v : surface.triangles[t]) boxes[c].add(surface.vertices[v]);
  }
  for (int c = 0; c < components.count; ++c) {
    const Vec3& point = surface.vertices[surface.triangles[triangles[c].front()][0]];
    int depth = 0;
    for (int other = 0; other < components.count; ++other) {
      const bool near = (boxes[other].min.array() <= point.array()).all() &&
                        (boxes[other].max.array() >= point.array()).all();
      if (other != c && near) depth += std::abs(winding_number(surface, triangles[other], point)) > 0.5;
    }
    double volume = 0;
    for (const int t : triangles[c]) volume += cone_volume(surface, surface.triangles[t], boxes[c].center());
    if ((volume < 0) == (depth % 2 == 1)) continue;
    for (const int t : triangles[c]) std::swap(surface.triangles[t][1], surface.triangles[t][2]);
  }
}

}  // namespace

Expected<Mesh> check_surface(const Mesh& given) {
  if (auto error = check_data(given)) return tl::unexpected(*error);
  Mesh surface{given.vertices, given.triangles, {}, {}};
  std::vector<Side> sides = sorted_sides(surface);
  if (is_open(sides)) {
    join_coincident_vertices(surface);
    sides = sorted_sides(surface);
  }
  if (auto error = check_areas(surface)) return tl::unexpected(*error);
  if (auto error = check_edges(surface, sides)) return tl::unexpected(*error);
  if (auto error = check_fans(surface, sides)) return tl::unexpected(*error);
  const Expected<std::optional<std::array<int, 2>>> crossing = delaunay::find_self_intersection(surface);
  if (!crossing) return forward_error(crossing);
  if (*crossing) {
    const auto [a, b] = **crossing;
    return input_error(
        "the surface crosses itself: triangles {} and {} intersect near vertex {}; repair it in a mesh "
        "editor",
        a, b, where(surface, surface.triangles[a][0]));
  }
  orient_components(surface);
  drop_unused_vertices(surface);
  return surface;
}

double enclosed_volume(const Mesh& surface) {
  const Vec3 origin = bounds(surface.vertices).center();
  double volume = 0;
  for (const Triangle& t : surface.triangles) volume += cone_volume(surface, t, origin);
  return volume;
}

}  // namespace lope::geometry
