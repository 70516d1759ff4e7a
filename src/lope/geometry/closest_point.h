// The point of a segment or triangle that is closest to a given one, and the feature (vertex, edge, face)
// that holds it. Degenerate primitives are treated as what remains of them.
#pragma once

#include <lope/math/types.h>

#include <array>

namespace lope::geometry {

// The closest point is Σ weight[i] x[vertex[i]], i < count, with positive weights that add to 1: count 1: a
// vertex, 2: the inside of an edge, 3: the inside of the face. Unused entries: weight 0, vertex 0.
struct ClosestFeature {
  double squared_distance = 0;
  int count = 1;
  std::array<int, 3> vertex = {0, 0, 0};  // of the primitive, ascending
  std::array<double, 3> weight = {1, 0, 0};
};

template <int d>
inline ClosestFeature closest_on_segment(const Vec<d>& p, const Vec<d>& a, const Vec<d>& b) {
  const Vec<d> edge = b - a;
  const double along = (p - a).dot(edge), length = edge.squaredNorm();
  if (!(along > 0)) return {(p - a).squaredNorm(), 1, {0, 0, 0}, {1, 0, 0}};
  if (!(along < length)) return {(p - b).squaredNorm(), 1, {1, 0, 0}, {1, 0, 0}};
  const double s = along / length;
  return {(p - a - s * edge).squaredNorm(), 2, {0, 1, 0}, {1 - s, s, 0}};
}

inline ClosestFeature closest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 e1 = b - a, e2 = c - a, r = p - a;
  const double g11 = e1.squaredNorm(), g12 = e1.dot(e2), g22 = e2.squaredNorm();
  const double determinant = g11 * g22 - g12 * g12;
  const double r1 = r.dot(e1), r2 = r.dot(e2);
  const double s = g22 * r1 - g12 * r2, t = g11 * r2 - g12 * r1;
  if (determinant > 1e-24 * g11 * g22 && s > 0 && t > 0 && s + t < determinant) {
    const double ws = s / determinant, wt = t / determinant;
    return {(r - ws * e1 - wt * e2).squaredNorm(), 3, {0, 1, 2}, {1 - ws - wt, ws, wt}};
  }
  ClosestFeature best = closest_on_segment<3>(p, a, b);
  const auto compare = [&](ClosestFeature other, int first, int second) {
    if (other.squared_distance >= best.squared_distance) return;
    const std::array<int, 2> name = {first, second};
    for (int i = 0; i < other.count; ++i) other.vertex[i] = name[other.vertex[i]];
    best = other;
  };
  compare(closest_on_segment<3>(p, a, c), 0, 2);
  compare(closest_on_segment<3>(p, b, c), 1, 2);
  return best;
}

}  // namespace lope::geometry
