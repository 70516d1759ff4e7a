#include <lope/base/errors.h>
#include <lope/geometry/crossings.h>
#include <lope/geometry/panel_mesh.h>
#include <lope/geometry/panels.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

#include <fmt/core.h>

namespace lope::geometry {
namespace {

// A side that turns by more than this keeps a vertex there.
constexpr double corner_angle = std::numbers::pi / 6;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// One side of a seam.
struct Side {
  std::size_t panel = 0;
  PanelEdge edge;
  std::vector<Vec2> line;     // of outlines: its corners
  std::vector<double> along;  // per corner, or per vertex of a patch: the part of the length before it
  double length = 0;
  std::vector<double> places;  // of the vertices, as `along`
  std::vector<int> nodes;      // of the panel, one per place
  bool is_patch() const { return line.empty(); }
};

double area(const std::vector<Vec2>& outline) {
  double twice = 0;
  for (std::size_t i = 0; i < outline.size(); ++i)
    twice += twice_area(Vec2::Zero(), outline[i], outline[(i + 1) % outline.size()]);
  return 0.5 * twice;
}

// Counter-clockwise; edges follow.
Expected<void> check_outline(Panel& panel) {
  std::vector<Vec2>& outline = panel.outline;
  const int n = static_cast<int>(outline.size());
  if (n < 3) return input_error("panel '{}': an outline needs at least three corners", panel.name);
  std::vector<Vec3> points;
  std::vector<Edge> sides;
  for (int i = 0; i < n; ++i) {
    if (outline[index(i)] == outline[index((i + 1) % n)])
      return input_error("panel '{}': corners {} and {} are the same", panel.name, i, (i + 1) % n);
    points.emplace_back(outline[index(i)][0], outline[index(i)][1], 0);
    sides.push_back({i, (i + 1) % n});
  }
  if (const auto crossings = find_planar_crossings(points, sides); !crossings.empty())
    return input_error("panel '{}': its sides after corners {} and {} cross", panel.name, crossings[0][0],
                       crossings[0][1]);
  const double signed_area = area(outline), size = bounds(points).extent().norm();
  if (std::abs(signed_area) < 1e-6 * size * size)
    return input_error("panel '{}': its outline has no area", panel.name);
  if (signed_area > 0) return {};
  std::reverse(outline.begin(), outline.end());
  for (PanelEdge& edge : panel.edges) edge = {edge.name, n - 1 - edge.to, n - 1 - edge.from};
  return {};
}

void measure(const std::vector<Vec2>& points, Side& side) {
  side.along.assign(1, 0.0);
  for (std::size_t i = 1; i < points.size(); ++i)
    side.along.push_back(side.along.back() + (points[i] - points[i - 1]).norm());
  side.length = side.along.back();
  for (double& a : side.along) a /= side.length;
}

// From one node of a patch's border to the next, with the flat vertices of that side.
struct BorderStep {
  int next;
  Vec2 from, to;
};
std::map<int, BorderStep> border_of(const Sheet& patch) {
  std::map<Edge, int> count;
  for (const Triangle& t : patch.triangles) {
    for (std::size_t k = 0; k < 3; ++k)
      ++count[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}];
  }
  std::map<int, BorderStep> border;
  for (std::size_t t = 0; t < patch.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = patch.triangles[t][k], b = patch.triangles[t][(k + 1) % 3];
      if (count[{std::min(a, b), std::max(a, b)}] > 1) continue;
      const Triangle& flat = patch.flat_triangles[t];
      border[a] = {b, patch.flat[index(flat[k])], patch.flat[index(flat[(k + 1) % 3])]};
    }
  }
  return border;
}

