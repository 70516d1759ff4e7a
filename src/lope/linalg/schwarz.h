// Overlapping Schwarz decomposition: local inverses, added up. The initialiser of DOT §4.7 (Li et al. 2019),
// as a preconditioner of any symmetric matrix.
//
//   symmetric:  D = B^½ Sᵀ diag(A_j⁻¹) S B^½        one-sided (as printed, eq. 10):  D = B Sᵀ diag(A_j⁻¹) S
//
// S copies the rows of every set, B divides by the number of copies, A_j is the principal submatrix of A on
// set j: with the interface Hessians K_j of DOT eq. 9 the subdomain matrices of eq. 12 are exactly these.
// Symmetric weighting gives a symmetric positive definite D, one-sided weighting does not. linalg::TwoLevel
// adds a coarse correction.
//
// All A_j are factorised as one block-diagonal matrix in precision T; whole subdomains run as tasks
// (sparse_cholesky.h). Symbolic work once per pattern and cover.
#pragma once

#include <lope/linalg/preconditioner.h>
#include <lope/linalg/sparse_cholesky.h>

#include <memory>
#include <vector>

namespace lope::linalg {

enum class Weighting { Symmetric, OneSided };

template <class T>
class Schwarz final : public Preconditioner {
 public:
  explicit Schwarz(Weighting weighting = Weighting::Symmetric) : weighting_(weighting) {}

  // The sets (ascending rows, every row in at least one).
  void set_cover(std::vector<std::vector<int>> sets);

  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;
  bool is_symmetric() const override { return weighting_ == Weighting::Symmetric; }
  // With one set D is the inverse.
  bool is_near_inverse() const override { return sets_.size() == 1; }

  std::size_t subdomains() const { return sets_.size(); }
  // Of the factors.
  double factor_bytes() const { return factor_.factor_bytes(); }
  double factor_flops() const { return factor_.factor_flops(); }

 private:
  void prepare(const BlockMatrix& matrix);

  Weighting weighting_;
  std::vector<std::vector<int>> sets_;
  std::uint64_t pattern_id_ = 0;
  int block_size_ = 0;
  SparseCholesky<T> factor_;
  std::vector<int> row_of_copy_;            // the row that each row of the block-diagonal matrix copies
  std::vector<int> copies_start_, copies_;  // the copies of every row
  std::vector<double> before_, after_;      // weights per row: B^½ or 1, B^½ or B
  std::vector<double> right_, solution_;    // of the block-diagonal system
};

extern template class Schwarz<double>;
extern template class Schwarz<float>;

}  // namespace lope::linalg
