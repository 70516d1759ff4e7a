// Slivers in vectors of one instruction set: what the kernels of dense_kernels_body.h have in common.
#pragma once

#include <lope/linalg/dense_kernels.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lope::linalg {
namespace {

typedef double Doubles __attribute__((vector_size(vector_bytes), may_alias));
typedef float Floats __attribute__((vector_size(vector_bytes), may_alias));
typedef double LooseDoubles __attribute__((vector_size(vector_bytes), aligned(alignof(double)), may_alias));
typedef float LooseFloats __attribute__((vector_size(vector_bytes), aligned(alignof(float)), may_alias));

template <class T>
struct Types;
template <>
struct Types<double> {
  using Vector = Doubles;
  using Loose = LooseDoubles;
};
template <>
struct Types<float> {
  using Vector = Floats;
  using Loose = LooseFloats;
};

// a b + c, rounded once where the instruction set has it.
[[gnu::always_inline]] inline Doubles add_product(Doubles a, Doubles b, Doubles c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline Floats add_product(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// Columns that a triangular solve takes together.
constexpr int solve_columns = 4;

// Depth of one multiplication: a sliver of the left operand and one of the right stay in the first-level
// cache.
constexpr int depth_block = 128;

template <class T>
struct Slivers {
  using Vector = typename Types<T>::Vector;
  using Loose = typename Types<T>::Loose;
  using Offset = std::ptrdiff_t;

  static constexpr int W = vector_bytes / sizeof(T);
  static constexpr int S = sliver_vectors * W;
  static constexpr int C = tile_columns;
  static constexpr int P = W > C ? W : C;
  static_assert(S % P == 0 && P % W == 0 && P % C == 0 && S % solve_columns == 0);

  [[gnu::always_inline]] static int smaller(int a, int b) { return a < b ? a : b; }
  [[gnu::always_inline]] static int padded(int rows) { return (rows + P - 1) / P * P; }
  [[gnu::always_inline]] static int slivers(int rows) { return (rows + S - 1) / S; }
  [[gnu::always_inline]] static int height(int rows, int i) {
    return (i + 1) * S <= rows ? S : padded(rows - i * S);
  }
  [[gnu::always_inline]] static T* diagonal_sliver(const Panel<T>& panel, int i) {
    return panel.diagonal + Offset(S) * S * i * (i + 1) / 2;
  }
  [[gnu::always_inline]] static T* below_sliver(const Panel<T>& panel, int i) {
    return panel.below + Offset(S) * i * panel.w;
  }
  // Column j of an update matrix, such that [i] is its entry in row i.
  template <class Pointer>
  [[gnu::always_inline]] static Pointer update_column(Pointer u, int m, int j) {
    const Offset n = padded(m), q = j / S;
    return u + S * (q * n - S * q * (q - 1) / 2) + (j - q * S) * (n - q * S) - q * S;
  }
  // A sliver of the whole panel: rows of the diagonal part first, then those below.
  struct Rows {
    T* data;
    int height;
  };
  [[gnu::always_inline]] static Rows rows(const Panel<T>& panel, int r) {
    const int count = slivers(panel.w);
    if (r < count) return {diagonal_sliver(panel, r), height(panel.w, r)};
    return {below_sliver(panel, r - count), height(panel.m, r - count)};
  }

  // Calls body.template operator()<V>() with V = vectors, the height of a sliver in vectors.
  template <class Body>
  [[gnu::always_inline]] static void with_height(int rows_of_sliver, const Body& body) {
    if constexpr (sliver_vectors == 3) {
      if (rows_of_sliver == 3 * W) return body.template operator()<3>();
    }
    if (rows_of_sliver == 2 * W) return body.template operator()<2>();
    body.template operator()<1>();
  }

  // Cuts the columns [0, columns) into groups of `width` and of what is left: body.template
  // operator()<N>(first).
  template <int width, class Body>
  [[gnu::always_inline]] static void for_groups(int columns, const Body& body) {
    int j = 0;
    for (; j + width <= columns; j += width) body.template operator()<width>(j);
    if constexpr (width > 4) {
      if (j + 4 <= columns) {
        body.template operator()<4>(j);
        j += 4;
      }
    }
    if (columns - j == 3) return body.template operator()<3>(j);
    if (columns - j == 2) return body.template operator()<2>(j);
    if (columns - j == 1) return body.template operator()<1>(j);
  }
};

}  // namespace
}  // namespace lope::linalg
