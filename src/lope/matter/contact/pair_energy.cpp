#include <lope/math/decompositions.h>
#include <lope/matter/contact/pair_energy.h>

#include <Eigen/LU>

namespace lope::matter {

namespace {

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

// A basis of what the columns of a span, by Gram and Schmidt, twice: orthogonal to rounding.
template <int rows, int columns>
Eigen::Matrix<double, rows, columns> orthonormal(Eigen::Matrix<double, rows, columns> a) {
  for (int j = 0; j < columns; ++j) {
    for (int again = 0; again < 2; ++again) {
      for (int k = 0; k < j; ++k) a.col(j) -= a.col(k).dot(a.col(j)) * a.col(k);
      a.col(j) /= a.col(j).norm();
    }
  }
  return a;
}

}  // namespace

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

template <int d, int n>
Vec<d*(n + 1)> pair_gradient(const PairPlace<d, n>& at, double k, double epsilon) {
  const double first = pair_energy(k, epsilon, at.r.squaredNorm()).first;
  Vec<d*(n + 1)> g;
  for (int i = 0; i <= n; ++i) g.template segment<d>(d * i) = 2 * first * at.c[i] * at.r;
  return g;
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

// With u₀ ∥ c and u₁ … an orthonormal basis of c and the
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
    const Eigen::Matrix<double, n + 1, n> u = orthonormal<n + 1, n>(directions);
    const Eigen::Matrix<double, d, tangents> tau = orthonormal<d, tangents>(e);
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
    const math::SymmetricEigen<small> eigen = math::symmetric_eigen<small>(restricted);
    for (int a = 0; a < small && eigen.values[a] < 0; ++a) {
      Vec<size> v = Vec<size>::Zero();
      for (int b = 0; b < small; ++b) v += eigen.vectors(b, a) * basis.col(b);
      add_product<size, 1>(-eigen.values[a], v, v, h);
    }
  }
  return h;
}

template PairPlace<2, 1> pair_place<2, 1>(const std::array<Vec<2>, 2>&);
template Vec<4> pair_gradient<2, 1>(const PairPlace<2, 1>&, double, double);
template Mat<4> pair_hessian<2, 1>(const PairPlace<2, 1>&, double, double);
template Mat<4> projected_pair_hessian<2, 1>(const PairPlace<2, 1>&, double, double);
template PairPlace<2, 2> pair_place<2, 2>(const std::array<Vec<2>, 3>&);
template Vec<6> pair_gradient<2, 2>(const PairPlace<2, 2>&, double, double);
template Mat<6> pair_hessian<2, 2>(const PairPlace<2, 2>&, double, double);
template Mat<6> projected_pair_hessian<2, 2>(const PairPlace<2, 2>&, double, double);
template PairPlace<3, 1> pair_place<3, 1>(const std::array<Vec<3>, 2>&);
template Vec<6> pair_gradient<3, 1>(const PairPlace<3, 1>&, double, double);
template Mat<6> pair_hessian<3, 1>(const PairPlace<3, 1>&, double, double);
template Mat<6> projected_pair_hessian<3, 1>(const PairPlace<3, 1>&, double, double);
template PairPlace<3, 2> pair_place<3, 2>(const std::array<Vec<3>, 3>&);
template Vec<9> pair_gradient<3, 2>(const PairPlace<3, 2>&, double, double);
template Mat<9> pair_hessian<3, 2>(const PairPlace<3, 2>&, double, double);
template Mat<9> projected_pair_hessian<3, 2>(const PairPlace<3, 2>&, double, double);
template PairPlace<3, 3> pair_place<3, 3>(const std::array<Vec<3>, 4>&);
template Vec<12> pair_gradient<3, 3>(const PairPlace<3, 3>&, double, double);
template Mat<12> pair_hessian<3, 3>(const PairPlace<3, 3>&, double, double);
template Mat<12> projected_pair_hessian<3, 3>(const PairPlace<3, 3>&, double, double);

}  // namespace lope::matter
