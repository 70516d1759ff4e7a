// The solve on the coarsest level of a block multigrid: a factor in double precision, or conjugate gradients to half of the
// first residual. The matrix may be singular in directions that no right-hand side has.
#pragma once

#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/sparse_cholesky.h>

#include <optional>
#include <utility>
#include <vector>

namespace lope::linalg {

// Adds 10⁻¹⁰ of their mean to the diagonal entries of every diagonal block; blocks of zeros become the identity.
void shift_diagonal(BlockMatrix& matrix);

class CoarsestSolve {
 public:
  // The matrix outlives the solves.
  bool update(const BlockMatrix& matrix, bool factorize);
  // A matrix of single numbers with a factor may be given vectors of several components, each of which is solved for.
  void solve(ConstVector f, Vector x);

 private:
  const BlockMatrix& joined(const BlockMatrix& matrix);

  const BlockMatrix* matrix_ = nullptr;
  bool factorize_ = true;
  SparseCholesky<double> factor_;
  BlockJacobi jacobi_;
  ConjugateGradient cg_;
  // The matrix with its couplings as blocks of the pattern, for the factor.
  std::optional<BlockMatrix> joined_;
  std::uint64_t joined_pattern_ = 0;                // of the matrix that it was made for
  std::vector<std::pair<int, int>> joined_places_;  // of the couplings
};

}  // namespace lope::linalg
