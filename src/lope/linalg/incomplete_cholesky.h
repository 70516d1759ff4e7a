// Incomplete Cholesky factorisation without fill, in blocks: A ≈ (I + L) D (I + L)ᵀ with L on the pattern of A left of
// the diagonal (Meijerink & van der Vorst 1977), stored in single precision.
//
// Deviations: the rows are divided into subdomains of about 1024 rows with few entries between them (METIS),
// and entries between subdomains are dropped, so that these run in parallel and the result does not depend on
// the threads; within each, rows are eliminated in the order of a breadth-first search (Cuthill & McKee 1969), and stored
// so that those that wait for nothing come first, then those that wait for these alone, and so on: the same factor, but
// rows that follow one another need not wait for each other; where a pivot block is not positive definite the factorisation is repeated with a larger multiple of the diagonal
// added (Manteuffel 1980).
#pragma once

#include <lope/linalg/preconditioner.h>

#include <vector>

namespace lope::linalg {

class IncompleteCholesky final : public Preconditioner {
 public:
  explicit IncompleteCholesky(Isa isa = selected_isa()) : isa_(isa) {}
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;

 private:
  template <int b>
  bool factorize(const BlockMatrix& matrix, double shift);
  template <int b>
  void scale(int begin, int end);
  void prepare(const BlockMatrix& matrix);
  void divide(const BlockPattern& pattern);

  Isa isa_;
  std::uint64_t pattern_id_ = 0;
  int block_size_ = 0;
  std::vector<int> order_;           // order_[k]: the row of the matrix that is k-th here
  std::vector<int> first_;           // of these, of every subdomain, and their number
  std::vector<std::int64_t> start_;  // blocks of L left of the diagonal, by rows
  std::vector<int> column_;
  std::vector<std::int64_t> slot_;  // of the matrix
  std::vector<float> lower_;        // blocks L_ij, j < i
  std::vector<float> inverse_;      // D_i⁻¹
  std::vector<float> work_;         // BlockKernels::stride per row
};

}  // namespace lope::linalg