Expected<Side> side_of(const std::vector<Panel>& panels, const std::string& panel_name,
                       const std::string& edge_name) {
  const auto panel =
      std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.name == panel_name; });
  if (panel == panels.end()) return input_error("there is no panel '{}'", panel_name);
  const auto edge = std::find_if(panel->edges.begin(), panel->edges.end(),
                                 [&](const PanelEdge& e) { return e.name == edge_name; });
  if (edge == panel->edges.end()) {
    std::string known;
    for (const PanelEdge& e : panel->edges) known += (known.empty() ? "" : ", ") + e.name;
    return input_error("panel '{}' has no edge '{}'; it has: {}", panel_name, edge_name,
                       known.empty() ? "none with a name" : known);
  }
  Side side;
  side.panel = index(panel - panels.begin());
  side.edge = *edge;
  const bool outlined = !panel->outline.empty();
  const int n = static_cast<int>(outlined ? panel->outline.size() : panel->patch.vertices.size());
  if (std::min(edge->from, edge->to) < 0 || std::max(edge->from, edge->to) >= n)
    return input_error("edge '{}' of panel '{}': the panel has {} {}, counted from 0", edge_name, panel_name,
                       n, outlined ? "corners" : "vertices");
  if (edge->from == edge->to)
    return input_error("edge '{}' of panel '{}' ends where it begins", edge_name, panel_name);
  if (outlined) {
    for (int i = edge->from; i != edge->to; i = (i + 1) % n) side.line.push_back(panel->outline[index(i)]);
    side.line.push_back(panel->outline[index(edge->to)]);
    measure(side.line, side);
    return side;
  }
  const std::map<int, BorderStep> border = border_of(panel->patch);
  side.nodes = {edge->from};
  side.along = {0};
  while (side.nodes.back() != edge->to) {
    const auto step = border.find(side.nodes.back());
    if (step == border.end() || side.nodes.size() > border.size())
      return input_error("edge '{}' of panel '{}': no border leads from vertex {} to vertex {}", edge_name,
                         panel_name, edge->from, edge->to);
    side.length += (step->second.to - step->second.from).norm();
    side.along.push_back(side.length);
    side.nodes.push_back(step->second.next);
  }
  for (double& a : side.along) a /= side.length;
  side.places = side.along;
  return side;
}

// Where a side has sharp corners between its ends.
std::vector<double> sharp_corners(const Side& side) {
  std::vector<double> result;
  for (std::size_t i = 1; i + 1 < side.line.size(); ++i) {
    const Vec2 in = side.line[i] - side.line[i - 1], out = side.line[i + 1] - side.line[i];
    if (std::abs(std::atan2(in[0] * out[1] - in[1] * out[0], in.dot(out))) > corner_angle)
      result.push_back(side.along[i]);
  }
  return result;
}

Vec2 point_at(const Side& side, double place) {
  const auto above = std::upper_bound(side.along.begin() + 1, side.along.end() - 1, place);
  const std::size_t i = index(above - side.along.begin());
  const double part = (place - side.along[i - 1]) / (side.along[i] - side.along[i - 1]);
  return (1 - part) * side.line[i - 1] + part * side.line[i];
}

// The free place that is nearest to another one, if nearer than `near`; it is taken from now on.
std::optional<std::size_t> take_nearest(const std::vector<double>& places, double to, double near,
                                        std::vector<bool>& taken) {
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double distance = std::abs(places[i] - to);
    if (taken[i] || !(distance < near)) continue;
    near = distance;
    nearest = i;
  }
  if (nearest) taken[*nearest] = true;
  return nearest;
}

// Vertices of two outlines: at the ends, at the sharp corners of either (of both where these are less than half an edge
// apart), equally spaced between. `second` runs backwards.
Expected<void> place_vertices(Side& first, Side& second, double edge, const std::string& where) {
  std::vector<std::array<double, 2>> stops = {{0, 0}, {1, 1}};
  const std::vector<double> corners = sharp_corners(first);
  std::vector<double> twins = corners;
  std::vector<bool> taken(corners.size(), false);
  const double near = 0.5 * edge / std::max(first.length, second.length);
  for (const double along : sharp_corners(second)) {
    const double b = 1 - along;
    if (const auto same = take_nearest(corners, b, near, taken))
      twins[*same] = b;
    else
      stops.push_back({b, b});
  }
  for (std::size_t i = 0; i < corners.size(); ++i) stops.push_back({corners[i], twins[i]});
  std::sort(stops.begin(), stops.end());
  first.places = second.places = {0};
  for (std::size_t i = 1; i < stops.size(); ++i) {
    const double a = stops[i][0] - stops[i - 1][0], b = stops[i][1] - stops[i - 1][1];
    if (!(a > 0 && b > 0))
      return input_error(
          "{}: sharp corners of its sides are less than half an edge apart, near ({:.4g}, {:.4g}) m "
          "of panel edge '{}'; a shorter edge",
          where, point_at(first, stops[i][0])[0], point_at(first, stops[i][0])[1], first.edge.name);
    const int pieces =
        std::max(1, static_cast<int>(std::lround(std::max(a * first.length, b * second.length) / edge)));
    for (int k = 1; k <= pieces; ++k) {
      const double part = static_cast<double>(k) / pieces;
      first.places.push_back(k == pieces ? stops[i][0] : stops[i - 1][0] + part * a);
      second.places.push_back(k == pieces ? stops[i][1] : stops[i - 1][1] + part * b);
    }
  }
  std::reverse(second.places.begin(), second.places.end());
  for (double& place : second.places) place = 1 - place;
  return {};
}

