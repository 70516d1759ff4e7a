// Distances between two surface primitives: a point and a triangle, two edges, a point and an edge (all of the plane, and the
// borders of sheets). The distance is that of the closest features (point–point, point–edge, point–face, edge–edge), with
// exact first and second derivatives.
//
// A pair has four nodes x₀ … x₃: point and triangle (x₀ | x₁ x₂ x₃), edges (x₀ x₁ | x₂ x₃), point and edge (x₀ | x₁ x₂, x₃ is
// not looked at). With e_j = x_to − x_from the tangents of the closest features (none between points, one of a point and an
// edge, two otherwise), the vector between the closest points is r = Σ c_i x_i, perpendicular to every e_j, and D = |r|². With
// G = (e_j·e_l) and σ_ij = ∂e_j/∂x_i ∈ {1, −1, 0}, by the envelope theorem
//   ∂D/∂x_i = 2 c_i r,    ∂²D = 2 (c cᵀ ⊗ I − N G⁻¹ Nᵀ),    N_ij = c_i e_j + σ_ij r.
// D is continuously differentiable where it is not 0; its second derivative jumps where the closest feature changes.
//
// Nearly parallel edges: the closest points jump along them, so an energy of their distance has to fade (Li et al. 2020,
// eq. 24). Metres. Pure functions; degenerate primitives count as what is left of them.
#pragma once

#include <lope/math/types.h>

#include <array>

namespace lope::geometry {

enum class PairKind { PointTriangle, EdgeEdge, PointEdge };

using PairNodes = std::array<Vec3, 4>;
using PairHessian = Eigen::Matrix<double, 12, 12>;

struct ClosestPair {
  double squared_distance = 0;
  Vec3 r = Vec3::Zero();                            // from the second primitive to the first
  std::array<double, 4> c = {0, 0, 0, 0};           // 0 where the closest features do not include the node
  int tangents = 0;                                 // 0, 1 or 2
  std::array<std::array<int, 2>, 2> tangent = {};   // from, to
};

ClosestPair closest_pair(PairKind kind, const PairNodes& x);
// The same without what derivatives need.
double squared_distance(PairKind kind, const PairNodes& x);

// ∂²D/∂x∂x, for tests and comparisons: barriers have their own way to it (matter/contact/barrier_energy.h). (∂D/∂x_i is 2 c_i r.)
PairHessian squared_distance_hessian(const ClosestPair& at, const PairNodes& x);

// m = 1 for c ≥ limit, else −(c/limit)² + 2c/limit, with c = ‖(x₁ − x₀) × (x₃ − x₂)‖²: 0 for parallel edges, once
// continuously differentiable.
struct EdgeMollifier {
  double value = 1;
  Vec<12> gradient = Vec<12>::Zero();
  PairHessian hessian = PairHessian::Zero();
};
double parallel_measure(const PairNodes& x);  // c, m⁴
double mollifier_value(double measure, double limit);
EdgeMollifier edge_mollifier(const PairNodes& x, double limit);

}  // namespace lope::geometry
