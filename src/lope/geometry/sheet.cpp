#include <lope/base/errors.h>
#include <lope/geometry/sheet.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lope::geometry {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// A directed edge of a triangle, under the sorted pair of its nodes.
struct SheetEdge {
  int low, high;
  int triangle, corner;  // from `corner` to the next one
};

std::vector<SheetEdge> sorted_edges(const Sheet& sheet) {
  std::vector<SheetEdge> edges;
  edges.reserve(3 * sheet.triangles.size());
  for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int a = sheet.triangles[t][index(k)], b = sheet.triangles[t][index((k + 1) % 3)];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<int>(t), k});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const SheetEdge& a, const SheetEdge& b) {
    return std::tie(a.low, a.high, a.triangle, a.corner) < std::tie(b.low, b.high, b.triangle, b.corner);
  });
  return edges;
}

// Joins two rows of vertices, both from left to right, by triangles with the shorter diagonal.
void join_rows(const Sheet& sheet, const std::vector<int>& below, const std::vector<int>& above,
               std::vector<Triangle>& triangles) {
  std::size_t i = 0, j = 0;
  const auto at = [&](int v) -> const Vec3& { return sheet.vertices[index(v)]; };
  while (i + 1 < below.size() || j + 1 < above.size()) {
    const bool along_below =
        j + 1 == above.size() ||
        (i + 1 < below.size() &&
         (at(below[i + 1]) - at(above[j])).squaredNorm() <= (at(above[j + 1]) - at(below[i])).squaredNorm());
    if (along_below) {
      triangles.push_back({below[i], below[i + 1], above[j]});
      ++i;
    } else {
      triangles.push_back({below[i], above[j + 1], above[j]});
      ++j;
    }
  }
}

Sheet from_plane(Sheet sheet) { return flat_sheet(std::move(sheet.vertices), std::move(sheet.triangles)); }

int rows_across(double length, double edge_length) {
  return std::max(1, static_cast<int>(std::lround(length / (0.5 * std::numbers::sqrt3 * edge_length))));
}

// Where the vertices of row r are, between 0 and 1: every other row is shifted by half an edge, with its ends on the border.
std::vector<double> places_in_row(int r, int segments) {
  std::vector<double> places;
  if (r % 2 == 0) {
    for (int k = 0; k <= segments; ++k) places.push_back(static_cast<double>(k) / segments);
  } else {
    places.push_back(0);
    for (int k = 0; k < segments; ++k) places.push_back((k + 0.5) / segments);
    places.push_back(1);
  }
  return places;
}

}  // namespace

Sheet flat_sheet(std::vector<Vec3> vertices, std::vector<Triangle> triangles) {
  Sheet sheet;
  for (const Vec3& p : vertices) sheet.flat.emplace_back(p[0], p[1]);
  sheet.vertices = std::move(vertices);
  sheet.flat_triangles = triangles;
  sheet.triangles = std::move(triangles);
  return sheet;
}

// Rows at a distance of √3/2 edges.
Sheet rectangle_sheet(double width, double height, double edge_length) {
  const int columns = std::max(1, static_cast<int>(std::lround(width / edge_length)));
  const int rows = rows_across(height, edge_length);
  Sheet sheet;
  std::vector<int> below;
  for (int r = 0; r <= rows; ++r) {
    std::vector<int> row;
    for (const double s : places_in_row(r, columns)) {
      row.push_back(static_cast<int>(sheet.vertices.size()));
      sheet.vertices.emplace_back((s - 0.5) * width, (static_cast<double>(r) / rows - 0.5) * height, 0.0);
    }
    if (r > 0) join_rows(sheet, below, row, sheet.triangles);
    below = std::move(row);
  }
  return from_plane(std::move(sheet));
}

// Rows as in a rectangle, at the angle φ from the middle of the sector, whose half opening has the sine `widening`; the last
// vertex of a row is the node of the first.
Sheet funnel_sheet(double bottom_radius, double top_radius, double length, double edge_length) {
  constexpr int fewest_around = 6;
  const double slant = std::hypot(length, top_radius - bottom_radius),
               widening = (top_radius - bottom_radius) / slant;
  const int rows = rows_across(slant, edge_length);
  Sheet plan;
  std::vector<Vec3> nodes;
  std::vector<int> node_of, below;
  for (int r = 0; r <= rows; ++r) {
    const double part = static_cast<double>(r) / rows,
                 radius = (1 - part) * bottom_radius + part * top_radius;
    const double around = 2 * std::numbers::pi * radius;
    const std::vector<double> places =
        places_in_row(r, std::max(fewest_around, static_cast<int>(std::lround(around / edge_length))));
    const int first = static_cast<int>(nodes.size());
    std::vector<int> row;
    for (const double s : places) {
      // sin φ/widening and (1 − cos φ)/widening, which have limits where the funnel is a tube.
      const double turn = 2 * std::numbers::pi * (s - 0.5), angle = widening * turn;
      const double across = widening == 0 ? turn : std::sin(angle) / widening;
      const double along = widening == 0 ? 0 : 2 * std::pow(std::sin(0.5 * angle), 2) / widening;
      row.push_back(static_cast<int>(plan.vertices.size()));
      plan.vertices.emplace_back(radius * across, (part - 0.5) * slant - radius * along, 0.0);
      node_of.push_back(s == 1 ? first : static_cast<int>(nodes.size()));
      if (s < 1) nodes.emplace_back(radius * std::cos(turn), (part - 0.5) * length, -radius * std::sin(turn));
    }
    if (r > 0) join_rows(plan, below, row, plan.triangles);
    below = std::move(row);
  }
  Sheet sheet = from_plane(std::move(plan));
  sheet.vertices = std::move(nodes);
  for (Triangle& t : sheet.triangles) {
    for (int& corner : t) corner = node_of[index(corner)];
  }
  return sheet;
}