// Vertices of an outline where those of a patch are; the nearest ones move to its sharp corners. `patch` runs backwards.
Expected<void> copy_vertices(const Side& patch, Side& outline, double edge, const std::string& where) {
  outline.places.clear();
  for (auto place = patch.places.rbegin(); place != patch.places.rend(); ++place)
    outline.places.push_back(1 - *place);
  const std::vector<double> given = outline.places;
  std::vector<bool> taken(given.size(), false);
  taken.front() = taken.back() = true;
  for (const double corner : sharp_corners(outline)) {
    const auto nearest = take_nearest(given, corner, 0.5 * edge / outline.length, taken);
    if (nearest) outline.places[*nearest] = corner;
    if (!nearest || outline.places[*nearest - 1] >= corner || corner >= outline.places[*nearest + 1]) {
      const Vec2 at = point_at(outline, corner);
      return input_error(
          "{}: edge '{}' has a sharp corner at ({:.4g}, {:.4g}) m, and within half an edge of "
          "it the mesh file has no vertex for it",
          where, outline.edge.name, at[0], at[1]);
    }
  }
  return {};
}

// Both sides get places; `where` begins messages.
Expected<void> match(Side& first, Side& second, const PanelSeam& seam, double edge,
                     const std::string& where) {
  const double longer = std::max(first.length, second.length),
               apart = std::abs(first.length - second.length) / longer;
  if (apart > seam.ease)
    return input_error("{}: its sides are {:.4g} m and {:.4g} m long, {:.2g} % apart; its ease is {:.2g} %",
                       where, first.length, second.length, 100 * apart, 100 * seam.ease);
  if (first.is_patch() && second.is_patch()) {
    if (first.nodes.size() != second.nodes.size())
      return input_error("{}: its sides have {} and {} vertices; mesh files are taken as they are", where,
                         first.nodes.size(), second.nodes.size());
  } else if (first.is_patch() || second.is_patch()) {
    return first.is_patch() ? copy_vertices(first, second, edge, where)
                            : copy_vertices(second, first, edge, where);
  } else {
    return place_vertices(first, second, edge, where);
  }
  return {};
}

// The border of an outline: vertices of its seams where these are, others at about `edge`. Sides learn their nodes.
Expected<std::vector<Vec2>> border_points(const Panel& panel, const std::vector<Side*>& sides, double edge) {
  const int n = static_cast<int>(panel.outline.size());
  std::vector<Side*> side_from(index(n), nullptr);
  std::vector<bool> sewn(index(n), false);
  for (Side* side : sides) {
    for (int i = side->edge.from; i != side->edge.to; i = (i + 1) % n) {
      if (sewn[index(i)])
        return input_error("panel '{}': two seams share a part of edge '{}'", panel.name, side->edge.name);
      sewn[index(i)] = true;
    }
    side_from[index(side->edge.from)] = side;
  }
  const int start = sides.empty() ? 0 : sides.front()->edge.from;
  std::vector<Vec2> points;
  int corner = start;
  do {
    if (Side* side = side_from[index(corner)]) {
      for (const double place : side->places) {
        side->nodes.push_back(static_cast<int>(points.size()));
        if (place < 1) points.push_back(point_at(*side, place));
      }
      corner = side->edge.to;
      continue;
    }
    const Vec2 &a = panel.outline[index(corner)], &b = panel.outline[index((corner + 1) % n)];
    const int pieces = std::max(1, static_cast<int>(std::lround((b - a).norm() / edge)));
    for (int k = 0; k < pieces; ++k) points.emplace_back(a + static_cast<double>(k) / pieces * (b - a));
    corner = (corner + 1) % n;
  } while (corner != start);
  for (Side* side : sides) {
    for (int& node : side->nodes) node %= static_cast<int>(points.size());
  }
  return points;
}

Expected<Sheet> mesh_of(const Panel& panel, const std::vector<Side*>& sides, double edge) {
  Sheet sheet = panel.patch;
  if (!panel.outline.empty()) {
    const auto border = border_points(panel, sides, edge);
    if (!border) return forward_error(border);
    const auto mesh = mesh_panel(*border, edge);
    if (!mesh) return input_error("panel '{}': {}", panel.name, mesh.error().message);
    std::vector<Vec3> points;
    for (const Vec2& p : mesh->points) points.emplace_back(p[0], p[1], 0);
    sheet = flat_sheet(std::move(points), mesh->triangles);
  }
  for (Vec3& p : sheet.vertices) p = panel.pose.place(p);
  return sheet;
}

