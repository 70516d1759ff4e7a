// The kernels of dense_kernels.h over compiler vector extensions. Included once by each
// dense_kernels_<isa>.cpp, which first defines (in its unnamed namespace) vector_bytes, sliver_vectors and
// tile_columns. Everything here has internal linkage and calls nothing outside, so that no function compiled
// for one processor can be taken by the linker for another one's.
//
// The micro-kernel multiplies a sliver of V vectors of rows by `tile_columns` columns and keeps the whole
// tile in registers (Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", 2008);
// triangular solves are the same kernel with a small triangle at the end, so that they run at nearly the same
// speed.
//
// One answer on every processor: the shape of slivers and tiles decides speed, never bits. Each number is
// made by the same chain of fused operations (where there are such instructions) for every shape:
//   factor     l_ij = (a_ij − Σ over blocks of 128 columns before c0, each summed up from zero
//              − Σ over [c0, 4⌊j/4⌋), summed up from zero, − one by one the columns [4⌊j/4⌋, j)) / l_jj
//   forward    even and odd columns are subtracted in two chains, added at the end
//   backward   rows are summed up in 64 / sizeof(T) chains, row r in chain r mod that, added in a tree
#pragma once

#include <lope/linalg/dense_kernels_factor.h>
#include <lope/linalg/dense_kernels_solve.h>

namespace lope::linalg {
namespace {

template <class T>
struct Kernels {
  using Factor = FactorKernels<T>;
  using Solve = SolveKernels<T>;
  static constexpr DenseKernels<T> table = {Factor::S,
                                            Factor::P,
                                            Factor::update,
                                            Factor::diagonal,
                                            Factor::solve,
                                            Factor::outer_product,
                                            Factor::add_to_panel,
                                            Factor::add_to_update,
                                            Solve::forward_diagonal,
                                            Solve::forward_below,
                                            Solve::backward_below,
                                            Solve::backward_diagonal};
};

}  // namespace
}  // namespace lope::linalg
