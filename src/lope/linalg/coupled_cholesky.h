// A Cholesky factor of a block matrix with its couplings, which come and go (block_matrix.h): those of contact between the
// wrinkles of a cloth, say. As a preconditioner a factor without them knows nothing of the stiffest forces there are.
//
// The pattern that is factorised is that of the matrix and of the places where couplings are or lately were, so that symbolic work is
// done only when they come to new ones. The order of elimination is kept even then, until it makes the factor grow: pairs that are
// far apart in the matrix's own graph fill the factor, unless they were there when the order was found (measured on a wrinkled sheet of
// 10,000 nodes with 1,700 couplings: twice the flops in the matrix's own order, 1 % more in a new one).
#pragma once

#include <lope/linalg/sparse_cholesky.h>

#include <optional>
#include <utility>
#include <vector>

namespace lope::linalg {

template <class T>
class CoupledCholesky final : public Preconditioner {
 public:
  // As SparseCholesky.
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override { in_use_->apply(r, z); }
  bool is_near_inverse() const override { return true; }
  void forget() override { joined_matrix_.reset(); }

  double factor_flops() const { return in_use_->factor_flops(); }

 private:
  // Row and column.
  using Place = std::pair<int, int>;

  bool update_joined(const BlockMatrix& matrix);
  bool join(const BlockMatrix& matrix);
  bool order_anew();
  void take_numbers(const BlockMatrix& matrix);

  SparseCholesky<T> alone_, joined_;  // without and with couplings
  SparseCholesky<T>* in_use_ = &alone_;
  std::vector<Place> places_;              // of couplings in the joined pattern, both halves, sorted
  std::vector<Place> needed_;              // work space: those of the matrix at hand
  std::vector<std::int64_t> own_;          // per block of the joined pattern: that of the matrix, or -1
  std::optional<BlockMatrix> joined_matrix_;
  std::uint64_t pattern_id_ = 0;           // of the matrix that it is made for
  double flops_when_ordered_ = 0;
};

extern template class CoupledCholesky<double>;
extern template class CoupledCholesky<float>;

}  // namespace lope::linalg
