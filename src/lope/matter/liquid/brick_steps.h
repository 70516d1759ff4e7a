// Walks over the cells of bricks, and from them to the cells next to them: for the sources of the pressure system.
#pragma once

#include <lope/base/parallel.h>
#include <lope/geometry/bricks.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lope::matter {

inline constexpr std::size_t brick_grain = 16;  // bricks per parallel chunk

// Walks from the cells of one brick to the cells next to them.
template <int Dim>
class Steps {
 public:
  Steps(const geometry::BrickSet<Dim>& bricks, std::size_t brick)
      : first_(static_cast<std::int64_t>(brick) * geometry::BrickSet<Dim>::cells),
        around_(bricks.neighbours(static_cast<int>(brick))) {}

  std::int64_t first() const { return first_; }
  // Place of the cell next to a local one, or −1.
  std::int64_t next(int local, int axis, int direction) const {
    constexpr std::int64_t stride[3] = {1, 8, 64};
    constexpr std::int64_t power[3] = {1, 3, 9};
    const int coordinate = (local >> 3 * axis & 7) + direction;
    if (coordinate >= 0 && coordinate < 8) return first_ + local + direction * stride[axis];
    const int brick = around_[static_cast<std::size_t>(geometry::BrickSet<Dim>::around / 2 + direction * power[axis])];
    if (brick < 0) return -1;
    return std::int64_t{brick} * geometry::BrickSet<Dim>::cells + local - direction * 7 * stride[axis];
  }

 private:
  std::int64_t first_;
  std::span<const int, geometry::BrickSet<Dim>::around> around_;
};

// body(steps, brick) for all bricks, in parallel.
template <int Dim, class Body>
void for_each_brick(const geometry::BrickSet<Dim>& bricks, const Body& body) {
  parallel_for(static_cast<std::size_t>(bricks.count()), brick_grain,
               [&](std::size_t brick) { body(Steps<Dim>(bricks, brick), brick); });
}

constexpr std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }
constexpr std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace lope::matter
