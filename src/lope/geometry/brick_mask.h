// One bit per cell of a brick, and the bits next to them: sets of cells or faces that are worked on by the
// word.
//
// Bit x + 8 y of word z (one word in 2D) belongs to cell (x, y, z) of the brick, so that word and bit follow
// the order of a field's values.
#pragma once

#include <lope/geometry/bricks.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lope::geometry {

template <int Dim>
struct BrickMask {
  static constexpr std::size_t words = BrickSet<Dim>::cells / 64;
  std::array<std::uint64_t, words> word{};

  bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t w : word) all |= w;
    return all != 0;
  }
  bool operator[](std::size_t local) const { return (word[local / 64] >> (local % 64)) & 1; }
  BrickMask& operator|=(const BrickMask& other) {
    for (std::size_t k = 0; k < words; ++k) word[k] |= other.word[k];
    return *this;
  }
  BrickMask& operator&=(const BrickMask& other) {
    for (std::size_t k = 0; k < words; ++k) word[k] &= other.word[k];
    return *this;
  }
  // The cells of this mask that are not in another.
  BrickMask without(const BrickMask& other) const {
    BrickMask result;
    for (std::size_t k = 0; k < words; ++k) result.word[k] = word[k] & ~other.word[k];
    return result;
  }
  // visit(number of the cell in its brick), ascending.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t k = 0; k < words; ++k) {
      for (std::uint64_t rest = word[k]; rest != 0; rest &= rest - 1)
        visit(64 * k + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
  // The cells for which test(number of the cell in its brick) holds.
  template <class Test>
  static BrickMask of(const Test& test) {
    BrickMask result;
    for (std::size_t k = 0; k < words; ++k) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < 64; ++i) bits |= static_cast<std::uint64_t>(test(64 * k + i)) << i;
      result.word[k] = bits;
    }
    return result;
  }
};

// The cells of a brick whose neighbour along an axis, one cell up (direction 1) or down (−1), is in `here`
// or, where it lies in the brick on that side, in `beyond`.
template <int Dim>
BrickMask<Dim> next_to(const BrickMask<Dim>& here, const BrickMask<Dim>& beyond, int axis, int direction) {
  constexpr std::uint64_t first_column = 0x0101010101010101u;
  constexpr std::size_t words = BrickMask<Dim>::words;
  BrickMask<Dim> result;
  for (std::size_t k = 0; k < words; ++k) {
    const std::uint64_t w = here.word[k], b = beyond.word[k];
    if (axis == 0)
      result.word[k] = direction < 0 ? ((w << 1) & ~first_column) | ((b >> 7) & first_column)
                                     : ((w & ~first_column) >> 1) | ((b & first_column) << 7);
    else if (axis == 1)
      result.word[k] = direction < 0 ? w << 8 | b >> 56 : w >> 8 | b << 56;
    else if (direction < 0)
      result.word[k] = k == 0 ? beyond.word[words - 1] : here.word[k - 1];
    else
      result.word[k] = k + 1 == words ? beyond.word[0] : here.word[k + 1];
  }
  return result;
}

}  // namespace lope::geometry
