// Arithmetic with blocks of at most 3×3 single-precision numbers, stored row-major in `stride` floats, and
// vectors of four floats per block row (the last unused): an implementation detail of the single-precision
// operators of this room.
//
// A row of a block is read as four floats; the fourth belongs to the next row and meets a lane that nothing
// reads. Arrays of blocks therefore end with `padding` further floats.
#pragma once

#include <cstddef>
#include <cstring>

namespace lope::linalg::float_blocks {

constexpr int padding = 4;

using Four [[gnu::vector_size(16)]] = float;

inline Four load(const float* from) {
  Four result;
  std::memcpy(&result, from, sizeof result);
  return result;
}
inline void store(float* to, Four value) { std::memcpy(to, &value, sizeof value); }
inline Four broadcast(float value) { return Four{value, value, value, value}; }

// Σ A_k x_k: the products stay apart until the end.
template <int b>
struct RowSum {
  Four part[b] = {};

  void add(const float* block, const float* x) {
    const Four xk = load(x);
    for (std::ptrdiff_t i = 0; i < b; ++i) part[i] += load(block + b * i) * xk;
  }
  float entry(int i) const {
    float sum = part[i][0];
    for (int j = 1; j < b; ++j) sum += part[i][j];
    return sum;
  }
};

// A x, x in the first b lanes.
template <int b>
Four product(const float* block, Four x) {
  Four result = {};
  for (std::ptrdiff_t i = 0; i < b; ++i) {
    const Four row = load(block + b * i) * x;
    float sum = row[0];
    for (int j = 1; j < b; ++j) sum += row[j];
    result[i] = sum;
  }
  return result;
}

// Aᵀ x.
template <int b>
Four transposed_product(const float* block, Four x) {
  Four result = load(block) * broadcast(x[0]);
  for (std::ptrdiff_t i = 1; i < b; ++i) result += load(block + b * i) * broadcast(x[i]);
  return result;
}

}  // namespace lope::linalg::float_blocks
