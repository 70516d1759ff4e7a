#include "liquid_pictures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/Geometry>

namespace lope::program {

render::Clear clear_liquid(const Vec3& color) {
  render::Clear clear;
  // Water is clear: the given colour is that of three and a half times the radius of the scene.
  const auto channel = [&](int k) {
    return std::pow(std::clamp(render::srgb_decode(static_cast<float>(color[k])), 0.001f, 0.999f), 1 / 3.5f);
  };
  clear.tint = {channel(0), channel(1), channel(2)};
  return clear;
}

render::Clear clear_glass() {
  render::Clear clear;
  clear.kind = render::Clear::Kind::Glass;
  clear.index = 1.5;
  clear.tint = {0.965f, 0.985f, 0.98f};
  return clear;
}

namespace {

Vec3 normal_of(const std::vector<Vec3>& positions, const geometry::Triangle& t) {
  const auto at = [&](int k) { return positions[static_cast<std::size_t>(t[static_cast<std::size_t>(k)])]; };
  return (at(1) - at(0)).cross(at(2) - at(0));
}

// A prism with six sides between two points.
void add_rod(const Vec3& from, const Vec3& to, double radius, render::Surface& rods) {
  const Vec3 along = (to - from).normalized(), side = along.unitOrthogonal(), other = along.cross(side);
  const int first = static_cast<int>(rods.positions.size());
  for (int k = 0; k < 6; ++k) {
    const double angle = k * 3.14159265358979323846 / 3;
    const Vec3 offset = radius * (std::cos(angle) * side + std::sin(angle) * other);
    rods.positions.push_back(from + offset - radius * along);
    rods.positions.push_back(to + offset + radius * along);
  }
  for (int k = 0; k < 6; ++k) {
    const int a = first + 2 * k, b = first + 2 * ((k + 1) % 6);
    rods.triangles.push_back({a, b, a + 1});
    rods.triangles.push_back({b, b + 1, a + 1});
    if (k < 2 || k == 5) continue;
    rods.triangles.push_back({first, a, b});  // the ends, as fans
    rods.triangles.push_back({first + 1, b + 1, a + 1});
  }
}

}  // namespace

render::Surface edge_rods(const std::vector<Vec3>& positions, const std::vector<geometry::Triangle>& triangles,
                          double radius) {
  // Vertices may be repeated along edges: they are told apart by their places.
  std::map<std::array<double, 3>, int> number;
  std::vector<Vec3> places;
  const auto place = [&](int v) {
    const Vec3& x = positions[static_cast<std::size_t>(v)];
    const auto [found, added] = number.try_emplace({x[0], x[1], x[2]}, static_cast<int>(places.size()));
    if (added) places.push_back(x);
    return found->second;
  };
  std::map<std::pair<int, int>, std::vector<Vec3>> normals;
  for (const geometry::Triangle& t : triangles) {
    const Vec3 normal = normal_of(positions, t);
    if (normal.norm() == 0) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = place(t[k]), b = place(t[(k + 1) % 3]);
      normals[{std::min(a, b), std::max(a, b)}].push_back(normal.normalized());
    }
  }
  constexpr double sharp = 0.75;  // cosine of the angle between the faces
  render::Surface rods;
  for (const auto& [edge, faces] : normals) {
    if (faces.size() == 2 && faces[0].dot(faces[1]) > sharp) continue;
    add_rod(places[static_cast<std::size_t>(edge.first)], places[static_cast<std::size_t>(edge.second)], radius, rods);
  }
  rods.colour = render::srgb(0x9FB3B5);
  return rods;
}

std::vector<double> particle_values(const FrameBody& body, const BodyFrame& frame, const std::string& field) {
  if (field != "pressure" || frame.cells.index.empty()) return vertex_values(body, frame, field);
  std::map<std::array<int, 3>, float> pressure;
  for (std::size_t c = 0; c < frame.cells.index.size(); ++c) pressure[frame.cells.index[c]] = frame.cells.pressure[c];
  std::vector<double> values;
  values.reserve(frame.positions.size());
  for (const Vec3& x : frame.positions) {
    const Vec3 u = (x - body.origin) / body.spacing;
    std::array<int, 3> cell{0, 0, 0};
    for (int k = 0; k < body.dimension; ++k) cell[static_cast<std::size_t>(k)] = static_cast<int>(std::floor(u[k]));
    const auto found = pressure.find(cell);
    values.push_back(found == pressure.end() ? std::nan("") : static_cast<double>(found->second));
  }
  return values;
}

render::LiquidPlot liquid_plot(const FrameBody& body, const BodyFrame& frame, const std::string& color_by,
                               std::vector<geometry::PlacedSolid> solids, const geometry::Bounds& region) {
  render::LiquidPlot plot;
  plot.region = region;
  plot.spacing = body.spacing;
  plot.origin = body.origin;
  plot.solids = std::move(solids);
  for (std::size_t c = 0; c < frame.cells.index.size(); ++c) {
    plot.cells.push_back({frame.cells.index[c][0], frame.cells.index[c][1]});
    plot.kinds.push_back(static_cast<render::LiquidPlot::Kind>(std::min<int>(frame.cells.kind[c], 2)));
    plot.separating.push_back(frame.cells.separating[c] != 0);
  }
  plot.level_set = frame.cells.level_set;
  if (color_by == "pressure") {
    plot.values = frame.cells.pressure;
    return plot;
  }
  plot.particles = frame.positions;
  if (color_by == "body") return plot;
  const auto values = vertex_values(body, frame, color_by);
  plot.particle_values.assign(values.begin(), values.end());
  return plot;
}

}  // namespace lope::program
