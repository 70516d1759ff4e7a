// Groups of rows that Gauss–Seidel cannot relax one by one, relaxed together.
//
// Where matter ends, functions of a grid see it with their rims: of neighbours the diagonal blocks then differ by many
// orders of magnitude, and, scaled by these, the functions are nearly the same. Together they have motions that cost hardly any energy,
// which neither a row by itself finds nor a coarser level, since they are not smooth. Immersed finite elements have them in cells that are cut
// (de Prenter, Verhoosel, van Brummelen, Evans, Messe, Benzaken & Maute 2020, "Multigrid solvers for immersed finite element methods and immersed
// isogeometric analysis"), where all functions of a cut cell are smoothed as one block. Deviation: a group is found in the matrix alone, and is smaller. It is a
// row i and the rows to which it is coupled most strongly,
//
//   b ‖A_ij‖_F > ¼ √(tr A_ii tr A_jj),  seven at most,
//
// for every row i that is light: coupled to one whose tr A_jj is more than 10³ tr A_ii.
//
// A sweep solves exactly for one group after another. Groups that are not coupled have one colour and change at the same time, with the same
// bits for any number of threads. Rows with couplings outside the pattern (contact) are in no group.
#pragma once

#include <lope/linalg/coloured_rows.h>

#include <cstddef>
#include <vector>

namespace lope::linalg {

template <class T, int b>
class RowGroups {
 public:
  void update(const BlockMatrix& matrix);
  bool empty() const { return factors_.empty(); }
  std::size_t groups() const { return factors_.size(); }

  enum class Order { Forward, Backward };
  // Changes x so that the residual f − A x vanishes on one group after the other. `rows` is of the same matrix. One order is
  // the adjoint of the other.
  void sweep(const ColouredRows<T, b>& rows, const T* f, T* x, Order order) const;

 private:
  // The inverse of a group's matrix is WᵀW, W lower triangular: definite however W is rounded.
  struct Factor {
    std::vector<int> rows;
    std::vector<T> w, wt;  // W and Wᵀ by columns
  };
  void relax(const Factor& group, const ColouredRows<T, b>& rows, const T* f, T* x) const;

  std::vector<Factor> factors_;      // by colour
  std::vector<std::size_t> colour_;  // where each begins, and the end
};

extern template class RowGroups<double, 3>;
extern template class RowGroups<double, 2>;
extern template class RowGroups<double, 1>;
extern template class RowGroups<float, 3>;
extern template class RowGroups<float, 2>;
extern template class RowGroups<float, 1>;

}  // namespace lope::linalg
