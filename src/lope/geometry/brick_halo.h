// Fields over bricks (bricks.h) brick by brick, with one layer of cells around, and bricks in groups whose layers do not meet.
#pragma once

#include <lope/geometry/bricks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::geometry {

// A brick's part of a field with one layer around: x fastest, index 0 … 9 along each axis stands for the
// cells −1 … 8.
template <int Dim, class T>
class Halo {
 public:
  using Bricks = BrickSet<Dim>;
  static constexpr int side = Bricks::side + 2;
  static constexpr int size = Dim == 2 ? side * side : side * side * side;
  static constexpr std::array<int, 3> stride{1, side, side* side};

  static int at(const std::array<int, static_cast<std::size_t>(Dim)>& cell) {  // −1 … 8
    int place = 0;
    for (std::size_t a = 0; a < Dim; ++a) place += (cell[a] + 1) * stride[a];
    return place;
  }
  // Of a cell of the brick by its number in it.
  static int of_local(int local) {
    int place = 0;
    for (int a = 0; a < Dim; ++a, local /= Bricks::side)
      place += (local % Bricks::side + 1) * stride[static_cast<std::size_t>(a)];
    return place;
  }

  void fill(T value) { values_.fill(value); }
  T& operator[](int place) { return values_[static_cast<std::size_t>(place)]; }
  const T& operator[](int place) const { return values_[static_cast<std::size_t>(place)]; }

  void load(const Bricks& bricks, int brick, std::span<const T> field, T missing) {
    each_row(bricks, brick, [&](T* to, std::int64_t from, int count) {
      if (from < 0)
        std::fill_n(to, count, missing);
      else
        std::copy_n(field.data() + from, count, to);
    });
  }
  // body(values here, place of the first of them in a field or −1, number of consecutive values).
  template <class Body>
  void each_row(const Bricks& bricks, int brick, const Body& body) {
    const auto around = bricks.neighbours(brick);
    constexpr int n = Bricks::side;
    for (int z = Dim == 3 ? -1 : 0; z <= (Dim == 3 ? n : 0); ++z) {
      const int oz = z < 0 ? -1 : z == n ? 1 : 0;
      for (int y = -1; y <= n; ++y) {
        const int oy = y < 0 ? -1 : y == n ? 1 : 0;
        const int row = (Dim == 3 ? (oz + 1) * 9 : 0) + (oy + 1) * 3;
        const int local = n * ((y - n * oy) + (Dim == 3 ? n * (z - n * oz) : 0));
        T* const here =
            &values_[static_cast<std::size_t>((y + 1) * stride[1] + (Dim == 3 ? (z + 1) * stride[2] : 0))];
        const auto start = [&](int ox, int x) {
          const int number = around[static_cast<std::size_t>(row + ox + 1)];
          return number < 0 ? std::int64_t{-1} : std::int64_t{number} * Bricks::cells + local + x;
        };
        body(here, start(-1, n - 1), 1);
        body(here + 1, start(0, 0), n);
        body(here + 1 + n, start(1, 0), 1);
      }
    }
  }

 private:
  std::array<T, static_cast<std::size_t>(size)> values_;
};

// 0 … 2^Dim − 1 by the parities of the coordinates, the first axis being the lowest bit.
template <int Dim>
std::size_t parity_group(const GridIndex<Dim>& index) {
  std::size_t group = 0;
  for (std::size_t a = 0; a < Dim; ++a) group |= static_cast<std::size_t>(index[a] & 1) << a;
  return group;
}
// The numbers 0 … count − 1 in groups by the parities of index_of(number): boxes of one group whose halos reach no farther than half a box do not meet. In the order of the groups, the same value
// always receives its contributions in the same order.
template <int Dim, class IndexOf>
std::vector<std::vector<int>> parity_groups(int count, const IndexOf& index_of) {
  std::vector<std::vector<int>> groups(std::size_t{1} << Dim);
  for (int number = 0; number < count; ++number) groups[parity_group<Dim>(index_of(number))].push_back(number);
  return groups;
}
template <int Dim>
std::vector<std::vector<int>> parity_groups(const BrickSet<Dim>& bricks) {
  return parity_groups<Dim>(bricks.count(), [&](int b) { return bricks.brick(b); });
}

}  // namespace lope::geometry
