#include <lope/render/looks.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <Eigen/Geometry>

namespace lope::render {

Colour to_colour(const Vec3& srgb) {
  return {srgb_decode(static_cast<float>(srgb[0])), srgb_decode(static_cast<float>(srgb[1])),
          srgb_decode(static_cast<float>(srgb[2]))};
}

std::optional<Clear> clear_look(const std::string& material, const Vec3& color) {
  Clear clear;
  if (material == "glass") {
    clear.kind = Clear::Kind::Glass;
    clear.index = 1.5;
    clear.tint = {0.965f, 0.985f, 0.98f};
    return clear;
  }
  if (material != "water") return std::nullopt;
  // Water is clear: the given colour is that of three and a half times the radius of the scene.
  const auto channel = [&](int k) {
    return std::pow(std::clamp(srgb_decode(static_cast<float>(color[k])), 0.001f, 0.999f), 1 / 3.5f);
  };
  clear.tint = {channel(0), channel(1), channel(2)};
  return clear;
}

std::optional<Pattern> pattern_of(const geometry::Pattern& pattern, const std::vector<float>& coordinates) {
  using Kind = Pattern::Kind;
  const std::map<std::string_view, Kind> kinds = {
      {"stripes", Kind::Stripes}, {"checks", Kind::Checks}, {"weave", Kind::Weave}};
  const auto kind = kinds.find(pattern.kind);
  if (kind == kinds.end() || coordinates.empty()) return std::nullopt;
  return Pattern{kind->second, pattern.width, to_colour(pattern.color), coordinates};
}

namespace {

Vec3 normal_of(const std::vector<Vec3>& positions, const geometry::Triangle& t) {
  const auto at = [&](int k) { return positions[static_cast<std::size_t>(t[static_cast<std::size_t>(k)])]; };
  return (at(1) - at(0)).cross(at(2) - at(0));
}

// A prism with six sides between two points.
void add_rod(const Vec3& from, const Vec3& to, double radius, Surface& rods) {
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

Surface edge_rods(const std::vector<Vec3>& positions, const std::vector<geometry::Triangle>& triangles,
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
  Surface rods;
  for (const auto& [edge, faces] : normals) {
    if (faces.size() == 2 && faces[0].dot(faces[1]) > sharp) continue;
    add_rod(places[static_cast<std::size_t>(edge.first)], places[static_cast<std::size_t>(edge.second)], radius, rods);
  }
  rods.colour = srgb(0x9FB3B5);
  return rods;
}

}  // namespace lope::render
