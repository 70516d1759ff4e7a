#include <lope/base/random.h>
#include <lope/render/sample_points.h>

namespace lope::render {
namespace {

std::uint32_t reverse_bits(std::uint32_t x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0F0F0F0Fu) | ((x & 0x0F0F0F0Fu) << 4);
  x = ((x >> 8) & 0x00FF00FFu) | ((x & 0x00FF00FFu) << 8);
  return (x >> 16) | (x << 16);
}

// Second coordinate of the two-dimensional Sobol' sequence.
std::uint32_t sobol_second(std::uint32_t index) {
  std::uint32_t result = 0;
  for (std::uint32_t direction = 1u << 31; index; index >>= 1, direction ^= direction >> 1) {
    if (index & 1u) result ^= direction;
  }
  return result;
}

// Every bit is flipped or not depending on the bits above it (Owen scrambling), by the project's own hash.
std::uint32_t owen(std::uint32_t x, std::uint64_t seed) {
  std::uint32_t result = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint64_t above = bit == 31 ? 0 : x >> (bit + 1);
    const std::uint64_t node = (above << 5) | static_cast<std::uint64_t>(bit);
    result |= (x & (1u << bit)) ^ ((random_bits(seed, node) & 1u) << bit);
  }
  return result;
}

}  // namespace

SamplePoints::SamplePoints(int samples, int pairs, std::uint64_t seed) : samples_(samples) {
  table_.resize(static_cast<std::size_t>(samples) * pairs);
  for (int pair = 0; pair < pairs; ++pair) {
    for (int i = 0; i < samples; ++i) {
      const std::uint64_t stream = random_bits(seed, 1000 + pair);
      // Scrambling the reversed index shuffles the order of the points inside every aligned power of two.
      const std::uint32_t index = reverse_bits(owen(reverse_bits(i), stream));
      table_[at(pair, i)] = {owen(reverse_bits(index), stream + 1), owen(sobol_second(index), stream + 2)};
    }
  }
}

}  // namespace lope::render
