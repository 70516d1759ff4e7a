// Energy densities of membranes, per rest area: functions of F ∈ R^{3×2}, the gradient of the deformation of a sheet whose
// rest shape lies in the plane of the two material directions, warp (1) and weft (2).
//
// With the polar decomposition F = R U (R: two orthonormal columns, U symmetric) and a strain e in the material frame,
//   stvk:       e = ½(FᵀF − I)        (Saint Venant–Kirchhoff)
//   corotated:  e = U − I
//   ψ = ½ (C₁₁ e₁₁² + 2 C₁₂ e₁₁ e₂₂ + C₂₂ e₂₂²) + 2 G e₁₂² + κ Σ max(0, λ_i − λ_max)³,      N/m.
// Isotropic: C₁₁ = C₂₂ = C₁₂ + 2G. The last term limits the stretches λ (the singular values of F); it is twice
// continuously differentiable. Both models are finite for collapsed triangles; there is no inversion in space.
//
// Everything is given in the principal frame, F = [r₁ r₂] diag(λ) Vᵀ, with V = [c −s; s c]. S = 2 ∂ψ/∂(FᵀF) is the second
// Piola–Kirchhoff stress; then P = F S, and the second derivative of ψ along dF is
//   dF = [r₁ r₂] W Vᵀ + n yᵀVᵀ:   yᵀ S y + (a quadratic form A in the four entries of W),   n the normal:
// motions out of the plane and within it do not mix. So the projection of the 6×6 matrix onto the positive semi-definite
// ones is exactly that of S (2×2) and that of A (4×4), also in compression, where S is negative and wrinkles form, and also
// for orthotropic sheets, where A does not fall into parts.
//   stvk:       A = dEᵀK dE + S:WᵀW,              dE = sym(ΛW)
//   corotated:  A = dUᵀK dU + S:(WᵀW − dU²),       W = ΩΛ + dU with Ω skew
// K: the elasticities in the principal frame. Poles (λ = 0, corotated) are clamped.
#pragma once

#include <lope/math/pack.h>

#include <limits>

