// Approximate inverses. The same objects precondition CG and initialise L-BFGS.
#pragma once

#include <lope/base/expected.h>
#include <lope/linalg/block_matrix.h>
#include <lope/linalg/space.h>

#include <string>
#include <vector>

namespace lope::linalg {

// All that CG needs to know.
class LinearInverse {
 public:
  virtual ~LinearInverse() = default;
  // z ≈ A⁻¹ r. r and z must not overlap.
  virtual void apply(ConstVector r, Vector z) = 0;
  // CG needs both; if either fails it uses the flexible formula.
  virtual bool is_linear() const { return true; }
  virtual bool is_symmetric() const { return true; }
};

// Of block matrices.
class Preconditioner : public LinearInverse {
 public:
  // Takes the numbers of a new matrix; symbolic work is redone only when the pattern changes. False when the
  // matrix does not allow it (not positive definite): the previous state is then lost.
  virtual bool update(const BlockMatrix& matrix) = 0;
  // Drops what is kept of earlier matrices, beyond what follows from their pattern: what comes next shall not depend on it, not by
  // a rounding error either.
  virtual void forget() {}
  // True if M⁻¹A is close to the identity in *all* modes (a factor of A or of a nearby matrix), so that a
  // small preconditioned residual means a small error. A local preconditioner says nothing about smooth
  // errors.
  virtual bool is_near_inverse() const { return false; }
  // True if it also acts on smooth errors, so that CG's convergence does not depend on the size of the
  // problem.
  virtual bool is_global() const { return is_near_inverse(); }
  // True if it is global because it works on levels of every size: a cycle of multigrid.
  virtual bool has_levels() const { return false; }
  // True if it is linear, symmetric and made of A or of a nearby matrix such that the eigenvalues of M⁻¹A lie within modest bounds
  // whatever the size of the problem (spectrally equivalent).
  virtual bool is_equivalent() const { return is_near_inverse(); }
};

// No preconditioning.
class Identity final : public Preconditioner {
 public:
  bool update(const BlockMatrix&) override { return true; }
  void apply(ConstVector r, Vector z) override { copy(r, z); }
};

// The inverses of the diagonal blocks. Blocks that are not positive definite have their eigenvalues replaced
// by their magnitudes (at least 10⁻¹⁰ of the largest), so that the result always is.
class BlockJacobi final : public Preconditioner {
 public:
  bool update(const BlockMatrix& matrix) override { return update_from(matrix); }
  // The same of any operator.
  bool update_from(const Operator& a);
  void apply(ConstVector r, Vector z) override;

 private:
  int block_size_ = 0;
  std::vector<double> inverse_;
};

}  // namespace lope::linalg
