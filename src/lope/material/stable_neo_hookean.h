// Stable neo-Hookean elasticity (Smith, de Goes & Kim 2018, eq. 14; DOT §5.6), with I = Σσ_i²:
//   ψ = (μ̂/2)(I − d) + (λ̂/2)(J − α)² − (μ̂/2) log(I + 1) + constant,
//   μ̂ = (d+1)μ/d,  λ̂ = λ + 5μ/6 (3D) or λ + 2μ/3 (2D, plane strain),  α = 1 + dμ̂/((d+1)λ̂) = 1 + μ/λ̂,
// so that the rest state is free of stress and its linearisation has exactly the Lamé parameters μ and λ.
// Deviations: the paper prints λ̂ = λ + 5μ/6 with μ̂ = 4μ/3 for 3D only; and the constant here makes ψ(rest) =
// 0, which spares every sum of energies the cancellation. Defined everywhere and smooth, no poles.
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct StableNeoHookean {
  template <class T>
  struct Constants {
    T mu_hat, lambda_hat;
  };
  template <class T, int d>
  [[gnu::always_inline]] static Constants<T> constants(const Lame<T>& m) {
    return {T((d + 1.0) / d) * m.mu, m.lambda + T(d == 3 ? 5.0 / 6 : 2.0 / 3) * m.mu};
  }

  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    const auto [mu_hat, lambda_hat] = constants<T, d>(m);
    const T e = squares_excess(s), change = volume_change(s);
    // (λ̂/2)((J − α)² − (1 − α)²) = (λ̂/2)(J − 1)² − μ(J − 1).
    const T volumetric = math::fma(T(0.5) * lambda_hat, change, -m.mu) * change;
    return math::fma(T(0.5) * mu_hat, e - math::log1p(e * T(1.0 / (d + 1))), volumetric);
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    const auto [mu_hat, lambda_hat] = constants<T, d>(m);
    const T shear = mu_hat - mu_hat / (squares_excess(s) + T(d + 1));
    const T pressure = math::fma(lambda_hat, volume_change(s), -m.mu);
    for (int i = 0; i < d; ++i) g[i] = math::fma(shear, s[i], pressure * cofactor(s, i));
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const auto [mu_hat, lambda_hat] = constants<T, d>(m);
    const T inverse = T(1) / (squares_excess(s) + T(d + 1));
    const T shear = mu_hat - mu_hat * inverse;
    const T curvature = T(2) * mu_hat * inverse * inverse;
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) h.stretch(i, j) = curvature * s[i] * s[j];
      h.stretch(i, i) += shear;
    }
    for (int pair = 0; pair < h.pairs; ++pair) h.flip[pair] = h.twist[pair] = shear;
    add_volume_term(s, math::fma(lambda_hat, volume_change(s), -m.mu), lambda_hat, h);
  }
};

}  // namespace lope::material
