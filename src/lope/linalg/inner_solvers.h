// Approximate inverses that are whole solvers of a simpler kind.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/sparse_cholesky.h>

#include <optional>
#include <vector>

namespace lope::linalg {

// (L ⊗ I)⁻¹ for a scalar matrix L (block size 1): every component of the vector is solved with the same
// factor. The initialiser of LBFGS-PD (Liu et al. 2017; DOT §3).
template <class T>
class ComponentwiseCholesky final : public Preconditioner {
 public:
  bool update(const BlockMatrix& scalar_matrix) override;
  void apply(ConstVector r, Vector z) override;
  // An elliptic operator of the same order as the matrix: smooth modes are seen like all others.
  bool is_global() const override { return true; }

 private:
  std::size_t rows_ = 0;
  SparseCholesky<T> factor_;
};

extern template class ComponentwiseCholesky<double>;
extern template class ComponentwiseCholesky<float>;

// Block-Jacobi CG on a copy of the matrix, to a relative tolerance: not a linear function of r.
class InexactInverse final : public Preconditioner {
 public:
  explicit InexactInverse(const CgOptions& options) : options_(options) {}
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;
  bool is_linear() const override { return false; }
  bool is_symmetric() const override { return false; }

 private:
  CgOptions options_;
  std::optional<BlockMatrix> matrix_;
  BlockJacobi jacobi_;
  ConjugateGradient cg_;
};

}  // namespace lope::linalg
