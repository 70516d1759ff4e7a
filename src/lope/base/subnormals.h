// Subnormal numbers (below 10⁻³⁸ in single precision) count as zero while an object of this class lives, on its thread. Processors take a
// hundred times as long for them as for others, and what dies away in a factor passes through them.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif
#include <cstdint>

namespace lope {

class WithoutSubnormals {
 public:
  WithoutSubnormals() : before_(control()) { set_control(before_ | flags); }
  WithoutSubnormals(const WithoutSubnormals&) = delete;
  WithoutSubnormals& operator=(const WithoutSubnormals&) = delete;
  ~WithoutSubnormals() { set_control(before_); }

 private:
#if defined(__SSE2__)
  using Word = std::uint32_t;
  static constexpr Word flags = 0x8040;  // results and operands: FTZ and DAZ of MXCSR
  static Word control() { return _mm_getcsr(); }
  static void set_control(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word flags = Word(1) << 24;  // FZ of FPCR
  static Word control() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control(Word word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  using Word = std::uint32_t;
  static constexpr Word flags = 0;
  static Word control() { return 0; }
  static void set_control(Word) {}
#endif
  Word before_;
};

}  // namespace lope
