#include <lope/geometry/bricks.h>

#include <algorithm>
#include <cassert>

namespace lope::geometry {
namespace {

constexpr int coordinate_limit = 1 << 20;

// The bits of a number below 2^21, two (Dim = 3) or one (Dim = 2) zero bits after each.
template <int Dim>
std::uint64_t spread(std::uint64_t x) {
  if constexpr (Dim == 2) {
    x = (x | x << 16) & 0x0000ffff0000ffffull;
    x = (x | x << 8) & 0x00ff00ff00ff00ffull;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
    x = (x | x << 2) & 0x3333333333333333ull;
    x = (x | x << 1) & 0x5555555555555555ull;
  } else {
    x = (x | x << 32) & 0x001f00000000ffffull;
    x = (x | x << 16) & 0x001f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    x = (x | x << 2) & 0x1249249249249249ull;
  }
  return x;
}

// Places the bricks on Morton's curve.
template <int Dim>
std::uint64_t key(const GridIndex<Dim>& brick) {
  std::uint64_t result = 0;
  for (std::size_t a = 0; a < Dim; ++a) {
    assert(brick[a] >= -coordinate_limit && brick[a] < coordinate_limit);
    result |= spread<Dim>(static_cast<std::uint64_t>(brick[a] + coordinate_limit)) << a;
  }
  return result;
}

template <int Dim>
std::size_t hash(const GridIndex<Dim>& brick) {
  std::uint64_t x = key<Dim>(brick) * 0x9e3779b97f4a7c15ull;
  return static_cast<std::size_t>(x ^ x >> 32);
}

}  // namespace

template <int Dim>
BrickSet<Dim>::BrickSet(std::span<const Index> bricks) {
  std::vector<std::pair<std::uint64_t, Index>> order;
  order.reserve(bricks.size());
  for (const Index& brick : bricks) order.emplace_back(key<Dim>(brick), brick);
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  brick_.reserve(order.size());
  for (const auto& entry : order) brick_.push_back(entry.second);
  build_table();
}

template <int Dim>
BrickSet<Dim> BrickSet<Dim>::holding(std::span<const Index> held) {
  std::vector<Index> bricks;
  for (const Index& cell : held) {
    const Index brick = brick_of(cell);
    if (bricks.empty() || bricks.back() != brick) bricks.push_back(brick);
  }
  return BrickSet(bricks);
}

template <int Dim>
BrickSet<Dim> BrickSet<Dim>::dilated() const {
  std::vector<Index> bricks;
  bricks.reserve(brick_.size() * around);
  for (const Index& centre : brick_) {
    for (int n = 0; n < around; ++n) bricks.push_back(shifted(centre, n));
  }
  return BrickSet(bricks);
}

template <int Dim>
void BrickSet<Dim>::build_table() {
  std::size_t capacity = 16;
  while (capacity < 2 * brick_.size()) capacity *= 2;
  table_.assign(capacity, none);
  for (std::size_t b = 0; b < brick_.size(); ++b) {
    std::size_t slot = hash<Dim>(brick_[b]) & (capacity - 1);
    while (table_[slot] != none) slot = (slot + 1) & (capacity - 1);
    table_[slot] = static_cast<std::int32_t>(b);
  }
  neighbour_.resize(brick_.size() * around);
  for (std::size_t b = 0; b < brick_.size(); ++b) {
    for (int n = 0; n < around; ++n) {
      const Index brick = shifted(brick_[b], n);
      bool inside = true;
      for (const int coordinate : brick) inside &= coordinate >= -coordinate_limit && coordinate < coordinate_limit;
      neighbour_[b * around + static_cast<std::size_t>(n)] = inside ? find(brick) : none;
    }
  }
}

template <int Dim>
GridIndex<Dim> BrickSet<Dim>::first_cell(int number) const {
  Index cell = brick(number);
  for (int& coordinate : cell) coordinate *= side;
  return cell;
}

template <int Dim>
int BrickSet<Dim>::find(const Index& brick) const {
  if (table_.empty()) return none;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t slot = hash<Dim>(brick) & mask;; slot = (slot + 1) & mask) {
    const std::int32_t number = table_[slot];
    if (number == none || brick_[static_cast<std::size_t>(number)] == brick) return number;
  }
}

template <int Dim>
GridIndex<Dim> BrickSet<Dim>::brick_of(const Index& cell) {
  Index brick = cell;
  for (int& coordinate : brick) coordinate >>= 3;
  return brick;
}

template <int Dim>
int BrickSet<Dim>::local(const Index& cell) {
  int place = 0;
  for (int a = Dim - 1; a >= 0; --a) place = place * side + (cell[static_cast<std::size_t>(a)] & (side - 1));
  return place;
}

template <int Dim>
std::int64_t BrickSet<Dim>::place(const Index& cell) const {
  const int number = find(brick_of(cell));
  return number == none ? none : std::int64_t{number} * cells + local(cell);
}

template <int Dim>
GridIndex<Dim> BrickSet<Dim>::cell(std::int64_t place) const {
  Index result = first_cell(static_cast<int>(place / cells));
  int rest = static_cast<int>(place % cells);
  for (int& coordinate : result) {
    coordinate += rest % side;
    rest /= side;
  }
  return result;
}

template <int Dim>
std::int64_t BrickSet<Dim>::next(std::int64_t place, int axis, int direction) const {
  const int stride = axis == 0 ? 1 : axis == 1 ? side : side * side;
  const int coordinate = static_cast<int>(place % cells) / stride % side + direction;
  if (coordinate >= 0 && coordinate < side) return place + direction * stride;
  const int power = axis == 0 ? 1 : axis == 1 ? 3 : 9;
  const int brick =
      neighbours(static_cast<int>(place / cells))[static_cast<std::size_t>(around / 2 + direction * power)];
  if (brick == none) return none;
  return std::int64_t{brick} * cells + place % cells - direction * (side - 1) * stride;
}

template class BrickSet<2>;
template class BrickSet<3>;

}  // namespace lope::geometry
