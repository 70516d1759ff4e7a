// Neo-Hookean elasticity continued below a threshold of compression, so that it is defined everywhere
// (OPT §4.1; energy-based extrapolation after Stomakhin et al. 2012). With I = Σσ_i²:
//   ψ = (μ/2)(I − d) + g(J),   g(J) = −μ log J + (λ/2)(log J)²   for J ≥ J₀,
// and below J₀ the second-order Taylor polynomial of g at J₀.
//
// Deviation: Stomakhin et al. extrapolate along each principal stretch below a threshold a, which leaves a
// kink and a pole of the Hessian where σ_i + σ_j = 0. The only singular part of this density is g, a function
// of J alone, so we extrapolate g: ψ is then twice continuously differentiable in F everywhere, convex in J below e^(1 + μ/λ),
// and has no poles. The threshold is a uniform compression to half the length, J₀ = 2⁻ᵈ.
#pragma once

#include <lope/material/density.h>

namespace lope::material {

struct NeoHookeanExtrapolated {
  // Stretch of uniform compression at which the continuation begins; J₀ = threshold^d.
  static constexpr double threshold = 0.5;

  // g and its derivatives at J.
  template <class T>
  struct VolumeTerm {
    T value, first, second;
  };
  template <class T, int d>
  [[gnu::always_inline]] static VolumeTerm<T> volume_term(const Lame<T>& m, const Column<T, d>& s) {
    constexpr double lowest = d == 3 ? threshold * threshold * threshold : threshold * threshold;
    const T J = volume_ratio(s);
    const T kept = math::select(J < T(lowest), T(lowest), J);  // lets a NaN through
    const T below = J - kept;
    const T L = log_volume_ratio(s, kept), inverse = T(1) / kept;
    const T slope = (m.lambda * L - m.mu) * inverse;
    const T second = (m.lambda * inverse - slope) * inverse;
    const T value = (T(0.5) * m.lambda * L - m.mu) * L;
    return {value + (slope + T(0.5) * second * below) * below, slope + second * below, second};
  }

  template <class T, int d>
  [[gnu::always_inline]] static T energy(const Lame<T>& m, const Column<T, d>& s) {
    return T(0.5) * m.mu * squares_excess(s) + volume_term(m, s).value;
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const Lame<T>& m, const Column<T, d>& s, Column<T, d>& g) {
    const T pressure = volume_term(m, s).first;
    for (int i = 0; i < d; ++i) g[i] = m.mu * s[i] + pressure * cofactor(s, i);
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const Lame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const VolumeTerm<T> term = volume_term(m, s);
    set_stretch_block(m.mu, T(0), h);
    for (int pair = 0; pair < h.pairs; ++pair) h.flip[pair] = h.twist[pair] = m.mu;
    add_volume_term(s, term.first, term.second, h);
  }
};

}  // namespace lope::material
