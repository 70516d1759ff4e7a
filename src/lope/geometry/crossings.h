// Where surfaces pass through each other, told exactly.
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <span>
#include <vector>

namespace lope::geometry {

// An edge that meets a triangle with which it shares no vertex.
struct Crossing {
  int edge = 0, triangle = 0;
};

// All of them, in a fixed order, by predicates that are exact for the given coordinates: touching counts, a gap of the last bit
// does not. Surfaces of which no edge meets a foreign triangle do not pass through each other. In parallel.
std::vector<Crossing> find_crossings(std::span<const Vec3> points, std::span<const Edge> edges,
                                     std::span<const Triangle> triangles);
// The same in the plane (z is not looked at): edges that meet and share no vertex, the smaller number first.
std::vector<std::array<int, 2>> find_planar_crossings(std::span<const Vec3> points, std::span<const Edge> edges);

}  // namespace lope::geometry
