// Projection of symmetric 2×2, 3×3 and 4×4 matrices onto the positive semi-definite cone (negative eigenvalues
// become 0), for doubles and for packs. Cyclic Jacobi with masks; a lane that is definite already keeps its
// bits. Entries of any size are welcome (the matrix is scaled by its largest entry); NaN gives NaN.
#pragma once

#include <lope/math/pack.h>
#include <lope/math/svd.h>

namespace lope::math {

namespace detail {

// Surely positive definite, by the principal minors. The determinant must clear the rounding errors of its
// own evaluation, so that a nearly singular matrix is diagonalised rather than believed.
inline constexpr double definite_margin = 1e-10;

// The principal minor of rows p and q.
template <class T, int d>
[[gnu::always_inline]] inline T minor(const Square<T, d>& A, int p, int q) {
  return fma(A(p, p), A(q, q), -(A(p, q) * A(p, q)));
}

template <class T>
[[gnu::always_inline]] inline auto is_definite(const Square<T, 2>& A) {
  const T trace = A(0, 0) + A(1, 1);
  const T determinant = minor(A, 0, 1);
  return (min(A(0, 0), A(1, 1)) > T(0)) & (determinant > T(definite_margin) * trace * trace);
}
template <class T>
[[gnu::always_inline]] inline auto is_definite(const Square<T, 3>& A) {
  const T m01 = minor(A, 0, 1), m02 = minor(A, 0, 2), m12 = minor(A, 1, 2);
  const T c01 = fma(A(0, 1), A(2, 2), -(A(1, 2) * A(0, 2)));
  const T c02 = fma(A(0, 1), A(1, 2), -(A(1, 1) * A(0, 2)));
  const T determinant = fma(A(0, 0), m12, fma(A(0, 2), c02, -(A(0, 1) * c01)));
  const T trace = A(0, 0) + A(1, 1) + A(2, 2);
  const T smallest = min(min(min(A(0, 0), A(1, 1)), A(2, 2)), min(min(m01, m02), m12));
  return (smallest > T(0)) & (determinant > T(definite_margin) * trace * trace * trace);
}

// By the pivots of an elimination.
template <class T>
[[gnu::always_inline]] inline auto is_definite(const Square<T, 4>& A) {
  const T floor = T(definite_margin) * (A(0, 0) + A(1, 1) + A(2, 2) + A(3, 3));
  Square<T, 4> L = A;
  auto definite = (A(0, 0) > floor) & (floor > T(0));
  for (int k = 0; k < 3; ++k) {
    const T inverse = T(1) / select(definite, L(k, k), T(1));
    for (int i = k + 1; i < 4; ++i) {
      const T factor = L(k, i) * inverse;
      for (int j = i; j < 4; ++j) L(i, j) = fma(-factor, L(k, j), L(i, j));
    }
    definite = definite & (L(k + 1, k + 1) > floor);
  }
  return definite;
}

// Zeroes entry (p, q) of the symmetric A by a rotation, accumulated in V; true if any lane was rotated.
template <class T, int d>
[[gnu::always_inline]] inline bool diagonalize(Square<T, d>& A, Square<T, d>& V, int p, int q) {
  constexpr double tolerance = 1e-17;  // of a matrix whose largest entry is 1
  const T gamma = A(p, q);
  const auto needed = abs(gamma) > T(tolerance);
  if (!any_of(needed)) return false;
  const Rotation<T> rotation = jacobi_rotation(A(q, q) - A(p, p), gamma);
  const T c = select(needed, rotation.c, T(1));
  const T s = select(needed, rotation.s, T(0));
  const T app = A(p, p), aqq = A(q, q), cross = T(2) * c * s * gamma;
  A(p, p) = fma(c * c, app, fma(s * s, aqq, -cross));
  A(q, q) = fma(s * s, app, fma(c * c, aqq, cross));
  A(p, q) = A(q, p) = select(needed, T(0), gamma);
  if constexpr (d == 3) {
    const int k = 3 - p - q;
    const T first = fma(c, A(k, p), -(s * A(k, q)));
    A(k, q) = A(q, k) = fma(s, A(k, p), c * A(k, q));
    A(k, p) = A(p, k) = first;
  } else if constexpr (d == 4) {
    for (int k = 0; k < d; ++k) {
      if (k == p || k == q) continue;
      const T first = fma(c, A(k, p), -(s * A(k, q)));
      A(k, q) = A(q, k) = fma(s, A(k, p), c * A(k, q));
      A(k, p) = A(p, k) = first;
    }
  }
  rotate(V, p, q, c, s);
  return true;
}

}  // namespace detail

template <class T, int d>
[[gnu::always_inline]] inline void project_psd(Square<T, d>& A) {
  constexpr int max_sweeps = 10;
  const auto definite = detail::is_definite(A);
  if (all_of(definite)) return;

  T largest(1e-300);
  for (int i = 0; i < d; ++i) {
    for (int j = i; j < d; ++j) largest = select(abs(A(i, j)) <= largest, largest, abs(A(i, j)));
  }
  const T scale = T(1) / largest;
  Square<T, d> D, V;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      D(i, j) = A(i, j) * scale;
      V(i, j) = T(i == j ? 1 : 0);
    }
  }
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool rotated = detail::diagonalize(D, V, 0, 1);
    if constexpr (d >= 3) {
      rotated |= detail::diagonalize(D, V, 0, 2);
      rotated |= detail::diagonalize(D, V, 1, 2);
    }
    if constexpr (d == 4) {
      for (int k = 0; k < 3; ++k) rotated |= detail::diagonalize(D, V, k, 3);
    }
    if (!rotated) break;
  }
  for (int i = 0; i < d; ++i) {
    for (int j = i; j < d; ++j) {
      T sum(0);
      for (int k = 0; k < d; ++k) sum = fma(V(i, k) * V(j, k), max(D(k, k), T(0)) * largest, sum);
      A(i, j) = A(j, i) = select(definite, A(i, j), sum);
    }
  }
}

}  // namespace lope::math
