// Gauss–Seidel sweeps over scalar matrices, plain or projected, in parallel with the same bits for any number
// of threads.
//
// Rows are coloured greedily in their order so that no two rows of a colour are coupled (two colours on a
// 7-point grid, some tens on Galerkin matrices); a sweep takes colour after colour, the rows of a colour at
// the same time.
#pragma once

#include <lope/linalg/colouring.h>
#include <lope/linalg/csr_matrix.h>
#include <lope/linalg/masked_inverse.h>

#include <vector>

namespace lope::linalg {

enum class Direction { Forward, Backward };

class GaussSeidel {
 public:
  // Colours the rows. The matrix must outlive the sweeps; its numbers may change if update_numbers is called
  // after.
  void set_matrix(const CsrMatrix& a);
  // Takes the diagonal anew. Rows that are fixed, or whose diagonal entry is not positive, are left alone by
  // all sweeps.
  void update_numbers(RowFlags fixed);

  // x_i ← x_i + ω (f − A x)_i / a_ii.
  void sweep(ConstVector f, Vector x, Direction direction, double omega = 1) const;
  // The same, then x_i ← max(x_i, 0) where bounded[i] is set.
  void projected_sweep(ConstVector f, RowFlags bounded, Vector x, Direction direction,
                       double omega = 1) const;

  int colours() const { return static_cast<int>(rows_.start.size()) - 1; }

 private:
  template <class Update>
  void for_rows(Direction direction, const Update& update) const;
  double change(ConstVector f, ConstVector x, std::size_t row) const;

  const CsrMatrix* a_ = nullptr;
  RowsByColour rows_;
  std::vector<double> inverse_diagonal_;  // 0 for rows that are left alone
};

}  // namespace lope::linalg
