// Well-spread random numbers for the path tracer.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lope::render {

// Points of the unit square for `pairs` independent decisions per sample. One table of Owen-scrambled Sobol'
// points per decision; a pixel shifts its bits by its own random number, which keeps the stratification of
// every eight, sixteen, … consecutive points.
class SamplePoints {
 public:
  SamplePoints(int samples, int pairs, std::uint64_t seed);

  struct Point {
    float u, v;
  };
  Point point(int pair, int sample, std::uint64_t shift) const {
    const auto& p = table_[at(pair, sample)];
    return {unit(p[0] ^ static_cast<std::uint32_t>(shift)),
            unit(p[1] ^ static_cast<std::uint32_t>(shift >> 32))};
  }

 private:
  static float unit(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1.0p-24f; }
  std::size_t at(int pair, int sample) const { return static_cast<std::size_t>(pair) * samples_ + sample; }

  int samples_;
  std::vector<std::array<std::uint32_t, 2>> table_;
};

// Inverse distribution of the tent filter of radius one pixel.
inline float tent(float u) { return u < 0.5f ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 - 2 * u); }

}  // namespace lope::render
