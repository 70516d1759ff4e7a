// A copy of a block matrix in single precision, for iterative solves that need no more: half the memory to
// read.
//
// Relative rounding of 10⁻⁷ in the entries and the sums: good for search directions, not for what decides
// about convergence.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/space.h>

#include <memory>
#include <vector>

namespace lope::linalg {

// Whether single precision keeps what a matrix does to translations, in most rows: where stiff matter is held by its inertia alone, that is
// a small sum of large blocks, and with each of them rounded to 6·10⁻⁸ it moves many times too far, or hardly at all. Asked for is an error of a
// twentieth at most, in any direction (an upper bound: roundings cancel). Couplings do not count.
bool survives_rounding(const BlockMatrix& matrix);

class RoundedMatrix {
 public:
  explicit RoundedMatrix(Isa isa = selected_isa()) : isa_(isa) {}
  // The matrix's pattern must live as long as this copy is used.
  void update(const BlockMatrix& matrix);
  // y ≈ A x.
  void multiply(ConstVector x, Vector y);

 private:
  Isa isa_;
  const BlockPattern* pattern_ = nullptr;
  int block_size_ = 0;
  std::vector<float> values_;
  std::vector<Coupling> couplings_;  // few: kept as they are
  std::vector<float> x_;  // BlockKernels::stride per block row
};

}  // namespace lope::linalg
