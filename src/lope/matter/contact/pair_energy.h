// The energy of a point below a surface primitive (OPT §5.3): Φ = k d √(d + ε) with d the squared distance of
// the point x₀ from the vertex x₁, the line through the edge x₁x₂ or the plane of the face x₁x₂x₃: about
// cubic in the depth √d. Only this is differentiated; which primitive is closest is decided elsewhere.
//
// Derivatives of d by the envelope theorem. With e_j = x_{j+1} − x₁, the closest point q = x₁ + Σ s_j e_j, r
// = x₀ − q = Σ c_i x_i (c₀ = 1, c_i = −w_i, w the weights of q), G = (e_j·e_l) and σ_{ij} = ∂e_j/∂x_i ∈ {1,
// −1, 0}:
//   ∂d/∂x_i = 2 c_i r,    ∂²d = 2 (c cᵀ ⊗ I − N G⁻¹ Nᵀ),    N_{ij} = c_i e_j + σ_{ij} r.
// d dimensions, n nodes of the primitive. Units: metres, joules; k in N/m². Pure functions.
#pragma once

#include <lope/math/types.h>

#include <array>
#include <cmath>

namespace lope::matter {

struct PairEnergyOfDistance {
  double value, first, second;  // Φ and its derivatives by d
};

inline PairEnergyOfDistance pair_energy(double k, double epsilon, double d) {
  if (!(d + epsilon > 0)) return {0, 0, 0};
  const double root = std::sqrt(d + epsilon);
  return {k * d * root, k * (1.5 * d + epsilon) / root, k * (0.75 * d + epsilon) / (root * root * root)};
}

// Where the primitive is closest: the point r = x₀ − q and the coefficients c.
template <int d, int n>
struct PairPlace {
  std::array<Vec<d>, n + 1> x;  // x₀, then the primitive
  Vec<n + 1> c;
  Vec<d> r;
};

// Defined in pair_energy.cpp, which takes the compiler long, for a vertex and an edge in the plane (d = 2; n = 1, 2) and for
// a vertex, an edge and a face in space (d = 3; n = 1, 2, 3).
template <int d, int n>
PairPlace<d, n> pair_place(const std::array<Vec<d>, n + 1>& x);

// By the coordinates of x₀, x₁ …, one after another.
template <int d, int n>
Vec<d*(n + 1)> pair_gradient(const PairPlace<d, n>& at, double k, double epsilon);

template <int d, int n>
Mat<d*(n + 1)> pair_hessian(const PairPlace<d, n>& at, double k, double epsilon);

// The same with its negative eigenvalues put to 0.
template <int d, int n>
Mat<d*(n + 1)> projected_pair_hessian(const PairPlace<d, n>& at, double k, double epsilon);

}  // namespace lope::matter
