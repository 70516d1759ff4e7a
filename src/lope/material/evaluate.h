// Energy densities of one deformation gradient F, in double: what tests, read-outs and one-off questions
// need. (Bodies of many elements use matter/solid/elastic_elements.h.) d = 2 or 3; in 2D everything is plane
// strain, per metre of depth. Units: energies J/m³, stresses and stiffnesses Pa.
#pragma once

#include <lope/material/parameters.h>
#include <lope/math/types.h>

namespace lope::material {

// Raw: the exact derivative. Projected: its negative eigenvalues set to 0 (Teran et al. 2005; NUMERICS §2).
enum class Definiteness { Raw, Projected };

// F = U diag(sigma) Vᵀ as in math/svd.h.
template <int d>
struct PrincipalStretches {
  Mat<d> U, V;
  Vec<d> sigma;
};
template <int d>
PrincipalStretches<d> principal_stretches(const Mat<d>& F);

// ψ(F); +infinity where the density is not defined. A constant is added so that ψ(I) = 0.
template <int d>
double energy(const Parameters& parameters, const Mat<d>& F);

// ψ and ψ_i at given stretches.
template <int d>
double energy_of_stretches(const Parameters& parameters, const Vec<d>& sigma);
template <int d>
Vec<d> principal_stress(const Parameters& parameters, const Vec<d>& sigma);

// First Piola–Kirchhoff stress P = ∂ψ/∂F.
template <int d>
Mat<d> stress(const Parameters& parameters, const Mat<d>& F);

// ∂P/∂F: entry (i + d j, k + d l) is ∂P_ij/∂F_kl (column-major, as Eigen's reshaped()).
template <int d>
Eigen::Matrix<double, d * d, d * d> stress_derivative(const Parameters& parameters, const Mat<d>& F,
                                                      Definiteness definiteness);

// ξ of NUMERICS §6: Frobenius norm of the full ∂²ψ/∂F² at rest.
template <int d>
double rest_stiffness_norm(const Parameters& parameters);

}  // namespace lope::material
