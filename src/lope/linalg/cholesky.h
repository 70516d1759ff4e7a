// Sparse direct solves. Symbolic work once per pattern.
#pragma once

#include <lope/linalg/cholmod.h>
#include <lope/linalg/sparse_cholesky.h>

namespace lope::linalg {

// LLᵀ of a positive definite matrix; update() fails on any other.
using Cholesky = SparseCholesky<double>;

// LDLᵀ without pivoting of a symmetric matrix that may be indefinite; update() fails on a zero pivot only.
// Much slower, and only as accurate as its smallest pivot allows.
class IndefiniteCholesky final : public Preconditioner {
 public:
  bool update(const BlockMatrix& matrix) override { return factor_.update(matrix); }
  void apply(ConstVector r, Vector z) override { factor_.apply(r, z); }
  double factor_bytes() const { return factor_.factor_bytes(); }
  double factor_flops() const { return factor_.factor_flops(); }

 private:
  CholmodFactor factor_{CholmodFactor::Kind::Indefinite};
};

}  // namespace lope::linalg
