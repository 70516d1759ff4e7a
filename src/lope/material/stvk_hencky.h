// Saint Venant–Kirchhoff elasticity in the logarithmic (Hencky) strain, for metals and sand:
//   ψ = μ Σ ln²σ_i + (λ/2)(Σ ln σ_i)².
// Defined for J > 0 only: +infinity elsewhere, where derivatives are meaningless. With p_i = 2μ ln σ_i + λ Σ
// ln σ, ψ_i = p_i/σ_i and flip = (2μ log1p(x)/x − p_j)/(σ_i σ_j), x = (σ_i − σ_j)/σ_j ≥ 0: no cancellation at
// x = 0.
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct StvkHencky {
  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    const T smallest = s[d - 1];
    const auto defined = smallest > T(0);
    T squares(0), sum(0);
    for (int i = 0; i < d; ++i) {
      const T L = math::log(math::select(defined, s[i], T(1)));
      squares += L * L;
      sum += L;
    }
    const T value = m.mu * squares + T(0.5) * m.lambda * sum * sum;
    // A NaN stays one; everything else outside the domain is infinite.
    return math::select(smallest <= T(0), T(__builtin_inf()), math::select(defined, value, smallest));
  }

  // p_i of the header.
  template <class T, int d>
  [[gnu::always_inline]] static void kirchhoff(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& p) {
    T sum(0);
    for (int i = 0; i < d; ++i) {
      p[i] = math::log(s[i]);
      sum += p[i];
    }
    for (int i = 0; i < d; ++i) p[i] = T(2) * m.mu * p[i] + m.lambda * sum;
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    kirchhoff(m, s, g);
    for (int i = 0; i < d; ++i) g[i] = g[i] / s[i];
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    Column<T, d> p, inverse;
    kirchhoff(m, s, p);
    for (int i = 0; i < d; ++i) inverse[i] = T(1) / s[i];
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) h.stretch(i, j) = m.lambda * inverse[i] * inverse[j];
      h.stretch(i, i) += (T(2) * m.mu - p[i]) * inverse[i] * inverse[i];
    }
    for (int pair = 0; pair < h.pairs; ++pair) {
      const int i = first_of_pair<d>(pair), j = second_of_pair<d>(pair);
      const T both = inverse[i] * inverse[j];
      const T x = (s[i] - s[j]) * inverse[j];
      const auto apart = x > T(0);
      const T ratio = math::select(apart, math::log1p(x) / math::select(apart, x, T(1)), T(1));
      h.flip[pair] = (T(2) * m.mu * ratio - p[j]) * both;
      h.twist[pair] = (p[i] * s[j] + p[j] * s[i]) * both / (s[i] + s[j]);
    }
  }
};

}  // namespace lope::material
