// One symmetric sweep of coloured block Gauss–Seidel as a preconditioner (SGS of HOT Table 3).
#pragma once

#include <lope/linalg/coloured_rows.h>
#include <lope/linalg/preconditioner.h>

#include <tuple>
#include <vector>

namespace lope::linalg {

class SymmetricSweep final : public Preconditioner {
 public:
  // False if a diagonal block is not positive definite.
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;

 private:
  template <int b>
  void sweep(const ColouredRows<double, b>& rows, ConstVector r, Vector z);

  int block_size_ = 0;
  // One for each size of blocks.
  std::tuple<ColouredRows<double, 1>, ColouredRows<double, 2>, ColouredRows<double, 3>> rows_;
  std::vector<double> right_, left_, solution_;
};

}  // namespace lope::linalg