// All panels in one, not yet sewn. offset: of the nodes of every panel.
Sheet gathered(const std::vector<Sheet>& sheets, std::vector<int>& offset) {
  Sheet all;
  for (const Sheet& sheet : sheets) {
    const int nodes = static_cast<int>(all.vertices.size()), flats = static_cast<int>(all.flat.size());
    offset.push_back(nodes);
    all.vertices.insert(all.vertices.end(), sheet.vertices.begin(), sheet.vertices.end());
    all.flat.insert(all.flat.end(), sheet.flat.begin(), sheet.flat.end());
    for (const Triangle& t : sheet.triangles)
      all.triangles.push_back({t[0] + nodes, t[1] + nodes, t[2] + nodes});
    for (const Triangle& t : sheet.flat_triangles)
      all.flat_triangles.push_back({t[0] + flats, t[1] + flats, t[2] + flats});
  }
  return all;
}

// Nodes with the same root become one, in their middle.
Sheet merged(Sheet sheet, const std::vector<int>& root) {
  std::vector<int> place(sheet.vertices.size(), -1), members;
  std::vector<Vec3> nodes;
  const auto node_of = [&](std::size_t i) -> int& { return place[index(root[i])]; };
  for (std::size_t i = 0; i < root.size(); ++i) {
    int& node = node_of(i);
    if (node < 0) {
      node = static_cast<int>(nodes.size());
      nodes.emplace_back(Vec3::Zero());
      members.push_back(0);
    }
    nodes[index(node)] += sheet.vertices[i];
    ++members[index(node)];
  }
  for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] /= members[k];
  for (Triangle& t : sheet.triangles) {
    for (int& corner : t) corner = node_of(index(corner));
  }
  sheet.vertices = std::move(nodes);
  return sheet;
}

}  // namespace

Expected<Sheet> sew(std::vector<Panel> panels, const std::vector<PanelSeam>& seams, double edge_length) {
  for (Panel& panel : panels) {
    if (panel.patch.triangles.empty()) {
      if (const auto sound = check_outline(panel); !sound) return forward_error(sound);
    }
  }
  std::vector<std::array<Side, 2>> sides;
  std::vector<std::string> where;
  for (const PanelSeam& seam : seams) {
    where.push_back(
        fmt::format("the seam of {}.{} and {}.{}", seam.panel[0], seam.edge[0], seam.panel[1], seam.edge[1]));
    std::array<Side, 2>& both = sides.emplace_back();
    for (std::size_t s = 0; s < 2; ++s) {
      auto side = side_of(panels, seam.panel[s], seam.edge[s]);
      if (!side) return input_error("{}: {}", where.back(), side.error().message);
      both[s] = std::move(*side);
    }
    if (both[0].panel == both[1].panel && both[0].edge.name == both[1].edge.name)
      return input_error("{}: an edge cannot be sewn to itself", where.back());
    if (const auto matched = match(both[0], both[1], seam, edge_length, where.back()); !matched)
      return forward_error(matched);
  }
  std::vector<Sheet> meshes;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    std::vector<Side*> own;
    for (auto& both : sides) {
      for (Side& side : both) {
        if (side.panel == p) own.push_back(&side);
      }
    }
    auto mesh = mesh_of(panels[p], own, edge_length);
    if (!mesh) return forward_error(mesh);
    meshes.push_back(std::move(*mesh));
  }
  std::vector<int> offset;
  Sheet all = gathered(meshes, offset);
  std::vector<int> root(all.vertices.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[index(i)] != i) i = root[index(i)] = root[index(root[index(i)])];
    return i;
  };
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const auto node = [&](std::size_t side, std::size_t k) {
      return offset[sides[s][side].panel] + sides[s][side].nodes[k];
    };
    const auto distance = [&](std::size_t i, std::size_t j) {
      return (all.vertices[index(node(0, i))] - all.vertices[index(node(1, j))]).norm();
    };
    const std::size_t last = sides[s][0].nodes.size() - 1;
    if (distance(0, 0) + distance(last, last) < 0.5 * (distance(0, last) + distance(last, 0)))
      return input_error("{}: its sides lie crosswise in space; turn one of the panels over", where[s]);
    for (std::size_t k = 0; k <= last; ++k) {
      const int a = find(node(0, k)), b = find(node(1, last - k));
      root[index(std::max(a, b))] = std::min(a, b);
    }
  }
  for (int i = 0; i < static_cast<int>(root.size()); ++i) root[index(i)] = find(i);
  Sheet sewn = merged(std::move(all), root);
  for (std::size_t t = 0, p = 0, left = meshes[0].triangles.size(); t < sewn.triangles.size(); ++t, --left) {
    while (left == 0) left = meshes[++p].triangles.size();
    const Triangle& corner = sewn.triangles[t];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
      return input_error(
          "panel '{}': its seams close a triangle, since they are too near each other; a shorter edge",
          panels[p].name);
  }
  return sewn;
}

}  // namespace lope::geometry
