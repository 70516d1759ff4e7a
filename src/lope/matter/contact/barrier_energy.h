// The energy of two surface primitives at a small distance (NUMERICS §10; Li et al. 2020 eq. 5, in the distance d and not in its
// square): with the gap g = d − ξ,
//
//   Φ = w m b(g),   b(g) = −(g − ĝ)² ln(g/ĝ)/ĝ for 0 < g < ĝ, 0 beyond,
//
// infinite at 0 and twice continuously differentiable at ĝ. w = κA in newtons (κ a pressure, A the area that the pair stands for:
// at g = ĝ/2 the pair pushes with 1.2 w), m the mollifier of nearly parallel edges, 1 for all other pairs
// (geometry/pair_distance.h).
//
// Second derivatives. With ν = r/d, τ_a an orthonormal basis of the tangents e = τR, σ̃ = σR⁻¹ and β the directions that are
// perpendicular to ν and all τ_a, that of an energy of d with derivatives Φ′ ≤ 0 and Φ″ is
//   Φ″ (c⊗ν)(c⊗ν)ᵀ − Φ′/d Σ_a [(c⊗τ_a)(σ̃_a⊗r)ᵀ + (σ̃_a⊗r)(c⊗τ_a)ᵀ + (σ̃_a⊗r)(σ̃_a⊗r)ᵀ] + Φ′/d Σ (c⊗β)(c⊗β)ᵀ.
// The last sum is negative and perpendicular to the rest; the rest is a matrix of at most five dimensions, so that the positive
// part of the whole needs the eigenvalues of that one alone. Mollified pairs are decomposed in all twelve.
//
// Units: metres, joules. Pure functions.
#pragma once

#include <lope/geometry/pair_distance.h>

namespace lope::matter {

struct BarrierOfGap {
  double value, first, second;  // b and its derivatives by g
};
// `reach` is ĝ. Infinite where g ≤ 0.
BarrierOfGap barrier(double gap, double reach);

struct BarrierPairParameters {
  double weight = 0;           // w, newtons
  double reach = 0;            // ĝ
  double offset = 0;           // ξ
  double parallel_limit = 0;   // of the mollifier, m⁴; 0: none
};

double barrier_value(const geometry::ClosestPair& at, const geometry::PairNodes& x, const BarrierPairParameters& pair);
// By x₀ … x₃, one after another.
Vec<12> barrier_gradient(const geometry::ClosestPair& at, const geometry::PairNodes& x, const BarrierPairParameters& pair);
geometry::PairHessian barrier_hessian(const geometry::ClosestPair& at, const geometry::PairNodes& x,
                                      const BarrierPairParameters& pair);
// The same with its negative eigenvalues put to 0.
geometry::PairHessian projected_barrier_hessian(const geometry::ClosestPair& at, const geometry::PairNodes& x,
                                                const BarrierPairParameters& pair);

}  // namespace lope::matter
