// The block kernels for AVX2 and FMA: the entries of a 3×3 block in one vector of eight floats and a single one.
#include <lope/linalg/block_kernels_body.h>
#include <lope/linalg/block_kernels_tables.h>

#include <immintrin.h>

namespace lope::linalg {
namespace {

// x₀ x₁ x₂ x₀ x₁ x₂ x₀ x₁: what the first eight entries of a block are multiplied with.
[[gnu::always_inline]] inline __m256 repeated(const float* x) {
  return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(x)),
                                  _mm256_setr_epi32(0, 1, 2, 0, 1, 2, 0, 1));
}

// Σ A_k x_k over the blocks of a row, in the first three lanes.
[[gnu::always_inline]] inline __m128 row_sum(const BlockRows<float>& a, const float* x, std::int64_t begin,
                                             std::int64_t end) {
  __m256 even = _mm256_setzero_ps(), odd = even;
  __m128 last_even = _mm_setzero_ps(), last_odd = last_even;
  std::int64_t k = begin;
  for (; k + 2 <= end; k += 2) {
    const float* block = a.values + 9 * k;
    const float* x0 = x + BlockKernels::stride * a.column[k];
    const float* x1 = x + BlockKernels::stride * a.column[k + 1];
    even = _mm256_fmadd_ps(_mm256_loadu_ps(block), repeated(x0), even);
    last_even = _mm_fmadd_ss(_mm_load_ss(block + 8), _mm_load_ss(x0 + 2), last_even);
    odd = _mm256_fmadd_ps(_mm256_loadu_ps(block + 9), repeated(x1), odd);
    last_odd = _mm_fmadd_ss(_mm_load_ss(block + 17), _mm_load_ss(x1 + 2), last_odd);
  }
  if (k < end) {
    const float* block = a.values + 9 * k;
    const float* x0 = x + BlockKernels::stride * a.column[k];
    even = _mm256_fmadd_ps(_mm256_loadu_ps(block), repeated(x0), even);
    last_even = _mm_fmadd_ss(_mm_load_ss(block + 8), _mm_load_ss(x0 + 2), last_even);
  }
  const __m256 sum = _mm256_add_ps(even, odd);
  const __m128 last = _mm_add_ss(last_even, last_odd);
  const auto lanes = [&](int a0, int a1, int a2) __attribute__((always_inline)) {
    return _mm256_castps256_ps128(
        _mm256_permutevar8x32_ps(sum, _mm256_setr_epi32(a0, a1, a2, 0, 0, 0, 0, 0)));
  };
  const __m128 third = _mm_insert_ps(lanes(2, 5, 0), last, 0x20);
  return _mm_add_ps(_mm_add_ps(lanes(0, 3, 6), lanes(1, 4, 7)), third);
}

void multiply_rounded(const BlockRows<float>& a, const float* x, double* y, std::size_t begin,
                      std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const __m256d sum = _mm256_cvtps_pd(row_sum(a, x, a.start[row], a.start[row + 1]));
    _mm_storeu_pd(y + 3 * row, _mm256_castpd256_pd128(sum));
    _mm_store_sd(y + 3 * row + 2, _mm256_extractf128_pd(sum, 1));
  }
}

// The last row of a block is read together with the entry before it, so that nothing behind the block is.
void multiply(const BlockRows<double>& a, const double* x, double* y, std::size_t begin, std::size_t end) {
  const __m256i first_three = _mm256_setr_epi64x(-1, -1, -1, 0);
  for (std::size_t row = begin; row < end; ++row) {
    __m256d first = _mm256_setzero_pd(), second = first, third = first;
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const double* block = a.values + 9 * k;
      const __m256d xk = _mm256_maskload_pd(x + 3 * static_cast<std::ptrdiff_t>(a.column[k]), first_three);
      first = _mm256_fmadd_pd(_mm256_loadu_pd(block), xk, first);
      second = _mm256_fmadd_pd(_mm256_loadu_pd(block + 3), xk, second);
      third = _mm256_fmadd_pd(_mm256_loadu_pd(block + 5), _mm256_permute4x64_pd(xk, 0x90), third);
    }
    double* to = y + 3 * row;
    to[0] = (first[0] + first[1]) + first[2];
    to[1] = (second[0] + second[1]) + second[2];
    to[2] = (third[1] + third[2]) + third[3];
  }
}

void forward(const BlockRows<float>& l, float* x, std::size_t begin, std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    float* own = x + static_cast<std::size_t>(BlockKernels::stride) * row;
    _mm_storeu_ps(own, _mm_sub_ps(_mm_loadu_ps(own), row_sum(l, x, l.start[row], l.start[row + 1])));
  }
}

[[gnu::always_inline]] inline __m128 lane(__m128 v, int i) { return _mm_permutevar_ps(v, _mm_set1_epi32(i)); }

void backward(const BlockRows<float>& l, const float* diagonal, float* x, std::size_t begin,
              std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const float* block = diagonal + 9 * row;
    float* own = x + static_cast<std::size_t>(BlockKernels::stride) * row;
    const __m128 right = _mm_loadu_ps(own);
    const __m128 first = _mm_mul_ps(_mm_loadu_ps(block), lane(right, 0));
    const __m128 second = _mm_fmadd_ps(_mm_loadu_ps(block + 3), lane(right, 1), first);
    _mm_storeu_ps(own, _mm_fmadd_ps(_mm_loadu_ps(block + 6), lane(right, 2), second));
  }
  for (std::size_t row = end; row-- > begin;) {
    const __m128 own = _mm_loadu_ps(x + static_cast<std::size_t>(BlockKernels::stride) * row);
    const __m128 x0 = lane(own, 0), x1 = lane(own, 1), x2 = lane(own, 2);
    for (std::int64_t k = l.start[row]; k < l.start[row + 1]; ++k) {
      const float* block = l.values + 9 * k;
      float* target = x + BlockKernels::stride * l.column[k];
      const __m128 first = _mm_fnmadd_ps(_mm_loadu_ps(block), x0, _mm_loadu_ps(target));
      const __m128 second = _mm_fnmadd_ps(_mm_loadu_ps(block + 3), x1, first);
      _mm_storeu_ps(target, _mm_fnmadd_ps(_mm_loadu_ps(block + 6), x2, second));
    }
  }
}

}  // namespace

const BlockKernels block_kernels_avx2[3] = {
    Loops<1>::table, Loops<2>::table, {multiply, multiply_rounded, forward, backward}};

}  // namespace lope::linalg
