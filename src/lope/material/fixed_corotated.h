// Fixed corotated elasticity (Stomakhin et al. 2012; the default of OPT, DOT and HOT):
//   ψ = μ Σ(σ_i − 1)² + (λ/2)(J − 1)².
// The first term is that of arap.h. Defined everywhere.
#pragma once

#include <lope/material/arap.h>

namespace lope::material {

struct FixedCorotated {
  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    const T change = volume_change(s);
    return math::fma(m.mu, squared_strain(s), T(0.5) * m.lambda * change * change);
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    const T twice_mu = T(2) * m.mu, pressure = m.lambda * volume_change(s);
    for (int i = 0; i < d; ++i) g[i] = math::fma(twice_mu, s[i] - T(1), pressure * cofactor(s, i));
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    Arap::hessian(m, s, h);
    add_volume_term(s, m.lambda * volume_change(s), m.lambda, h);
  }
};

}  // namespace lope::material
