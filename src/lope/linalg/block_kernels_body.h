// The kernels of block_kernels.h for any block size, in plain loops that the compiler may put into vectors. Included by the
// translation units of the instruction sets: everything here has internal linkage and calls nothing outside, so that no
// function compiled for one processor can be taken by the linker for another one's.
#pragma once

#include <lope/linalg/block_kernels.h>

namespace lope::linalg {
namespace {

// a b + c, rounded once where the instruction set has it.
[[gnu::always_inline]] inline double add_product(double a, double b, double c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline float add_product(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

template <int b>
struct Loops {
  static constexpr std::ptrdiff_t stride = BlockKernels::stride;
  static constexpr std::ptrdiff_t entries = b * b;

  // The entries of Σ A_k x_k before they are added up along the rows.
  template <class T>
  struct Sums {
    T entry[entries] = {};
    [[gnu::always_inline]] void add(const T* block, const T* x) {
      for (std::ptrdiff_t e = 0; e < entries; ++e) entry[e] = add_product(block[e], x[e % b], entry[e]);
    }
    [[gnu::always_inline]] T row(std::ptrdiff_t i) const {
      T sum = entry[i * b];
      for (std::ptrdiff_t j = 1; j < b; ++j) sum += entry[i * b + j];
      return sum;
    }
  };

  [[gnu::always_inline]] static Sums<float> row_sums(const BlockRows<float>& a, const float* x,
                                                     std::int64_t begin, std::int64_t end) {
    Sums<float> even, odd;
    std::int64_t k = begin;
    for (; k + 2 <= end; k += 2) {
      even.add(a.values + entries * k, x + stride * a.column[k]);
      odd.add(a.values + entries * (k + 1), x + stride * a.column[k + 1]);
    }
    if (k < end) even.add(a.values + entries * k, x + stride * a.column[k]);
    for (std::ptrdiff_t e = 0; e < entries; ++e) even.entry[e] += odd.entry[e];
    return even;
  }

  static void multiply(const BlockRows<double>& a, const double* x, double* y, std::size_t begin,
                       std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      Sums<double> sums;
      for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
        sums.add(a.values + entries * k, x + std::ptrdiff_t{b} * a.column[k]);
      }
      for (std::ptrdiff_t i = 0; i < b; ++i) y[row * b + static_cast<std::size_t>(i)] = sums.row(i);
    }
  }

  static void multiply_rounded(const BlockRows<float>& a, const float* x, double* y, std::size_t begin,
                               std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Sums<float> sums = row_sums(a, x, a.start[row], a.start[row + 1]);
      for (std::ptrdiff_t i = 0; i < b; ++i) y[row * b + static_cast<std::size_t>(i)] = sums.row(i);
    }
  }

  static void forward(const BlockRows<float>& l, float* x, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Sums<float> sums = row_sums(l, x, l.start[row], l.start[row + 1]);
      for (std::ptrdiff_t i = 0; i < b; ++i) x[stride * static_cast<std::ptrdiff_t>(row) + i] -= sums.row(i);
    }
  }

  static void backward(const BlockRows<float>& l, const float* diagonal, float* x, std::size_t begin,
                       std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      float* own = x + stride * static_cast<std::ptrdiff_t>(row);
      const float* block = diagonal + entries * static_cast<std::ptrdiff_t>(row);
      float result[b];
      for (std::ptrdiff_t i = 0; i < b; ++i) {
        result[i] = block[i] * own[0];
        for (std::ptrdiff_t j = 1; j < b; ++j) result[i] = add_product(block[b * j + i], own[j], result[i]);
      }
      for (std::ptrdiff_t i = 0; i < b; ++i) own[i] = result[i];
    }
    for (std::size_t row = end; row-- > begin;) {
      const float* own = x + stride * static_cast<std::ptrdiff_t>(row);
      for (std::int64_t k = l.start[row]; k < l.start[row + 1]; ++k) {
        const float* block = l.values + entries * k;
        float* target = x + stride * l.column[k];
        for (std::ptrdiff_t j = 0; j < b; ++j) {
          for (std::ptrdiff_t i = 0; i < b; ++i)
            target[i] = add_product(-block[b * j + i], own[j], target[i]);
        }
      }
    }
  }

  static constexpr BlockKernels table = {multiply, multiply_rounded, forward, backward};
};

}  // namespace
}  // namespace lope::linalg
