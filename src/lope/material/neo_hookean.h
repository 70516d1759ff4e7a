// Compressible neo-Hookean elasticity (Bonet & Wood), with I = Σσ_i²:
//   ψ = (μ/2)(I − d) − μ log J + (λ/2)(log J)².
// Defined for J > 0 only: +infinity elsewhere, where derivatives are meaningless.
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct NeoHookean {
  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    const T J = volume_ratio(s);
    const auto defined = J > T(0);
    const T L = log_volume_ratio(s, J);
    const T value = T(0.5) * m.mu * squares_excess(s) + (T(0.5) * m.lambda * L - m.mu) * L;
    // A NaN stays one; everything else outside the domain is infinite.
    return math::select(J <= T(0), T(__builtin_inf()), math::select(defined, value, J));
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    const T pressure = m.lambda * log_volume_ratio(s, volume_ratio(s)) - m.mu;
    for (int i = 0; i < d; ++i) g[i] = m.mu * s[i] + pressure / s[i];
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const T pressure = m.lambda * log_volume_ratio(s, volume_ratio(s)) - m.mu;
    Column<T, d> inverse;
    for (int i = 0; i < d; ++i) inverse[i] = T(1) / s[i];
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) h.stretch(i, j) = m.lambda * inverse[i] * inverse[j];
      h.stretch(i, i) += m.mu - pressure * inverse[i] * inverse[i];
    }
    for (int pair = 0; pair < h.pairs; ++pair) {
      const T mixed = pressure * inverse[first_of_pair<d>(pair)] * inverse[second_of_pair<d>(pair)];
      h.flip[pair] = m.mu - mixed;
      h.twist[pair] = m.mu + mixed;
    }
  }
};

}  // namespace lope::material
