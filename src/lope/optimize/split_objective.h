// Objectives whose non-quadratic part falls into small independent terms of linear functions of x, as ADMM
// and projective dynamics need it:
//   E(x) = Q(x) + Σ_e φ_e((Dx)_e),   Q quadratic, D the reduction (for solids: deformation gradients).
// W is diagonal with one weight per term, in units of E per unit of Dx squared.
#pragma once

#include <lope/linalg/space.h>

#include <cstddef>

namespace lope::optimize {

class SplitObjective {
 public:
  virtual ~SplitObjective() = default;
  // Length of Dx.
  virtual std::size_t reduced_size() const = 0;
  // z = D x.
  virtual void reduce(linalg::ConstVector x, linalg::Vector z) const = 0;
  // z_e = argmin φ_e(z) + ½w_e|z − target_e|² for every term, in parallel.
  virtual void minimize_locally(linalg::ConstVector target, linalg::Vector z) const = 0;
  // g = ∇Q(x), 0 at fixed blocks.
  virtual void quadratic_gradient(linalg::ConstVector x, linalg::Vector g) const = 0;
  // g += DᵀW p; fixed blocks of g are set to 0.
  virtual void add_transposed(linalg::ConstVector p, linalg::Vector g) const = 0;
};

}  // namespace lope::optimize
