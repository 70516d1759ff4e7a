// Sparse uniform grids: a sorted set of active bricks of 8^Dim cells, so that memory is proportional to the
// cells in use and never to a bounding box.
//
// Cells and bricks have integer coordinates of either sign; brick c holds the cells 8c … 8c + 7. A field over
// a set is a plain vector of size() values: brick after brick, within a brick x fastest, so that one row of a
// brick is eight consecutive numbers. Bricks are in Morton order: the 2^Dim bricks below one brick of the
// next coarser grid follow each other, and neighbours are mostly near in memory.
//
// Brick coordinates lie within ±2^20 (cells within ±2^23): asserted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lope::geometry {

template <int Dim>
using GridIndex = std::array<int, static_cast<std::size_t>(Dim)>;

template <int Dim>
class BrickSet {
 public:
  using Index = GridIndex<Dim>;
  static constexpr int side = 8;
  static constexpr int cells = Dim == 2 ? 64 : 512;  // per brick
  static constexpr int rows = cells / side;          // per brick
  static constexpr int around = Dim == 2 ? 9 : 27;   // a brick and all that touch it
  static constexpr int none = -1;

  BrickSet() = default;
  // The bricks named, in any order and as often as wanted.
  explicit BrickSet(std::span<const Index> bricks);
  // Every brick that holds one of these cells.
  static BrickSet holding(std::span<const Index> held);
  // These bricks and all that touch them, also at edges and corners.
  BrickSet dilated() const;

  int count() const { return static_cast<int>(brick_.size()); }
  // Values of a field.
  std::size_t size() const { return brick_.size() * cells; }
  bool operator==(const BrickSet& other) const { return brick_ == other.brick_; }

  // Coordinates of a brick, and of its first cell.
  const Index& brick(int number) const { return brick_[static_cast<std::size_t>(number)]; }
  Index first_cell(int number) const;
  // The number of the brick at these coordinates, or none.
  int find(const Index& brick) const;
  // The bricks around one, itself in the middle: entry Σ (offset_a + 1) 3^a for offsets −1, 0, 1 along the
  // axes; none where the set has no brick.
  std::span<const int, around> neighbours(int number) const {
    return std::span<const int, around>(&neighbour_[static_cast<std::size_t>(number) * around], around);
  }

  // The coordinates next to these that belong to an entry of neighbours().
  static Index shifted(Index brick, int entry) {
    for (int& coordinate : brick) {
      coordinate += entry % 3 - 1;
      entry /= 3;
    }
    return brick;
  }

  // Place of a cell's value in a field, or none (as a signed number) if its brick is not in the set.
  std::int64_t place(const Index& cell) const;
  // The cell whose value is at this place.
  Index cell(std::int64_t place) const;
  // The place next to `place` along an axis, one cell up (direction 1) or down (−1), or none.
  std::int64_t next(std::int64_t place, int axis, int direction) const;

  // Which brick holds a cell, and where in it.
  static Index brick_of(const Index& cell);
  static int local(const Index& cell);

 private:
  void build_table();
  std::vector<Index> brick_;
  std::vector<int> neighbour_;       // `around` per brick
  std::vector<std::int32_t> table_;  // open addressing: brick number or none
};

extern template class BrickSet<2>;
extern template class BrickSet<3>;

}  // namespace lope::geometry
