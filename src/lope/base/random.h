// Random numbers that are the same on every platform and for every number of threads: a value is a function
// of (seed, index), so any thread can compute any of them (SplitMix64, Steele et al. 2014).
#pragma once

#include <cstdint>
#include <initializer_list>

namespace lope {

inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (index + 1) * 0xBF58476D1CE4E5B9ULL;
  for (const std::uint64_t factor : {0xBF58476D1CE4E5B9ULL, 0x94D049BB133111EBULL}) {
    z = (z ^ (z >> 30)) * factor;
    z ^= z >> 27;
  }
  return z ^ (z >> 31);
}

// Uniform in [0, 1).
inline double random_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1.0p-53;
}

}  // namespace lope
