// As-rigid-as-possible elasticity: ψ = μ Σ(σ_i − 1)². λ is ignored: nothing resists a change of volume as
// such. What projective dynamics was designed for (NUMERICS §2). Defined everywhere; twist has a pole where
// σ_i + σ_j = 0 (clamped, see density.h).
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct Arap {
  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    return m.mu * squared_strain(s);
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    for (int i = 0; i < d; ++i) g[i] = T(2) * m.mu * (s[i] - T(1));
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const T twice_mu = T(2) * m.mu;
    set_stretch_block(twice_mu, T(0), h);
    for (int pair = 0; pair < h.pairs; ++pair) {
      h.flip[pair] = twice_mu;
      h.twist[pair] = twice_mu * (T(1) - T(2) / pair_sum(s, pair));
    }
  }
};

}  // namespace lope::material
