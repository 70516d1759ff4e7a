// A block matrix stored for symmetric Gauss–Seidel sweeps: rows by colour, the blocks of a row split into those of
// earlier and of later colours (A = L + D + U), in precision T. An implementation detail of the block multigrid.
//
// Within a colour no two rows are coupled, so they change at the same time with the same bits for any number of
// threads. Couplings outside the pattern (contact) are blocks like all others here: rows that have any get colours of
// their own, after those of the pattern, which are found once per pattern.
//
// Vectors are packed: four numbers of T per row, of which the first b count. Blocks are stored by columns, so
// that a product is b multiplications of four numbers and no sum across them; a column of three is read as four, the
// fourth meets a lane that nothing reads.
//
// With b = 0 the matrix is one of single numbers (block size 1), each a multiple of the identity: the three components of a vector
// share it, as in the constant matrices of projective dynamics.
//
// A symmetric sweep for A x = f is t = f − L x¹, D x¹ = t − U x⁰, (D + U) x² = t. With t at hand the way back costs half a
// product, so does the residual f − A x² = f − t − L x², and with x⁰ = 0 the way forth (Eisenstat 1981): one and a half
// products with A for what would take three.
//
// A sweep may skip rows (adaptive smoothing): these keep their x, and t says nothing of them.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/colouring.h>
#include <lope/linalg/space.h>

#include <cstdint>
#include <vector>

namespace lope::linalg {

constexpr std::size_t packed = 4;  // numbers per row of a vector

template <class T, int b>
class ColouredRows {
  static constexpr int width = b == 0 ? 1 : b;  // of the blocks

 public:
  // Diagonal blocks may be singular if `semidefinite` (a coarse row without children, or with children that cannot move
  // that way): what they do not see stays as it is. False where a block is not (semi-)definite.
  bool update(const BlockMatrix& matrix, bool semidefinite);

  std::size_t rows() const { return pattern_rows_; }
  int colours() const { return colours_; }

  // One symmetric sweep; leaves t. From zero: x need not be set. Rows with a mark are skipped.
  void sweep(const T* f, T* t, T* x, bool from_zero, const std::uint8_t* skipped = nullptr) const;
  // r = f − A x after a sweep of all rows that left t.
  void residual_after_sweep(const T* f, const T* t, const T* x, T* r) const;
  // r = f − A x.
  void residual(const T* f, const T* x, T* r) const;
  // The same of one row: b numbers. Not for b = 0.
  void row_residual(int row, const T* f, const T* x, T* r) const;

 private:
  void colour(const BlockMatrix& matrix);
  void lay_out(const BlockMatrix& matrix);
  bool take_numbers(const BlockMatrix& matrix, bool semidefinite);
  template <class Body>
  void for_rows(std::size_t colour, const Body& body) const;
  template <class Body>
  void for_all_rows(const Body& body) const;

  std::uint64_t pattern_id_ = 0;
  std::size_t pattern_rows_ = 0;
  bool has_couplings_ = false;
  Colouring of_pattern_;
  std::vector<int> colour_;  // of every row
  int colours_ = 0;
  RowsByColour order_;
  std::vector<int> place_;  // of every row in it
  std::size_t grain_ = 1;
  std::vector<std::int64_t> start_, middle_;  // by place in the order: earlier colours from start, later ones from middle
  std::vector<int> column_;
  std::vector<T> values_;
  std::vector<T> diagonal_, inverse_;  // by row
};

extern template class ColouredRows<double, 3>;
extern template class ColouredRows<double, 2>;
extern template class ColouredRows<double, 1>;
extern template class ColouredRows<double, 0>;
extern template class ColouredRows<float, 3>;
extern template class ColouredRows<float, 2>;
extern template class ColouredRows<float, 1>;
extern template class ColouredRows<float, 0>;

}  // namespace lope::linalg
