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

#include <Eigen/Dense>

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

template <int d, int n>
PairPlace<d, n> pair_place(const std::array<Vec<d>, n + 1>& x) {
  PairPlace<d, n> at;
  at.x = x;
  at.c = Vec<n + 1>::Zero();
  at.c[0] = 1;
  at.c[1] = -1;
  if constexpr (n > 1) {
    Eigen::Matrix<double, d, n - 1> e;
    for (int j = 0; j < n - 1; ++j) e.col(j) = x[j + 2] - x[1];
    const Vec<n - 1> s = (e.transpose() * e).inverse() * (e.transpose() * (x[0] - x[1]));
    at.c.template tail<n - 1>() = -s;
    at.c[1] += s.sum();
  }
  at.r = Vec<d>::Zero();
  // Relative to x₁: coordinates far from the origin lose nothing.
  for (int i = 0; i <= n; ++i) at.r += at.c[i] * (x[i] - x[1]);
  return at;
}

// By the coordinates of x₀, x₁ …, one after another.
template <int d, int n>
Vec<d*(n + 1)> pair_gradient(const PairPlace<d, n>& at, double k, double epsilon) {
  const double first = pair_energy(k, epsilon, at.r.squaredNorm()).first;
  Vec<d*(n + 1)> g;
  for (int i = 0; i <= n; ++i) g.template segment<d>(d * i) = 2 * first * at.c[i] * at.r;
  return g;
}

// H += s A Bᵀ. Plain loops: the compiler takes half a minute over Eigen's unrolled products of this size.
template <int size, int m>
void add_product(double s, const Eigen::Matrix<double, size, m>& a, const Eigen::Matrix<double, size, m>& b,
                 Mat<size>& h) {
  for (int column = 0; column < size; ++column) {
    for (int row = 0; row < size; ++row) {
      double sum = 0;
      for (int k = 0; k < m; ++k) sum += a(row, k) * b(column, k);
      h(row, column) += s * sum;
    }
  }
}

template <int d, int n>
Mat<d*(n + 1)> pair_hessian(const PairPlace<d, n>& at, double k, double epsilon) {
  constexpr int size = d * (n + 1);
  const PairEnergyOfDistance energy = pair_energy(k, epsilon, at.r.squaredNorm());
  const Mat<d> between = 2 * energy.first * Mat<d>::Identity() + 4 * energy.second * at.r * at.r.transpose();
  Mat<size> h;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) h.template block<d, d>(d * i, d * j) = at.c[i] * at.c[j] * between;
  }
  if constexpr (n > 1) {
    Eigen::Matrix<double, d, n - 1> e;
    for (int j = 0; j < n - 1; ++j) e.col(j) = at.x[j + 2] - at.x[1];
    Eigen::Matrix<double, size, n - 1> slide;
    for (int i = 0; i <= n; ++i) slide.template middleRows<d>(d * i) = at.c[i] * e;
    for (int j = 0; j < n - 1; ++j) {
      slide.template block<d, 1>(d * (j + 2), j) += at.r;
      slide.template block<d, 1>(d, j) -= at.r;
    }
    const Mat<n - 1> metric = (e.transpose() * e).inverse();
    Eigen::Matrix<double, size, n - 1> raised = Eigen::Matrix<double, size, n - 1>::Zero();
    for (int j = 0; j < n - 1; ++j) {
      for (int l = 0; l < n - 1; ++l) raised.col(j) += metric(l, j) * slide.col(l);
    }
    add_product<size, n - 1>(-2 * energy.first, raised, slide, h);
  }
  return h;
}

// The same with its negative eigenvalues put to 0. With u₀ ∥ c and u₁ … an orthonormal basis of c and the
// columns of σ, ν ∥ r and τ the tangents, everything indefinite happens in the span of u_i ⊗ ν and u₀ ⊗ τ_a:
// five dimensions for a face, three for an edge; a vertex has no negative eigenvalue.
template <int d, int n>
Mat<d*(n + 1)> projected_pair_hessian(const PairPlace<d, n>& at, double k, double epsilon) {
  constexpr int size = d * (n + 1);
  Mat<size> h = pair_hessian<d, n>(at, k, epsilon);
  const double depth = at.r.norm();
  if constexpr (n > 1) {
    if (depth == 0) return h;
    constexpr int tangents = n - 1, small = 1 + 2 * tangents;
    Eigen::Matrix<double, n + 1, n> directions = Eigen::Matrix<double, n + 1, n>::Zero();
    directions.col(0) = at.c;
    Eigen::Matrix<double, d, tangents> e;
    for (int j = 0; j < tangents; ++j) {
      directions(1, j + 1) = -1;
      directions(j + 2, j + 1) = 1;
      e.col(j) = at.x[j + 2] - at.x[1];
    }
    const Eigen::Matrix<double, n + 1, n> u =
        directions.householderQr().householderQ() * Eigen::Matrix<double, n + 1, n>::Identity();
    const Eigen::Matrix<double, d, tangents> tau =
        e.householderQr().householderQ() * Eigen::Matrix<double, d, tangents>::Identity();
    Eigen::Matrix<double, size, small> basis;
    for (int i = 0; i <= n; ++i) {
      for (int a = 0; a < n; ++a) basis.template block<d, 1>(d * i, a) = u(i, a) / depth * at.r;
      for (int a = 0; a < tangents; ++a) basis.template block<d, 1>(d * i, n + a) = u(i, 0) * tau.col(a);
    }
    Mat<small> restricted;
    for (int a = 0; a < small; ++a) {
      Vec<size> product = Vec<size>::Zero();
      for (int i = 0; i < size; ++i) product += basis(i, a) * h.col(i);
      for (int b = 0; b < small; ++b) restricted(b, a) = basis.col(b).dot(product);
    }
    const Eigen::SelfAdjointEigenSolver<Mat<small>> eigen(restricted);
    for (int a = 0; a < small && eigen.eigenvalues()[a] < 0; ++a) {
      Vec<size> v = Vec<size>::Zero();
      for (int b = 0; b < small; ++b) v += eigen.eigenvectors()(b, a) * basis.col(b);
      add_product<size, 1>(-eigen.eigenvalues()[a], v, v, h);
    }
  }
  return h;
}

}  // namespace lope::matter
