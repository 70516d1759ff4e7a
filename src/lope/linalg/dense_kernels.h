// The dense arithmetic of sparse_cholesky.h, compiled once per instruction set and chosen at run time.
//
// A front of w columns and w + m rows is kept in *slivers*: groups of S rows, stored column after column, so
// that the S entries of a column lie side by side. This is the order in which a matrix-multiply micro-kernel
// reads its left operand; with the width of its right operand dividing S, the same storage serves as the
// right operand, and nothing is ever packed or copied. S is three vectors (two without AVX); the last sliver
// is as high as the rows left, rounded up to `padding`. Rows of padding hold zeros.
//
//   diagonal  w rows; sliver i holds its min((i+1) S, w) columns up to the diagonal (entries above it are
//   zeros) below     m rows; every sliver holds w columns inverse   1 / L_kk, w numbers
//
// An update matrix U (m×m, lower triangle) is stored by columns; the columns of sliver q begin at row q S, so
// that about half of the square is stored.
#pragma once

#include <lope/base/cpu.h>

#include <cstddef>

namespace lope::linalg {

template <class T>
struct Panel {
  T* diagonal;
  T* below;
  T* inverse;
  int w;
  int m;
};

// `length` consecutive rows of a child's update matrix, and where they go: entry (row `child` + t, column j
// of the parent's front) is added to target[offset + j · stride + t].
struct Segment {
  int child;
  int length;
  std::ptrdiff_t offset;
  std::ptrdiff_t stride;
};

// Columns [first, last) of an update matrix with m rows, and the column of the parent that the first one goes
// to.
template <class T>
struct ChildColumns {
  const T* update;
  int m;
  int first;
  int last;
  int parent;
};

// Sums of the backward kernels that run side by side, the same for every instruction set.
template <class T>
inline constexpr int backward_chains = 64 / sizeof(T);

template <class T>
struct DenseKernels {
  int sliver;
  int padding;

  // The panel is factorised by blocks of columns [c0, c1), c0 and c1 multiples of S (or c1 = w). Slivers are
  // counted through `diagonal`, then `below`. For each block: update() subtracts what the columns before c0
  // contribute, for the slivers [r0, r1); diagonal() factorises the block's own rows and returns the first
  // column whose pivot is not positive (−1: all are); solve() finishes the slivers below.
  void (*update)(const Panel<T>& panel, int c0, int c1, int r0, int r1);
  int (*diagonal)(const Panel<T>& panel, int c0, int c1);
  void (*solve)(const Panel<T>& panel, int c0, int c1, int r0, int r1);
  // U = −L21 L21ᵀ, the tiles of row slivers [i0, i1) and column slivers [j0, j1) that meet the lower
  // triangle.
  void (*outer_product)(const Panel<T>& panel, T* u, int i0, int i1, int j0, int j1);

  // Adds columns of a child's update matrix, from the diagonal down, to a panel or to an update matrix with
  // `parent_m` rows (the segments' offsets and `columns.parent` then count from the parent's first row
  // below).
  void (*add_to_panel)(const ChildColumns<T>& columns, const Segment* segments, int count, T* panel);
  void (*add_to_update)(const ChildColumns<T>& columns, const Segment* segments, int count, T* u,
                        int parent_m);

  // x ← L11⁻¹ x;  y ← y − L21 x for the slivers [i0, i1) of L21 (y: m numbers and the padding).
  void (*forward_diagonal)(const Panel<T>& panel, T* x);
  void (*forward_below)(const Panel<T>& panel, const T* x, T* y, int i0, int i1);
  // x ← x − L21ᵀ y for the columns [k0, k1);  x ← L11⁻ᵀ x. `scratch` holds backward_chains numbers per
  // column.
  void (*backward_below)(const Panel<T>& panel, const T* y, T* x, int k0, int k1, T* scratch);
  void (*backward_diagonal)(const Panel<T>& panel, T* x, T* scratch);
};

// T is float or double; `isa` must be supported by this processor.
template <class T>
const DenseKernels<T>& dense_kernels(Isa isa);

// Sizes in numbers of T.
template <class T>
struct FrontLayout {
  explicit FrontLayout(const DenseKernels<T>& kernels) : sliver(kernels.sliver), padding(kernels.padding) {}

  std::ptrdiff_t padded(std::ptrdiff_t rows) const { return (rows + padding - 1) / padding * padding; }
  int slivers(int rows) const { return (rows + sliver - 1) / sliver; }
  std::ptrdiff_t height(int rows, int i) const {
    return (i + 1) * sliver <= rows ? sliver : padded(rows - i * sliver);
  }
  // First number of sliver i of the diagonal part.
  std::ptrdiff_t diagonal_offset(int i) const { return std::ptrdiff_t(sliver) * sliver * i * (i + 1) / 2; }
  std::ptrdiff_t diagonal_size(int w) const {
    const int last = slivers(w) - 1;
    return diagonal_offset(last) + height(w, last) * w;
  }
  std::ptrdiff_t below_offset(int w, int i) const { return std::ptrdiff_t(sliver) * i * w; }
  std::ptrdiff_t below_size(int w, int m) const { return padded(m) * w; }
  std::ptrdiff_t update_size(int m) const {
    const std::ptrdiff_t n = padded(m), q = m / sliver, rest = n - q * sliver;
    return sliver * (q * n - sliver * q * (q - 1) / 2) + rest * rest;
  }

  std::ptrdiff_t sliver;
  std::ptrdiff_t padding;
};

}  // namespace lope::linalg