namespace lope::material {

enum class MembraneModel { StVenantKirchhoff, Corotated };

// N/m; positive definite: C₁₁ C₂₂ > C₁₂².
struct MembraneParameters {
  MembraneModel model = MembraneModel::Corotated;
  double warp = 0;      // C₁₁
  double weft = 0;      // C₂₂
  double coupling = 0;  // C₁₂
  double shear = 0;     // G
  double largest_stretch = std::numeric_limits<double>::infinity();  // λ_max
  double limit_stiffness = 0;                                        // κ
};

// Young's modulus times thickness, N/m.
inline MembraneParameters isotropic_membrane(double young, double poisson) {
  const double stretch = young / (1 - poisson * poisson);
  return {MembraneModel::Corotated, stretch, stretch, poisson * stretch, 0.5 * young / (1 + poisson)};
}

template <class T>
struct MembraneConstants {
  T warp, weft, coupling, shear, largest_stretch, limit_stiffness;
};

template <class T>
struct PrincipalFrame {
  T c, s;            // V
  T first, second;   // λ₁ ≥ λ₂ ≥ 0
};

template <class T>
struct MembraneStress {
  T energy;              // ψ
  T p11, p22, p12, p21;  // [r₁ r₂]ᵀ P V
  T s11, s22, s12;       // S in the principal frame
  T t11, t22, t12;       // ∂ψ/∂e likewise, without the limit
};

// Entries of A in the order w₁₁, w₂₂, w₁₂, w₂₁.
template <class T>
using MembraneTangent = math::Square<T, 4>;

namespace detail {

// The pole of the corotated model.
inline constexpr double smallest_stretch = 1e-8;

// max(0, λ − λ_max).
template <class T>
[[gnu::always_inline]] inline T excess(const MembraneConstants<T>& m, T stretch) {
  return math::max(stretch - m.largest_stretch, T(0));
}

}  // namespace detail

template <MembraneModel model, class T>
[[gnu::always_inline]] inline void membrane_stress(const MembraneConstants<T>& m, const PrincipalFrame<T>& f,
                                                   MembraneStress<T>& out) {
  using math::fma;
  constexpr bool corotated = model == MembraneModel::Corotated;
  const T e1 = corotated ? f.first - T(1) : T(0.5) * ((f.first - T(1)) * (f.first + T(1)));
  const T e2 = corotated ? f.second - T(1) : T(0.5) * ((f.second - T(1)) * (f.second + T(1)));
  const T cc = f.c * f.c, ss = f.s * f.s, cs = f.c * f.s;
  // Material frame.
  const T e11 = fma(cc, e1, ss * e2), e22 = fma(ss, e1, cc * e2), e12 = cs * (e1 - e2);
  const T t11 = fma(m.warp, e11, m.coupling * e22), t22 = fma(m.coupling, e11, m.weft * e22);
  const T t12 = T(2) * m.shear * e12;
  const T a1 = detail::excess(m, f.first), a2 = detail::excess(m, f.second);
  const T energy = fma(T(0.5), fma(t11, e11, t22 * e22), t12 * e12);
  out.energy = fma(m.limit_stiffness, fma(a1 * a1, a1, a2 * a2 * a2), energy);
  // Principal frame.
  const T twice = T(2) * cs * t12;
  out.t11 = fma(cc, t11, fma(ss, t22, twice));
  out.t22 = fma(ss, t11, fma(cc, t22, -twice));
  out.t12 = fma(cs, t22 - t11, (cc - ss) * t12);
  const T limit1 = T(3) * m.limit_stiffness * (a1 * a1), limit2 = T(3) * m.limit_stiffness * (a2 * a2);
  const T safe1 = math::max(f.first, T(detail::smallest_stretch));
  const T safe2 = math::max(f.second, T(detail::smallest_stretch));
  if constexpr (corotated) {
    out.s12 = T(2) * out.t12 / math::max(f.first + f.second, T(detail::smallest_stretch));
    out.p11 = out.t11 + limit1;
    out.p22 = out.t22 + limit2;
    out.s11 = out.p11 / safe1;
    out.s22 = out.p22 / safe2;
  } else {
    out.s12 = out.t12;
    out.s11 = out.t11 + limit1 / safe1;
    out.s22 = out.t22 + limit2 / safe2;
    out.p11 = fma(f.first, out.t11, limit1);
    out.p22 = fma(f.second, out.t22, limit2);
  }
  out.p12 = f.first * out.s12;
  out.p21 = f.second * out.s12;
}

// A.
template <MembraneModel model, class T>
[[gnu::always_inline]] inline void membrane_tangent(const MembraneConstants<T>& m, const PrincipalFrame<T>& f,
                                                    const MembraneStress<T>& stress, MembraneTangent<T>& A) {
  using math::fma;
  // K: the elasticities between the strains e₁, e₂ and e₁₂ of the principal frame, each given by its entries 11, 22 and 12
  // in the material frame.
  const T cc = f.c * f.c, ss = f.s * f.s, cs = f.c * f.s;
  const T basis[3][3] = {{cc, ss, cs}, {ss, cc, -cs}, {T(-2) * cs, T(2) * cs, cc - ss}};
  T K[3][3];
  for (int i = 0; i < 3; ++i) {
    const T t11 = fma(m.warp, basis[i][0], m.coupling * basis[i][1]);
    const T t22 = fma(m.coupling, basis[i][0], m.weft * basis[i][1]);
    const T t12 = T(4) * m.shear * basis[i][2];
    for (int j = i; j < 3; ++j) {
      K[i][j] = K[j][i] = fma(t11, basis[j][0], fma(t22, basis[j][1], t12 * basis[j][2]));
    }
  }
  const T l1 = f.first, l2 = f.second;
  // Rows of the strain's derivative: e₁ = row0·w₁₁, e₂ = row1·w₂₂, e₁₂ = u12·w₁₂ + u21·w₂₁.
  T d1, d2, u12, u21;
  if constexpr (model == MembraneModel::Corotated) {
    const T inverse = T(1) / math::max(l1 + l2, T(detail::smallest_stretch));
    d1 = d2 = T(1);
    u12 = l1 * inverse;
    u21 = l2 * inverse;
  } else {
    d1 = l1;
    d2 = l2;
    u12 = T(0.5) * l1;
    u21 = T(0.5) * l2;
  }
  A(0, 0) = K[0][0] * d1 * d1;
  A(1, 1) = K[1][1] * d2 * d2;
  A(0, 1) = K[0][1] * d1 * d2;
  A(0, 2) = K[0][2] * d1 * u12;
  A(0, 3) = K[0][2] * d1 * u21;
  A(1, 2) = K[1][2] * d2 * u12;
  A(1, 3) = K[1][2] * d2 * u21;
  A(2, 2) = K[2][2] * u12 * u12;
  A(3, 3) = K[2][2] * u21 * u21;
  A(2, 3) = K[2][2] * u12 * u21;
  if constexpr (model == MembraneModel::Corotated) {
    // S₁₁(w₂₁² − u²) + S₂₂(w₁₂² − u²) + 2 S₁₂ ω(λ₁w₂₂ − λ₂w₁₁), u = dU₁₂, ω = (w₂₁ − w₁₂)/(λ₁ + λ₂), without the pole.
    const T inverse = T(1) / math::max(l1 + l2, T(detail::smallest_stretch)), square = inverse * inverse;
    const T t1 = stress.t11 * square, t2 = stress.t22 * square, t12 = stress.s12 * inverse;
    A(2, 2) += fma(t2, T(2) * l1 + l2, -(t1 * l1));
    A(3, 3) += fma(t1, l1 + T(2) * l2, -(t2 * l2));
    A(2, 3) -= fma(t1, l2, t2 * l1);
    A(0, 2) = fma(t12, l2, A(0, 2));
    A(0, 3) = fma(-t12, l2, A(0, 3));
    A(1, 2) = fma(-t12, l1, A(1, 2));
    A(1, 3) = fma(t12, l1, A(1, 3));
  } else {
    A(0, 0) += stress.t11;
    A(3, 3) += stress.t11;
    A(2, 2) += stress.t22;
    A(1, 1) += stress.t22;
    A(0, 2) += stress.t12;
    A(1, 3) += stress.t12;
  }
  // The limit is isotropic: flip and twist of f(λ) = 3κ max(0, λ − λ_max)², the flip a divided difference (a₁² − a₂²)/(λ₁ −
  // λ₂) = (a₁ + a₂)·(a₁ − a₂)/(λ₁ − λ₂), whose last factor is 1 where both are active.
  const T a1 = detail::excess(m, l1), a2 = detail::excess(m, l2), three = T(3) * m.limit_stiffness;
  const T part = math::select(a2 > T(0), T(1), math::min(a1 / math::max(l1 - l2, T(1e-300)), T(1)));
  const T flip = three * (a1 + a2) * part;
  const T twist = three * fma(a1, a1, a2 * a2) / math::max(l1 + l2, T(detail::smallest_stretch));
  A(0, 0) = fma(T(2) * three, a1, A(0, 0));
  A(1, 1) = fma(T(2) * three, a2, A(1, 1));
  A(2, 2) = fma(T(0.5), flip + twist, A(2, 2));
  A(3, 3) = fma(T(0.5), flip + twist, A(3, 3));
  A(2, 3) = fma(T(0.5), flip - twist, A(2, 3));
  for (int i = 1; i < 4; ++i) {
    for (int j = 0; j < i; ++j) A(i, j) = A(j, i);
  }
}

}  // namespace lope::material
