// Corotated linear elasticity: ψ = μ Σ(σ_i − 1)² + (λ/2)(Σσ_i − d)².
// Defined everywhere; twist = 2μ + (2λ(Σσ − d) − 4μ)/(σ_i + σ_j) has a pole at σ_i + σ_j = 0 (clamped).
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct Corotated {
  template <class T, int d>
  [[gnu::always_inline]] static T excess(const Column<T, d>& s) {
    T sum = s[0] - T(1);
    for (int i = 1; i < d; ++i) sum += s[i] - T(1);
    return sum;
  }

  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    const T sum = excess(s);
    return m.mu * squared_strain(s) + T(0.5) * m.lambda * sum * sum;
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    const T pressure = m.lambda * excess(s);
    for (int i = 0; i < d; ++i) g[i] = T(2) * m.mu * (s[i] - T(1)) + pressure;
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const T twice_mu = T(2) * m.mu;
    set_stretch_block(twice_mu, m.lambda, h);
    const T pole = T(2) * (m.lambda * excess(s) - twice_mu);
    for (int pair = 0; pair < h.pairs; ++pair) {
      h.flip[pair] = twice_mu;
      h.twist[pair] = twice_mu + pole / pair_sum(s, pair);
    }
  }
};

}  // namespace lope::material
