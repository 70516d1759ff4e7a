// Plastic flow of a step inside its minimisation, for StvkHencky: the energy whose derivative is the stress *after* the return
// mapping of plasticity.h, as a function of the trial stretches. With ε = ln σ, the trace t = Σ ε_i + c (c: sand's volume
// correction), e the deviatoric part of ε in d dimensions and ê the deviatoric strain at which matter yields,
//
//   ψ = (λ/2 + μ/d) t² + μ |e|²                                          for |e| ≤ ê,
//       (λ/2 + μ/d) t² + μ (ê² + 2ê (|e| − ê) + r (|e| − ê)²)            beyond,
//
// the incremental potential of von Mises' law (Ortiz & Stainier 1999; the return in logarithmic strain is Simo's, 1992): r = 0 for
// perfect flow, the part of the excess that Bingham's law leaves after a step otherwise. It is continuously differentiable, and
// convex in ε.
//
// Drucker–Prager's flow keeps the volume and is not associated: it has no potential. Here ê is what the pressure at some other point
// allows (the lag, which whoever minimises renews until it is the pressure at the solution), and with `tension` = 0 the first term
// counts for t < 0 only. Where the lag agrees, ∂ψ/∂F is the stress of Klár et al. 2016's case analysis: for t ≥ 0 it vanishes, ê
// being 0 there.
//
// Derivatives are those of StvkHencky with p_i = k t + m e_i, k = λ + 2μ/d, m = 2μ (ê + r (|e| − ê))/|e| beyond the yield strain.
#pragma once

#include <lope/material/density.h>

namespace lope::material {

template <class T>
struct YieldingLame {
  T mu, lambda;
  T yield;       // ê; +infinity: elastic
  T left;        // r
  T correction;  // c
  T tension;     // 1, or 0 for matter that holds none
};

struct YieldingHencky {
  template <class T, int d>
  struct Strain {
    Column<T, d> deviator;
    T trace, size;  // t, |e|
    T held;         // the part of the volumetric term that counts
    T over;         // |e| − ê, or 0
    T safe;         // |e|, or 1 where it is 0
  };
  template <class T, int d>
  [[gnu::always_inline]] static Strain<T, d> strain_of(const YieldingLame<T>& m, const Column<T, d>& s) {
    Strain<T, d> r;
    T sum(0);
    for (int i = 0; i < d; ++i) {
      r.deviator[i] = math::log(s[i]);
      sum += r.deviator[i];
    }
    const T mean = sum * T(1.0 / d);
    T square(0);
    for (int i = 0; i < d; ++i) {
      r.deviator[i] -= mean;
      square = math::fma(r.deviator[i], r.deviator[i], square);
    }
    r.trace = sum + m.correction;
    r.held = math::select(r.trace > T(0), m.tension, T(1));
    r.size = math::sqrt(square);
    r.over = math::select(r.size > m.yield, r.size - m.yield, T(0));
    r.safe = math::select(r.size > T(0), r.size, T(1));
    return r;
  }
  // k, m of the header.
  template <class T, int d>
  [[gnu::always_inline]] static T bulk(const YieldingLame<T>& m) {
    return m.lambda + T(2.0 / d) * m.mu;
  }
  template <class T, int d>
  [[gnu::always_inline]] static T secant(const YieldingLame<T>& m, const Strain<T, d>& at) {
    // |e| − over + r over = ê + r (|e| − ê) beyond, |e| below.
    return T(2) * m.mu * math::select(at.over > T(0), (at.size - (T(1) - m.left) * at.over) / at.safe, T(1));
  }

  template <class T, int d>
  [[gnu::always_inline]] static T energy(const YieldingLame<T>& m, const Column<T, d>& s) {
    const T smallest = s[d - 1];
    const auto defined = smallest > T(0);
    Column<T, d> safe;
    for (int i = 0; i < d; ++i) safe[i] = math::select(defined, s[i], T(1));
    const Strain<T, d> at = strain_of<T, d>(m, safe);
    const T volumetric = T(0.5) * bulk<T, d>(m) * at.held * at.trace * at.trace;
    // |e|² − (1 − r) over² = ê² + 2ê over + r over².
    const T value = volumetric + m.mu * (at.size * at.size - (T(1) - m.left) * at.over * at.over);
    return math::select(smallest <= T(0), T(__builtin_inf()), math::select(defined, value, smallest));
  }

  template <class T, int d>
  [[gnu::always_inline]] static void kirchhoff(const YieldingLame<T>& m, const Strain<T, d>& at,
                                               Column<T, d>& p) {
    const T pressure = bulk<T, d>(m) * at.held * at.trace, slope = secant<T, d>(m, at);
    for (int i = 0; i < d; ++i) p[i] = math::fma(slope, at.deviator[i], pressure);
  }

  template <class T, int d>
  [[gnu::always_inline]] static void gradient(const YieldingLame<T>& m, const Column<T, d>& s,
                                              Column<T, d>& g) {
    kirchhoff<T, d>(m, strain_of<T, d>(m, s), g);
    for (int i = 0; i < d; ++i) g[i] = g[i] / s[i];
  }

  template <class T, int d>
  [[gnu::always_inline]] static void hessian(const YieldingLame<T>& m, const Column<T, d>& s,
                                             StretchHessian<T, d>& h) {
    const Strain<T, d> at = strain_of<T, d>(m, s);
    const T slope = secant<T, d>(m, at), k = bulk<T, d>(m) * at.held;
    const T tangent = T(2) * m.mu * math::select(at.over > T(0), m.left, T(1));
    const T along = (tangent - slope) / (at.safe * at.safe);
    const T shared = k - slope * T(1.0 / d);
    Column<T, d> p, inverse;
    kirchhoff<T, d>(m, at, p);
    for (int i = 0; i < d; ++i) inverse[i] = T(1) / s[i];
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j)
        h.stretch(i, j) = math::fma(along * at.deviator[i], at.deviator[j], shared) * inverse[i] * inverse[j];
      h.stretch(i, i) += (slope - p[i]) * inverse[i] * inverse[i];
    }
    for (int pair = 0; pair < h.pairs; ++pair) {
      const int i = first_of_pair<d>(pair), j = second_of_pair<d>(pair);
      const T both = inverse[i] * inverse[j];
      const T x = (s[i] - s[j]) * inverse[j];
      const auto apart = x > T(0);
      const T ratio = math::select(apart, math::log1p(x) / math::select(apart, x, T(1)), T(1));
      h.flip[pair] = (slope * ratio - p[j]) * both;
      h.twist[pair] = (p[i] * s[j] + p[j] * s[i]) * both / (s[i] + s[j]);
    }
  }
};

}  // namespace lope::material
