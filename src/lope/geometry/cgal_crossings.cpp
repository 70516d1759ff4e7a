#include <lope/geometry/bvh.h>
#include <lope/geometry/crossings.h>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Segment_2.h>
#include <CGAL/Segment_3.h>
#include <CGAL/Triangle_3.h>

namespace lope::geometry {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

Kernel::Point_3 in_space(const Vec3& p) { return {p.x(), p.y(), p.z()}; }
Kernel::Point_2 in_plane(const Vec3& p) { return {p.x(), p.y()}; }

template <std::size_t n, std::size_t m>
bool share_a_vertex(const std::array<int, n>& a, const std::array<int, m>& b) {
  return std::any_of(a.begin(), a.end(), [&](int i) { return std::find(b.begin(), b.end(), i) != b.end(); });
}

template <class Primitive>
Bvh tree_of(std::span<const Vec3> points, std::span<const Primitive> primitives) {
  std::vector<Bounds> boxes(primitives.size());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    for (const int v : primitives[i]) boxes[i].add(points[static_cast<std::size_t>(v)]);
  }
  return Bvh(boxes);
}

}  // namespace

std::vector<Crossing> find_crossings(std::span<const Vec3> points, std::span<const Edge> edges,
                                     std::span<const Triangle> triangles) {
  const std::vector<IndexPair> near = tree_of(points, edges).pairs_with(tree_of(points, triangles));
  std::vector<std::uint8_t> meets(near.size(), 0);
  const auto at = [&](int v) { return in_space(points[static_cast<std::size_t>(v)]); };
  parallel_for(near.size(), 256, [&](std::size_t k) {
    const Edge& edge = edges[static_cast<std::size_t>(near[k][0])];
    const Triangle& triangle = triangles[static_cast<std::size_t>(near[k][1])];
    if (share_a_vertex(edge, triangle)) return;
    const Kernel::Segment_3 segment(at(edge[0]), at(edge[1]));
    const Kernel::Triangle_3 face(at(triangle[0]), at(triangle[1]), at(triangle[2]));
    if (segment.is_degenerate() || face.is_degenerate()) return;
    meets[k] = CGAL::do_intersect(segment, face) ? 1 : 0;
  });
  std::vector<Crossing> result;
  for (std::size_t k = 0; k < near.size(); ++k) {
    if (meets[k]) result.push_back({near[k][0], near[k][1]});
  }
  return result;
}

std::vector<std::array<int, 2>> find_planar_crossings(std::span<const Vec3> points, std::span<const Edge> edges) {
  std::vector<std::array<int, 2>> result;
  const auto at = [&](int v) { return in_plane(points[static_cast<std::size_t>(v)]); };
  for (const auto& [a, b] : tree_of(points, edges).self_pairs()) {
    const Edge &first = edges[static_cast<std::size_t>(a)], &second = edges[static_cast<std::size_t>(b)];
    if (share_a_vertex(first, second)) continue;
    const Kernel::Segment_2 one(at(first[0]), at(first[1])), other(at(second[0]), at(second[1]));
    if (CGAL::do_intersect(one, other)) result.push_back({a, b});
  }
  return result;
}

}  // namespace lope::geometry
