// Sparse Cholesky factorisation A = P L Lᵀ Pᵀ of block matrices by the multifrontal method (Duff & Reid, "The
// multifrontal solution of indefinite sparse symmetric linear systems", 1983; Liu, "The multifrontal method
// for sparse matrix solution: theory and practice", 1992). T, float or double, is the precision of the
// factor.
//
// The symbolic part (sparse_cholesky_symbolic.h) gives a tree of supernodes. A supernode of w columns with m
// rows below them is a dense front of w + m rows; up the tree, each front
//   1. takes its entries of A and the children's update matrices into its w columns,
//   2. factorises them (the panel: a part of L, kept),
//   3. forms its own update matrix U = −L21 L21ᵀ and adds the rest of the children's.
// Deviations from the papers: U is formed before the children's are added, so that it is written without
// having been cleared; panels are stored as slivers (dense_kernels.h), so that nothing is packed.
//
// Memory. Nothing is allocated in repeated factorisations. Update matrices live on two stacks that grow
// towards each other from the ends of one array: those at even depth of the tree on one, those at odd depth
// on the other. A front's own U and the children's, of which it is made, are then always on different stacks;
// both are popped in the order of a postorder, and nothing is ever moved. All positions are found
// symbolically.
//
// Threads. The tree is cut into subtrees of at most 1/32 of the work, which run as independent tasks with a
// stack per thread; the fronts above the cut run one after another with parallel loops inside. The cut and
// the order of all additions depend on the pattern alone: the same bits for any number of threads. The same
// holds for the solves.
//
// Measured: docs/benchmarks/cholesky.md.
#pragma once

#include <lope/base/cpu.h>
#include <lope/linalg/preconditioner.h>

#include <cstdint>
#include <memory>

namespace lope::linalg {

template <class T>
class SparseCholesky final : public Preconditioner {
 public:
  explicit SparseCholesky(Isa isa = selected_isa());
  ~SparseCholesky() override;
  SparseCholesky(SparseCholesky&&) noexcept;
  SparseCholesky& operator=(SparseCholesky&&) noexcept;

  // False when the matrix is not positive definite to the precision of T, or has entries that are not finite,
  // or (logged) when there is not enough memory. apply() must not be called then; the next update() starts
  // afresh.
  bool update(const BlockMatrix& matrix) override;
  // The symbolic work of the next update() with this matrix, ahead of it. False: not enough memory.
  bool prepare(const BlockMatrix& matrix);
  // From now on factorises the matrix with this pattern, whose block k is the block slots[k] of the matrix that
  // update() receives (BlockPattern::direct_sum): r and z of apply() then have the rows of that pattern. Symbolic work
  // is done in the next update(); it is for matrices of one pattern.
  void factorize_instead(std::shared_ptr<const BlockPattern> pattern, std::vector<std::int64_t> slots);
  // From now on rows are eliminated in this order (nested_dissection.h), whatever the pattern of the same rows; empty: in one that is found
  // for each pattern.
  void eliminate_in(std::vector<int> order);
  // z = A⁻¹ r, exact up to rounding.
  void apply(ConstVector r, Vector z) override;
  // Several right-hand sides at once, which reads the factor once: entry i of side c is number (i · sides + c).
  void apply(ConstVector r, Vector z, int sides);
  bool is_near_inverse() const override { return true; }

  // After an update() that returned false: the scalar row of the matrix whose pivot was not positive; else
  // −1.
  std::int64_t failed_pivot() const;

  // Memory of the factor and flops of one factorisation (including those with the zeros that supernodes
  // store), known after the first prepare() or update().
  double factor_bytes() const;
  double factor_flops() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

extern template class SparseCholesky<double>;
extern template class SparseCholesky<float>;

}  // namespace lope::linalg
