// What every energy density is made of (NUMERICS §2): functions of the signed principal stretches σ of F,
//
//   ψ          energy per rest volume, J/m³
//   ψ_i        ∂ψ/∂σ_i
//   ψ_ij       ∂²ψ/∂σ_i∂σ_j
//   flip_ij    (ψ_i − ψ_j)/(σ_i − σ_j)
//   twist_ij   (ψ_i + ψ_j)/(σ_i + σ_j)
//
// A density is a struct of static templates over the scalar type T (double or math::Pack) and the dimension
// d: energy(m, s), gradient(m, s, g) and hessian(m, s, h), which fills ψ_ij, flip and twist in closed form:
// no divided difference is ever taken, so that equal stretches are no special case. Only true poles are
// clamped. Where a density is not defined (J ≤ 0 for those with a logarithm) the energy is +infinity and the
// rest is NaN or meaningless. Evaluation never fails otherwise.
#pragma once

#include <lope/math/pack.h>

namespace lope::material {

using math::Column;
using math::Square;

// Lamé parameters, Pa.
template <class T>
struct Lame {
  T mu, lambda;
};

// dP/dF in the rotated frame: the d×d block of the stretches, and flip and twist of each pair (in 3D the pair
// that misses direction k stands at index k; in 2D there is one pair, at index 0).
template <class T, int d>
struct StretchHessian {
  static constexpr int pairs = d == 3 ? 3 : 1;
  Square<T, d> stretch;
  Column<T, pairs> flip, twist;
};

// The two directions of a pair, first < second.
template <int d>
[[gnu::always_inline]] constexpr int first_of_pair(int pair) {
  return d == 3 && pair == 0 ? 1 : 0;
}
template <int d>
[[gnu::always_inline]] constexpr int second_of_pair(int pair) {
  return d == 3 && pair != 2 ? 2 : 1;
}

// J = Π σ_i.
template <class T, int d>
[[gnu::always_inline]] inline T volume_ratio(const Column<T, d>& s) {
  T product = s[0];
  for (int i = 1; i < d; ++i) product *= s[i];
  return product;
}

// J − 1, with an error proportional to the strain: near rest nothing cancels.
template <class T, int d>
[[gnu::always_inline]] inline T volume_change(const Column<T, d>& s) {
  const T a = s[0] - T(1), b = s[1] - T(1);
  const T area = math::fma(a, b, a + b);
  if constexpr (d == 2) {
    return area;
  } else {
    const T c = s[2] - T(1);
    return math::fma(area, c, area + c);
  }
}

// log J, likewise: the logarithm of the rounded product, plus the first-order effect of that rounding.
template <class T, int d>
[[gnu::always_inline]] inline T log_volume_ratio(const Column<T, d>& s, T J) {
  const T rounding = volume_change(s) - (J - T(1));
  return math::log(J) + math::select(J > T(0.5), rounding / J, T(0));
}

// Σσ_i² − d, likewise.
template <class T, int d>
[[gnu::always_inline]] inline T squares_excess(const Column<T, d>& s) {
  T sum = (s[0] - T(1)) * (s[0] + T(1));
  for (int i = 1; i < d; ++i) sum = math::fma(s[i] - T(1), s[i] + T(1), sum);
  return sum;
}

// Σ(σ_i − 1)².
template <class T, int d>
[[gnu::always_inline]] inline T squared_strain(const Column<T, d>& s) {
  T sum = (s[0] - T(1)) * (s[0] - T(1));
  for (int i = 1; i < d; ++i) sum = math::fma(s[i] - T(1), s[i] - T(1), sum);
  return sum;
}

// J_i = ∂J/∂σ_i, the product of the other stretches.
template <class T, int d>
[[gnu::always_inline]] inline T cofactor(const Column<T, d>& s, int i) {
  if constexpr (d == 2)
    return s[1 - i];
  else
    return s[(i + 1) % 3] * s[(i + 2) % 3];
}

// The stretch that a pair leaves out (2D: 1).
template <class T, int d>
[[gnu::always_inline]] inline T other_stretch(const Column<T, d>& s, int pair) {
  if constexpr (d == 2)
    return T(1);
  else
    return s[pair];
}

// Twist of densities that depend on Σσ has a pole at σ_i + σ_j = 0 (σ_i ≥ |σ_j|, so the sum is never
// negative).
template <class T, int d>
[[gnu::always_inline]] inline T pair_sum(const Column<T, d>& s, int pair) {
  constexpr double smallest_sum = 1e-8;
  return math::max(s[first_of_pair<d>(pair)] + s[second_of_pair<d>(pair)], T(smallest_sum));
}

// Adds the part of a term g(J): first = g'(J), second = g''(J). J_i − J_j = −σ_k(σ_i − σ_j) and
// J_i + J_j = σ_k(σ_i + σ_j), so its flip and twist are −g'σ_k and g'σ_k.
template <class T, int d>
[[gnu::always_inline]] inline void add_volume_term(const Column<T, d>& s, T first, T second,
                                                   StretchHessian<T, d>& h) {
  for (int i = 0; i < d; ++i) {
    const T scaled = second * cofactor(s, i);
    for (int j = 0; j < d; ++j) h.stretch(i, j) = math::fma(scaled, cofactor(s, j), h.stretch(i, j));
  }
  for (int pair = 0; pair < StretchHessian<T, d>::pairs; ++pair) {
    const int i = first_of_pair<d>(pair), j = second_of_pair<d>(pair);
    const T mixed = first * other_stretch(s, pair);
    h.stretch(i, j) += mixed;
    h.stretch(j, i) += mixed;
    h.flip[pair] -= mixed;
    h.twist[pair] += mixed;
  }
}

// ψ_ij = diagonal·δ_ij + mixed.
template <class T, int d>
[[gnu::always_inline]] inline void set_stretch_block(T diagonal, T mixed, StretchHessian<T, d>& h) {
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) h.stretch(i, j) = i == j ? diagonal + mixed : mixed;
  }
}

}  // namespace lope::material
