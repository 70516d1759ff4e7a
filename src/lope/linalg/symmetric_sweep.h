// Symmetric sweeps of coloured block Gauss–Seidel as a preconditioner (one: SGS of HOT Table 3), with Chebyshev's acceleration
// if asked for (smoothing.h).
#pragma once

#include <lope/linalg/coloured_rows.h>
#include <lope/linalg/preconditioner.h>
#include <lope/linalg/smoothing.h>

#include <tuple>
#include <vector>

namespace lope::linalg {

struct SymmetricSweepOptions {
  int sweeps = 1;
  double radius = 0;      // of Chebyshev's method; 0: plain
  // If positive: matrices are of single numbers (block size 1), of which each counts for so many components of the vectors, 3 at most.
  int components = 0;
};

class SymmetricSweep final : public Preconditioner {
 public:
  explicit SymmetricSweep(const SymmetricSweepOptions& options = {}) : options_(options) {}
  // False if a diagonal block is not positive definite.
  bool update(const BlockMatrix& matrix) override;
  void apply(ConstVector r, Vector z) override;

 private:
  template <int b>
  void sweep(const ColouredRows<double, b>& rows, std::size_t components, ConstVector r, Vector z);

  SymmetricSweepOptions options_;
  int block_size_ = 0;
  // One for each size of blocks.
  std::tuple<ColouredRows<double, 1>, ColouredRows<double, 2>, ColouredRows<double, 3>> rows_;
  ColouredRows<double, 0> numbers_;  // with components
  std::vector<double> right_, left_, solution_;
  SmoothingWork<double> work_;
};

}  // namespace lope::linalg