// Rings of 6 k vertices.
Sheet disc_sheet(double radius, double edge_length) {
  const int rings = std::max(1, static_cast<int>(std::lround(radius / edge_length)));
  Sheet sheet;
  sheet.vertices.emplace_back(Vec3::Zero());
  std::vector<int> inner = {0};
  for (int k = 1; k <= rings; ++k) {
    std::vector<int> ring;
    for (int i = 0; i < 6 * k; ++i) {
      const double angle = 2 * std::numbers::pi * i / (6 * k), r = radius * k / rings;
      ring.push_back(static_cast<int>(sheet.vertices.size()));
      sheet.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), 0.0);
    }
    ring.push_back(ring.front());
    if (k == 1) {
      for (std::size_t i = 0; i < 6; ++i) sheet.triangles.push_back({0, ring[i], ring[i + 1]});
    } else {
      join_rows(sheet, ring, inner, sheet.triangles);
    }
    inner = std::move(ring);
  }
  return from_plane(std::move(sheet));
}

Expected<void> check_sheet(const Sheet& sheet) {
  const int nodes = static_cast<int>(sheet.vertices.size()), flats = static_cast<int>(sheet.flat.size());
  if (sheet.triangles.empty()) return input_error("the sheet has no triangles");
  if (sheet.flat_triangles.size() != sheet.triangles.size())
    return input_error("the sheet has {} triangles in space and {} in the material", sheet.triangles.size(),
                       sheet.flat_triangles.size());
  std::vector<int> node_of(sheet.flat.size(), -1);
  std::vector<bool> used(sheet.vertices.size(), false);
  for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int node = sheet.triangles[t][k], flat = sheet.flat_triangles[t][k];
      if (node < 0 || node >= nodes || flat < 0 || flat >= flats)
        return input_error("triangle {} refers to a vertex that does not exist", t);
      used[index(node)] = true;
      if (node_of[index(flat)] >= 0 && node_of[index(flat)] != node)
        return input_error("material vertex {} belongs to vertices {} and {}", flat, node_of[index(flat)], node);
      node_of[index(flat)] = node;
    }
    const Triangle& corner = sheet.triangles[t];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
      return input_error("triangle {} has the same vertex twice", t);
    const Triangle& f = sheet.flat_triangles[t];
    const Vec2 &a = sheet.flat[index(f[0])], &b = sheet.flat[index(f[1])], &c = sheet.flat[index(f[2])];
    const double longest = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    const double area = twice_area(a, b, c);
    if (!std::isfinite(area) || std::abs(area) <= 1e-6 * longest)
      return input_error("triangle {} is degenerate in the material (its area is {:.3g} of its longest edge squared)", t,
                         longest > 0 ? std::abs(area) / longest : 0.0);
    if (area < 0) return input_error("triangle {} is flipped in the material (UV)", t);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) return input_error("no triangle uses vertex {}", i);
  }
  const std::vector<SheetEdge> edges = sorted_edges(sheet);
  for (std::size_t e = 1; e < edges.size(); ++e) {
    const SheetEdge &one = edges[e - 1], &two = edges[e];
    if (one.low != two.low || one.high != two.high) continue;
    if (e + 1 < edges.size() && edges[e + 1].low == two.low && edges[e + 1].high == two.high)
      return input_error("the edge of vertices {} and {} belongs to more than two triangles", one.low, one.high);
    if (sheet.triangles[index(one.triangle)][index(one.corner)] == sheet.triangles[index(two.triangle)][index(two.corner)])
      return input_error("triangles {} and {} are neighbours of opposite orientation", one.triangle, two.triangle);
  }
  return {};
}

int sheet_pieces(const Sheet& sheet) {
  std::vector<int> root(sheet.vertices.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[index(i)] != i) i = root[index(i)] = root[index(root[index(i)])];
    return i;
  };
  int pieces = static_cast<int>(sheet.vertices.size());
  for (const Triangle& t : sheet.triangles) {
    for (std::size_t k = 1; k < 3; ++k) {
      const int a = find(t[0]), b = find(t[k]);
      if (a == b) continue;
      root[index(std::max(a, b))] = std::min(a, b);
      --pieces;
    }
  }
  return pieces;
}

std::vector<Hinge> hinges(const Sheet& sheet) {
  std::vector<Hinge> result;
  const std::vector<SheetEdge> edges = sorted_edges(sheet);
  for (std::size_t e = 1; e < edges.size(); ++e) {
    const SheetEdge &one = edges[e - 1], &two = edges[e];
    if (one.low != two.low || one.high != two.high) continue;
    const auto corner = [](const SheetEdge& edge, int k) { return index((edge.corner + k) % 3); };
    const Triangle &s = sheet.triangles[index(one.triangle)], &t = sheet.triangles[index(two.triangle)];
    const Triangle &fs = sheet.flat_triangles[index(one.triangle)], &ft = sheet.flat_triangles[index(two.triangle)];
    result.push_back({{s[corner(one, 0)], s[corner(one, 1)], s[corner(one, 2)], t[corner(two, 2)]},
                      {one.triangle, two.triangle},
                      {Triangle{fs[corner(one, 0)], fs[corner(one, 1)], fs[corner(one, 2)]},
                       Triangle{ft[corner(two, 0)], ft[corner(two, 1)], ft[corner(two, 2)]}}});
  }
  return result;
}

}  // namespace lope::geometry
