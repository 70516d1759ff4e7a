// A pack of W doubles that is computed with as if it were one (compiler vector extensions), and the same
// function names for a plain double, so that numerical code is written once as a template over the scalar
// type T.
//
// Isa is a tag type of the translation unit. Kernels are compiled several times with different instruction
// sets; the tag is part of every template's name, so that the linker can never replace a function compiled
// for one processor by its twin compiled for another. A translation unit with special flags must therefore
// use these templates only with its own tag, and call no other inline or template function (of the standard
// library, of Eigen, or the overloads for double below).
//
// One answer on every processor: a lane's result does not depend on the width of the pack nor on its
// neighbours, and products are fused with sums exactly where fma() is written (the compiler's own contraction
// is switched off for the whole library), so AVX2, AVX-512 and any other set with fused instructions give the
// same bits. A set without them (SSE2) rounds twice in fma().
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lope::math {

namespace detail {
// Vector types by width (a template parameter inside the attribute is not understood by all compilers).
template <int W>
struct VectorsOf;
template <>
struct VectorsOf<2> {
  typedef double Doubles __attribute__((vector_size(16)));
  typedef std::int64_t Integers __attribute__((vector_size(16)));
};
template <>
struct VectorsOf<4> {
  typedef double Doubles __attribute__((vector_size(32)));
  typedef std::int64_t Integers __attribute__((vector_size(32)));
};
template <>
struct VectorsOf<8> {
  typedef double Doubles __attribute__((vector_size(64)));
  typedef std::int64_t Integers __attribute__((vector_size(64)));
};
}  // namespace detail

// What a comparison of packs gives: per lane all bits set or none.
template <int W, class Isa>
struct Mask {
  using Vector = typename detail::VectorsOf<W>::Integers;
  Vector v;
};

template <int W, class Isa>
struct Pack {
  using Vector = typename detail::VectorsOf<W>::Doubles;
  using Bits = typename Mask<W, Isa>::Vector;
  static constexpr int width = W;
  Vector v;

  Pack() = default;
  [[gnu::always_inline]] Pack(Vector vector) : v(vector) {}
  [[gnu::always_inline]] Pack(double value) : v(value - Vector{}) {}

  [[gnu::always_inline]] Pack& operator+=(Pack b) { return v += b.v, *this; }
  [[gnu::always_inline]] Pack& operator-=(Pack b) { return v -= b.v, *this; }
  [[gnu::always_inline]] Pack& operator*=(Pack b) { return v *= b.v, *this; }
  [[gnu::always_inline]] friend Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  [[gnu::always_inline]] friend Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  [[gnu::always_inline]] friend Pack operator*(Pack a, Pack b) { return a.v * b.v; }
  [[gnu::always_inline]] friend Pack operator/(Pack a, Pack b) { return a.v / b.v; }
  [[gnu::always_inline]] friend Pack operator-(Pack a) { return -a.v; }
  [[gnu::always_inline]] friend Mask<W, Isa> operator<(Pack a, Pack b) { return {a.v < b.v}; }
  [[gnu::always_inline]] friend Mask<W, Isa> operator>(Pack a, Pack b) { return {a.v > b.v}; }
  [[gnu::always_inline]] friend Mask<W, Isa> operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
  [[gnu::always_inline]] friend Mask<W, Isa> operator>=(Pack a, Pack b) { return {a.v >= b.v}; }
};

template <int W, class Isa>
[[gnu::always_inline]] inline Mask<W, Isa> operator&(Mask<W, Isa> a, Mask<W, Isa> b) {
  return {a.v & b.v};
}
template <int W, class Isa>
[[gnu::always_inline]] inline Mask<W, Isa> operator|(Mask<W, Isa> a, Mask<W, Isa> b) {
  return {a.v | b.v};
}

// Memory: `address` needs no alignment.
template <class T>
[[gnu::always_inline]] inline T load(const double* address) {
  if constexpr (requires { T::halves; }) {
    using P = typename T::Half;
    return {load<P>(address), load<P>(address + P::width)};
  } else {
    T result;
    __builtin_memcpy(&result.v, address, sizeof(result.v));
    return result;
  }
}
template <int W, class Isa>
[[gnu::always_inline]] inline void store(double* address, Pack<W, Isa> a) {
  __builtin_memcpy(address, &a.v, sizeof(a.v));
}
// base[stride·index[lane]] for every lane. (A vector made of its lanes at once: written one by one they would
// go through memory.)
template <class T>
[[gnu::always_inline]] inline T gather(const double* base, const int* index, std::int64_t stride = 1) {
  const auto at = [&](int lane) __attribute__((always_inline)) { return base[stride * index[lane]]; };
  if constexpr (requires { T::halves; }) {
    using P = typename T::Half;
    return {gather<P>(base, index, stride), gather<P>(base, index + P::width, stride)};
  } else if constexpr (T::width == 2) {
    return typename T::Vector{at(0), at(1)};
  } else if constexpr (T::width == 4) {
    return typename T::Vector{at(0), at(1), at(2), at(3)};
  } else {
    return typename T::Vector{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
  }
}
// Rows become columns: lane j of row i goes to lane i of row j.
template <class Isa>
[[gnu::always_inline]] inline void transpose(Pack<2, Isa> (&r)[2]) {
  const auto low = __builtin_shufflevector(r[0].v, r[1].v, 0, 2);
  r[1] = __builtin_shufflevector(r[0].v, r[1].v, 1, 3);
  r[0] = low;
}
template <class Isa>
[[gnu::always_inline]] inline void transpose(Pack<4, Isa> (&r)[4]) {
  const auto even01 = __builtin_shufflevector(r[0].v, r[1].v, 0, 4, 2, 6);
  const auto odd01 = __builtin_shufflevector(r[0].v, r[1].v, 1, 5, 3, 7);
  const auto even23 = __builtin_shufflevector(r[2].v, r[3].v, 0, 4, 2, 6);
  const auto odd23 = __builtin_shufflevector(r[2].v, r[3].v, 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

// yes where the mask is set, else no.
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> select(Mask<W, Isa> mask, Pack<W, Isa> yes, Pack<W, Isa> no) {
  return mask.v ? yes.v : no.v;
}
template <int W, class Isa>
[[gnu::always_inline]] inline bool any_of(Mask<W, Isa> mask) {
#if defined(__x86_64__)
  if constexpr (W == 2) return _mm_movemask_pd((__m128d)mask.v) != 0;
#if defined(__AVX__)
  if constexpr (W == 4) return _mm256_movemask_pd((__m256d)mask.v) != 0;
#endif
#if defined(__AVX512F__)
  if constexpr (W == 8) return _mm512_test_epi64_mask((__m512i)mask.v, (__m512i)mask.v) != 0;
#endif
#endif
  std::int64_t any = 0;
  for (int lane = 0; lane < W; ++lane) any |= mask.v[lane];
  return any != 0;
}
template <int W, class Isa>
[[gnu::always_inline]] inline bool all_of(Mask<W, Isa> mask) {
  return !any_of(Mask<W, Isa>{~mask.v});
}

template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> min(Pack<W, Isa> a, Pack<W, Isa> b) {
  return a.v < b.v ? a.v : b.v;
}
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> max(Pack<W, Isa> a, Pack<W, Isa> b) {
  return a.v > b.v ? a.v : b.v;
}
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> abs(Pack<W, Isa> a) {
  using P = Pack<W, Isa>;
  const auto bits = reinterpret_cast<typename P::Bits>(a.v) & INT64_MAX;
  return reinterpret_cast<typename P::Vector>(bits);
}
// |a| with the sign bit of b.
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> copysign(Pack<W, Isa> a, Pack<W, Isa> b) {
  using P = Pack<W, Isa>;
  using Bits = typename P::Bits;
  const auto bits = (reinterpret_cast<Bits>(a.v) & INT64_MAX) | (reinterpret_cast<Bits>(b.v) & INT64_MIN);
  return reinterpret_cast<typename P::Vector>(bits);
}
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> sqrt(Pack<W, Isa> a) {
  using Vector = typename Pack<W, Isa>::Vector;
#if defined(__x86_64__)
  if constexpr (W == 2) return Vector(_mm_sqrt_pd(a.v));
#if defined(__AVX__)
  if constexpr (W == 4) return Vector(_mm256_sqrt_pd(a.v));
#endif
#if defined(__AVX512F__)
  // The masked form: GCC 12 warns of its own header in the plain one.
  if constexpr (W == 8) return Vector(_mm512_maskz_sqrt_pd(0xff, a.v));
#endif
#endif
  for (int lane = 0; lane < W; ++lane) a.v[lane] = __builtin_sqrt(a.v[lane]);
  return a;
}
// a b + c, rounded once where the instruction set has it.
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> fma(Pack<W, Isa> a, Pack<W, Isa> b, Pack<W, Isa> c) {
  using Vector = typename Pack<W, Isa>::Vector;
#if defined(__FMA__)
  if constexpr (W == 2) return Vector(_mm_fmadd_pd(a.v, b.v, c.v));
  if constexpr (W == 4) return Vector(_mm256_fmadd_pd(a.v, b.v, c.v));
#if defined(__AVX512F__)
  if constexpr (W == 8) return Vector(_mm512_fmadd_pd(a.v, b.v, c.v));
#endif
#elif defined(__aarch64__)
  if constexpr (W == 2) return Vector(vfmaq_f64(c.v, a.v, b.v));
#endif
  return Vector(a.v * b.v + c.v);
}
// Lane by lane through the C library.
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> log(Pack<W, Isa> a) {
  for (int lane = 0; lane < W; ++lane) a.v[lane] = __builtin_log(a.v[lane]);
  return a;
}
template <int W, class Isa>
[[gnu::always_inline]] inline Pack<W, Isa> log1p(Pack<W, Isa> a) {
  for (int lane = 0; lane < W; ++lane) a.v[lane] = __builtin_log1p(a.v[lane]);
  return a;
}

// Two packs side by side, computed with as if they were one of twice the width. Iterations like Jacobi's are
// chains of divisions and square roots; two independent chains at a time hide half of their latency.
template <class P>
struct Twin;

template <class M>
struct TwinMask {
  M first, second;
};

template <class P>
struct Twin {
  using Half = P;
  using Mask = TwinMask<decltype(P() < P())>;
  static constexpr bool halves = true;
  static constexpr int width = 2 * P::width;
  P first, second;

  Twin() = default;
  [[gnu::always_inline]] Twin(P a, P b) : first(a), second(b) {}
  [[gnu::always_inline]] Twin(double value) : first(value), second(value) {}

  [[gnu::always_inline]] Twin& operator+=(Twin b) { return *this = *this + b; }
  [[gnu::always_inline]] Twin& operator-=(Twin b) { return *this = *this - b; }
  [[gnu::always_inline]] Twin& operator*=(Twin b) { return *this = *this * b; }
  [[gnu::always_inline]] friend Twin operator+(Twin a, Twin b) {
    return {a.first + b.first, a.second + b.second};
  }
  [[gnu::always_inline]] friend Twin operator-(Twin a, Twin b) {
    return {a.first - b.first, a.second - b.second};
  }
  [[gnu::always_inline]] friend Twin operator*(Twin a, Twin b) {
    return {a.first * b.first, a.second * b.second};
  }
  [[gnu::always_inline]] friend Twin operator/(Twin a, Twin b) {
    return {a.first / b.first, a.second / b.second};
  }
  [[gnu::always_inline]] friend Twin operator-(Twin a) { return {-a.first, -a.second}; }
  [[gnu::always_inline]] friend Mask operator<(Twin a, Twin b) {
    return {a.first < b.first, a.second < b.second};
  }
  [[gnu::always_inline]] friend Mask operator>(Twin a, Twin b) {
    return {a.first > b.first, a.second > b.second};
  }
  [[gnu::always_inline]] friend Mask operator<=(Twin a, Twin b) {
    return {a.first <= b.first, a.second <= b.second};
  }
  [[gnu::always_inline]] friend Mask operator>=(Twin a, Twin b) {
    return {a.first >= b.first, a.second >= b.second};
  }
};

template <class M>
[[gnu::always_inline]] inline TwinMask<M> operator&(TwinMask<M> a, TwinMask<M> b) {
  return {a.first & b.first, a.second & b.second};
}
template <class M>
[[gnu::always_inline]] inline TwinMask<M> operator|(TwinMask<M> a, TwinMask<M> b) {
  return {a.first | b.first, a.second | b.second};
}
template <class P>
[[gnu::always_inline]] inline void store(double* address, Twin<P> a) {
  store(address, a.first);
  store(address + P::width, a.second);
}
template <class M, class P>
[[gnu::always_inline]] inline Twin<P> select(TwinMask<M> mask, Twin<P> yes, Twin<P> no) {
  return {select(mask.first, yes.first, no.first), select(mask.second, yes.second, no.second)};
}
template <class M>
[[gnu::always_inline]] inline bool any_of(TwinMask<M> mask) {
  return any_of(mask.first | mask.second);
}
template <class M>
[[gnu::always_inline]] inline bool all_of(TwinMask<M> mask) {
  return all_of(mask.first & mask.second);
}
template <class P>
[[gnu::always_inline]] inline Twin<P> min(Twin<P> a, Twin<P> b) {
  return {min(a.first, b.first), min(a.second, b.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> max(Twin<P> a, Twin<P> b) {
  return {max(a.first, b.first), max(a.second, b.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> abs(Twin<P> a) {
  return {abs(a.first), abs(a.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> copysign(Twin<P> a, Twin<P> b) {
  return {copysign(a.first, b.first), copysign(a.second, b.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> sqrt(Twin<P> a) {
  return {sqrt(a.first), sqrt(a.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> fma(Twin<P> a, Twin<P> b, Twin<P> c) {
  return {fma(a.first, b.first, c.first), fma(a.second, b.second, c.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> log(Twin<P> a) {
  return {log(a.first), log(a.second)};
}
template <class P>
[[gnu::always_inline]] inline Twin<P> log1p(Twin<P> a) {
  return {log1p(a.first), log1p(a.second)};
}

// The same names for one double.
inline double select(bool mask, double yes, double no) { return mask ? yes : no; }
inline bool any_of(bool mask) { return mask; }
inline bool all_of(bool mask) { return mask; }
inline double min(double a, double b) { return a < b ? a : b; }
inline double max(double a, double b) { return a > b ? a : b; }
inline double abs(double a) { return std::fabs(a); }
inline double copysign(double a, double b) { return std::copysign(a, b); }
inline double sqrt(double a) { return std::sqrt(a); }
inline double fma(double a, double b, double c) {
  return a * b + c;
}  // rounded twice: no call, any processor
inline double log(double a) { return std::log(a); }
inline double log1p(double a) { return std::log1p(a); }

// Small arrays of scalars: a column of d entries, and a d×d matrix indexed (row, column).
template <class T, int d>
struct Column {
  T entry[d];
  [[gnu::always_inline]] T& operator[](int i) { return entry[i]; }
  [[gnu::always_inline]] const T& operator[](int i) const { return entry[i]; }
};
template <class T, int d>
struct Square {
  T entry[d][d];
  [[gnu::always_inline]] T& operator()(int i, int j) { return entry[i][j]; }
  [[gnu::always_inline]] const T& operator()(int i, int j) const { return entry[i][j]; }
};

}  // namespace lope::math
