// Rotation-variant singular value decomposition F = U Σ Vᵀ of 2×2 and 3×3 matrices, for doubles and for
// packs: det U = det V = +1, σ₁ ≥ … ≥ |σ_d|, and the smallest σ carries the sign of det F.
//
// One-sided Jacobi (Hestenes 1958; Demmel & Veselić 1992 for its accuracy): columns of B = F V are rotated in
// pairs until they are orthogonal. FᵀF is never formed, so small singular values keep their relative
// accuracy. Rotations are masked per lane: the result of a lane does not depend on its neighbours in the
// pack.
//
// Any finite F is welcome: inverted, rank-deficient, zero, entries up to 1e300 (F is scaled by its largest
// entry; below 1e-300 it counts as zero). A NaN or an infinity in F gives NaN. Nothing else fails.
#pragma once

#include <lope/math/pack.h>

namespace lope::math {

template <class T, int d>
struct SignedSvd {
  Square<T, d> U, V;
  Column<T, d> sigma;
};

namespace detail {

// The product of column p of A and column q of B.
template <class T, int d>
[[gnu::always_inline]] inline T dot(const Square<T, d>& A, int p, const Square<T, d>& B, int q) {
  T sum = A(0, p) * B(0, q);
  for (int i = 1; i < d; ++i) sum = fma(A(i, p), B(i, q), sum);
  return sum;
}

// a·b in space.
template <class T>
[[gnu::always_inline]] inline T dot3(T a0, T a1, T a2, T b0, T b1, T b2) {
  return fma(a2, b2, fma(a1, b1, a0 * b0));
}

// (a_p, a_q) ← (c a_p − s a_q, s a_p + c a_q).
template <class T, int d>
[[gnu::always_inline]] inline void rotate(Square<T, d>& A, int p, int q, T c, T s) {
  for (int i = 0; i < d; ++i) {
    const T first = fma(c, A(i, p), -(s * A(i, q)));
    A(i, q) = fma(s, A(i, p), c * A(i, q));
    A(i, p) = first;
  }
}

// Cosine and sine of the smaller rotation that zeroes the off-diagonal entry γ of [[α, γ], [γ, β]], δ = β −
// α. With q = |δ| + √(δ² + 4γ²) they are q/r and ±2γ/r, r = √(q² + 4γ²): two roots and one division in a
// chain.
template <class T>
struct Rotation {
  T c, s;
};
template <class T>
[[gnu::always_inline]] inline Rotation<T> jacobi_rotation(T delta, T gamma) {
  const T twice = gamma + gamma, square = twice * twice;
  const T q = abs(delta) + sqrt(fma(delta, delta, square));
  const T inverse = T(1) / sqrt(fma(q, q, square));
  return {q * inverse, copysign(T(1), delta) * twice * inverse};
}

// Makes columns p and q of B orthogonal where they are not yet; true if any lane was rotated.
template <class T, int d>
[[gnu::always_inline]] inline bool orthogonalize(Square<T, d>& B, Square<T, d>& V, int p, int q) {
  // Cosine that counts as orthogonal, squared: a few times the rounding error of the scalar product.
  constexpr double tolerance = 1e-15 * 1e-15;
  // Products of lengths below 1e-140 of the largest entry count as orthogonal too: their squares underflow.
  constexpr double floor = 1e-280;
  const T alpha = dot(B, p, B, p), beta = dot(B, q, B, q), gamma = dot(B, p, B, q);
  const auto needed = gamma * gamma > fma(T(tolerance) * alpha, beta, T(floor));
  if (!any_of(needed)) return false;
  const Rotation<T> rotation = jacobi_rotation(beta - alpha, gamma);
  const T c = select(needed, rotation.c, T(1));
  const T s = select(needed, rotation.s, T(0));
  rotate(B, p, q, c, s);
  rotate(V, p, q, c, s);
  return true;
}

// Puts the longer of columns p and q first, by a quarter turn so that det V stays +1.
template <class T, int d>
[[gnu::always_inline]] inline void sort_columns(Square<T, d>& B, Square<T, d>& V, Column<T, d>& square, int p,
                                                int q) {
  const auto swap = square[p] < square[q];
  for (int i = 0; i < d; ++i) {
    const T bp = B(i, p), vp = V(i, p);
    B(i, p) = select(swap, B(i, q), bp);
    B(i, q) = select(swap, -bp, B(i, q));
    V(i, p) = select(swap, V(i, q), vp);
    V(i, q) = select(swap, -vp, V(i, q));
  }
  const T first = square[p];
  square[p] = max(square[q], first);
  square[q] = min(square[q], first);
}

// Squared lengths below this (of a matrix whose largest entry is 1) count as zero: their roots cannot be
// normalised without underflow, and are 140 orders of magnitude below rounding.
inline constexpr double negligible_square = 1e-280;

// U and σ from orthogonal, sorted columns of B.
template <class T>
[[gnu::always_inline]] inline void finish_svd(const Square<T, 2>& B, const Column<T, 2>& square,
                                              SignedSvd<T, 2>& svd) {
  const auto zero = square[0] < T(negligible_square);
  const T length = sqrt(square[0]);
  const T inverse = T(1) / select(zero, T(1), length);
  const T x = select(zero, T(1), B(0, 0) * inverse), y = select(zero, T(0), B(1, 0) * inverse);
  svd.U = {{{x, -y}, {y, x}}};
  svd.sigma[0] = select(zero, T(0), length);
  svd.sigma[1] = max(-svd.sigma[0], min(svd.sigma[0], fma(x, B(1, 1), -(y * B(0, 1)))));
}

template <class T>
[[gnu::always_inline]] inline void finish_svd(const Square<T, 3>& B, const Column<T, 3>& square,
                                              SignedSvd<T, 3>& svd) {
  const auto zero = square[0] < T(negligible_square);
  const T length = sqrt(square[0]);
  const T inverse = T(1) / select(zero, T(1), length);
  const T u0 = select(zero, T(1), B(0, 0) * inverse), u1 = select(zero, T(0), B(1, 0) * inverse),
          u2 = select(zero, T(0), B(2, 0) * inverse);
  // Second column: what is left of b₂ after removing u; any perpendicular of u if nothing is left.
  const T along = dot3(u0, u1, u2, B(0, 1), B(1, 1), B(2, 1));
  T v0 = fma(-along, u0, B(0, 1)), v1 = fma(-along, u1, B(1, 1)), v2 = fma(-along, u2, B(2, 1));
  const T left = dot3(v0, v1, v2, v0, v1, v2);
  const auto line = left < T(negligible_square);
  if (any_of(line)) {
    // The larger of u × e_z and u × e_x.
    const auto flat = abs(u2) < abs(u0);
    v0 = select(line, select(flat, u1, T(0)), v0);
    v1 = select(line, select(flat, -u0, u2), v1);
    v2 = select(line, select(flat, T(0), -u1), v2);
  }
  const T second = sqrt(dot3(v0, v1, v2, v0, v1, v2));
  const T scale = T(1) / second;
  v0 = v0 * scale;
  v1 = v1 * scale;
  v2 = v2 * scale;
  const T w0 = fma(u1, v2, -(u2 * v1)), w1 = fma(u2, v0, -(u0 * v2)), w2 = fma(u0, v1, -(u1 * v0));
  svd.U = {{{u0, v0, w0}, {u1, v1, w1}, {u2, v2, w2}}};
  svd.sigma[0] = select(zero, T(0), length);
  svd.sigma[1] = min(svd.sigma[0], select(line, T(0), second));
  svd.sigma[2] = max(-svd.sigma[1], min(svd.sigma[1], dot3(w0, w1, w2, B(0, 2), B(1, 2), B(2, 2))));
}

}  // namespace detail

template <class T, int d>
[[gnu::always_inline]] inline void signed_svd(const Square<T, d>& F, SignedSvd<T, d>& svd) {
  static_assert(d == 2 || d == 3);
  constexpr int max_sweeps = 12;  // 4 or 5 are usual for 3×3, 2 for 2×2

  T largest(0);
  for (int i = 0; i < d; ++i) {
    // Written so that a NaN anywhere survives the maximum.
    for (int j = 0; j < d; ++j) largest = select(abs(F(i, j)) <= largest, largest, abs(F(i, j)));
  }
  const auto vanishing = largest < T(1e-300);
  const T scale = select(vanishing, T(0), T(1) / select(vanishing, T(1), largest));
  Square<T, d> B;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      B(i, j) = F(i, j) * scale;
      svd.V(i, j) = T(i == j ? 1 : 0);
    }
  }

  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool rotated = detail::orthogonalize(B, svd.V, 0, 1);
    if constexpr (d == 3) {
      rotated |= detail::orthogonalize(B, svd.V, 0, 2);
      rotated |= detail::orthogonalize(B, svd.V, 1, 2);
    }
    if (!rotated) break;
  }

  Column<T, d> square;
  for (int j = 0; j < d; ++j) square[j] = detail::dot(B, j, B, j);
  detail::sort_columns(B, svd.V, square, 0, 1);
  if constexpr (d == 3) {
    detail::sort_columns(B, svd.V, square, 0, 2);
    detail::sort_columns(B, svd.V, square, 1, 2);
  }
  detail::finish_svd(B, square, svd);
  for (int i = 0; i < d; ++i) svd.sigma[i] = svd.sigma[i] * largest;
}

}  // namespace lope::math
