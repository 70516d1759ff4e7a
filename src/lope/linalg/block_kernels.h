// The inner loops of conjugate gradients over the rows of sparse matrices of b×b blocks (b = 1, 2, 3; row-major):
// products in double and in single precision, and the triangular solves of incomplete factors. Compiled once per
// instruction set and chosen at run time.
//
// Vectors in single precision have `stride` floats per block row; those beyond b mean nothing. Where blocks are single
// precision, `padding` further floats must follow the last one: rows of blocks are read as four floats each.
//
// One answer on every processor with fused instructions: all entries of the blocks of a row have sums of their own, in
// single precision one for the even blocks and one for the odd ones, which are added in a fixed order at the end.
#pragma once

#include <lope/base/cpu.h>

#include <cstddef>
#include <cstdint>

namespace lope::linalg {

// Blocks of row i: [start[i], start[i + 1]), block k in column column[k].
template <class T>
struct BlockRows {
  const std::int64_t* start;
  const int* column;
  const T* values;
};

struct BlockKernels {
  static constexpr std::ptrdiff_t stride = 4;
  static constexpr std::size_t padding = 4;

  // y = A x for the rows [begin, end).
  void (*multiply)(const BlockRows<double>& a, const double* x, double* y, std::size_t begin,
                   std::size_t end);
  void (*multiply_rounded)(const BlockRows<float>& a, const float* x, double* y, std::size_t begin,
                           std::size_t end);
  // x ← (I + L)⁻¹ x for the rows [begin, end); L is strictly lower triangular and couples them with nothing else.
  void (*forward)(const BlockRows<float>& l, float* x, std::size_t begin, std::size_t end);
  // x ← (I + L)⁻ᵀ D x for the same rows, D the symmetric b×b blocks `diagonal`, one per row.
  void (*backward)(const BlockRows<float>& l, const float* diagonal, float* x, std::size_t begin,
                   std::size_t end);
};

// `isa` must be supported by this processor.
const BlockKernels& block_kernels(Isa isa, int block_size);

}  // namespace lope::linalg
