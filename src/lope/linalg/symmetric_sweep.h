// One symmetric sweep of coloured block Gauss–Seidel as a preconditioner (SGS of HOT Table 3).
#pragma once

#include <lope/linalg/coloured_rows.h>
#include <lope/linalg/preconditioner.h>

#include <vector>

namespace lope::linalg {

class SymmetricSweep final : public Preconditioner {
 public:
  // Block size 2 or 3. False if a diagonal block is not positive definite.
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;

 private:
  template <int b>
  void sweep(const ColouredRows<double, b>& rows, ConstVector r, Vector z);

  int block_size_ = 0;
  ColouredRows<double, 2> flat_;  // for blocks of two
  ColouredRows<double, 3> rows_;  // for blocks of three
  std::vector<double> right_, left_, solution_;
};

}  // namespace lope::linalg
