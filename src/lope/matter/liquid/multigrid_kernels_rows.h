// Vectors, and the rows of a brick: what the kernels of multigrid_kernels.h are made of. Each part of them (multigrid_kernels_*.h)
// is included by the one source that is compiled once per instruction set, into its unnamed namespace. Nothing but these parts
// and builtins may be called from there: an inline function compiled with wider instructions could otherwise take the place
// of its twin in the rest of the program.
//
// One answer on every processor with fused instructions: products are fused with sums exactly where
// add_product() is written; the compiler's own contraction is switched off.
#pragma once

#include <lope/matter/liquid/multigrid_kernels.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lope::matter::multigrid {
namespace {

typedef float F8 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef int I8 __attribute__((vector_size(32)));
typedef double D8 __attribute__((vector_size(64)));
typedef long long L8 __attribute__((vector_size(64)));
using Place = long;

#define LOPE_INLINE [[gnu::always_inline]] inline

template <class V, class T>
LOPE_INLINE V load(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
LOPE_INLINE void store(T* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}
LOPE_INLINE F8 all(float x) { return x - F8{}; }
LOPE_INLINE D8 wide(F8 v) { return __builtin_convertvector(v, D8); }
LOPE_INLINE F8 narrow(D8 v) { return __builtin_convertvector(v, F8); }
LOPE_INLINE F8 larger(F8 a, F8 b) { return a > b ? a : b; }
// a b + c, rounded once where the instruction set has it; in double precision, which waits for memory, always
// rounded twice.
LOPE_INLINE F8 add_product(F8 a, F8 b, F8 c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  F4 x[2], y[2], z[2];
  __builtin_memcpy(x, &a, sizeof a);
  __builtin_memcpy(y, &b, sizeof b);
  __builtin_memcpy(z, &c, sizeof c);
  for (int k = 0; k < 2; ++k) z[k] = vfmaq_f32(z[k], x[k], y[k]);
  __builtin_memcpy(&c, z, sizeof c);
  return c;
#else
  return a * b + c;
#endif
}
LOPE_INLINE D8 add_product(D8 a, D8 b, D8 c) { return a * b + c; }
// The row one cell further down (up) along x, with the last (first) cell of the row before (after).
template <class V>
LOPE_INLINE V from_below(V before, V row) {
  return __builtin_shufflevector(before, row, 7, 8, 9, 10, 11, 12, 13, 14);
}
template <class V>
LOPE_INLINE V from_above(V row, V after) {
  return __builtin_shufflevector(row, after, 1, 2, 3, 4, 5, 6, 7, 8);
}
template <class V>
LOPE_INLINE V evens(V a, V b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}
template <class V>
LOPE_INLINE V odds(V a, V b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
LOPE_INLINE F4 even_half(F8 v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6); }
LOPE_INLINE F4 odd_half(F8 v) { return __builtin_shufflevector(v, v, 1, 3, 5, 7); }
LOPE_INLINE float sum(F8 v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }
LOPE_INLINE double sum(D8 v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }

template <int Dim>
constexpr int brick_cells = Dim == 3 ? 512 : 64;
template <int Dim>
constexpr int brick_rows = Dim == 3 ? 64 : 8;
template <int Dim>
constexpr int around_count = Dim == 3 ? 27 : 9;
template <int Dim>
constexpr int side_z = Dim == 3 ? 8 : 1;

// Places of the rows next to the rows of a brick.
template <int Dim>
struct Rows {
  Place self, below_x, above_x, below_y, above_y, below_z, above_z;

  LOPE_INLINE Rows(const int* around, int brick) {
    const int* a = around + Place{brick} * around_count<Dim> + around_count<Dim> / 2;
    self = Place{brick} * brick_cells<Dim>;
    below_x = Place{a[-1]} * brick_cells<Dim>;
    above_x = Place{a[1]} * brick_cells<Dim>;
    below_y = Place{a[-3]} * brick_cells<Dim>;
    above_y = Place{a[3]} * brick_cells<Dim>;
    if constexpr (Dim == 3) {
      below_z = Place{a[-9]} * brick_cells<Dim>;
      above_z = Place{a[9]} * brick_cells<Dim>;
    }
  }
};
template <int Dim>
struct Row {
  Place here, below_x, above_x, below_y, above_y, below_z, above_z;

  LOPE_INLINE Row(const Rows<Dim>& b, int y, int z) {
    const Place row = Place{8} * (y + 8 * z);
    here = b.self + row;
    below_x = b.below_x + row;
    above_x = b.above_x + row;
    below_y = y > 0 ? here - 8 : b.below_y + row + 56;
    above_y = y < 7 ? here + 8 : b.above_y + row - 56;
    if constexpr (Dim == 3) {
      below_z = z > 0 ? here - 64 : b.below_z + row + 448;
      above_z = z < 7 ? here + 64 : b.above_z + row - 448;
    }
  }
};

// All bits of the lanes that a byte names.
LOPE_INLINE I8 lanes(unsigned bits) {
  const I8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
  return (bit & static_cast<int>(bits)) != 0;
}

template <int Dim, class Body>
LOPE_INLINE void for_rows(const Body& body) {
  for (int z = 0; z < side_z<Dim>; ++z) {
    for (int y = 0; y < 8; ++y) body(y, z);
  }
}

}  // namespace
}  // namespace lope::matter::multigrid
