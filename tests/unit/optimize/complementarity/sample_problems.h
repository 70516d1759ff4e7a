// Mixed complementarity problems for the tests: liquid in the lower half of a ball, thrown against its wall.
#pragma once

#include <lope/base/random.h>
#include <lope/optimize/complementarity/problem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lope::optimize::complementarity::samples {

struct BallOptions {
  int dimension = 2;
  int cells = 16;       // along an edge of the domain
  double noise = 0;     // of the velocity, m/s
  bool closed = false;  // filled to the top: no free surface, a singular matrix
  std::uint64_t seed = 1;
};

namespace detail {

using Point = std::array<double, 3>;

class Ball {
 public:
  explicit Ball(const BallOptions& options)
      : o_(options), depth_(options.dimension == 3 ? options.cells : 1) {}

  MixedLcp problem() {
    number_.assign(static_cast<std::size_t>(o_.cells * o_.cells * depth_), -1);
    std::vector<std::array<int, 3>> liquid;
    for_cells([&](const std::array<int, 3>& c) {
      if (!is_open(c) || surface(c) >= 0) return;
      number_[place(c)] = static_cast<int>(liquid.size());
      liquid.push_back(c);
    });
    MixedLcp result;
    std::vector<linalg::CsrEntry> entries;
    for (const auto& c : liquid) add_row(c, result, entries);
    const int rows = static_cast<int>(liquid.size());
    result.a = linalg::csr_from_entries(rows, rows, entries);
    return result;
  }

 private:
  template <class Body>
  void for_cells(const Body& body) const {
    for (int z = 0; z < depth_; ++z) {
      for (int y = 0; y < o_.cells; ++y) {
        for (int x = 0; x < o_.cells; ++x) body(std::array{x, y, z});
      }
    }
  }
  std::size_t place(const std::array<int, 3>& c) const {
    return static_cast<std::size_t>((c[2] * o_.cells + c[1]) * o_.cells + c[0]);
  }
  bool inside(const std::array<int, 3>& c) const {
    for (int k = 0; k < o_.dimension; ++k) {
      if (c[std::size_t(k)] < 0 || c[std::size_t(k)] >= o_.cells) return false;
    }
    return true;
  }
  double wall(const Point& x) const {
    double square = 0;
    for (int k = 0; k < o_.dimension; ++k) square += std::pow(x[std::size_t(k)] - 0.5, 2);
    return std::sqrt(square) - 0.45;
  }
  // Height above the slightly tilted surface.
  double surface(const std::array<int, 3>& c) const {
    if (o_.closed) return -1;
    return (c[1] + 0.5) / o_.cells - 0.52 - 0.1 * ((c[0] + 0.5) / o_.cells - 0.5);
  }
  // Of the face of cell c towards axis k, side ±1.
  double open_fraction(const std::array<int, 3>& c, int axis, int side) const {
    Point x = {};
    for (int k = 0; k < o_.dimension; ++k) x[std::size_t(k)] = (c[std::size_t(k)] + 0.5) / o_.cells;
    x[std::size_t(axis)] += 0.5 * side / o_.cells;
    return std::clamp(0.5 - wall(x) * o_.cells, 0.0, 1.0);
  }
  bool is_open(const std::array<int, 3>& c) const {
    for (int axis = 0; axis < o_.dimension; ++axis) {
      if (open_fraction(c, axis, -1) > 0 || open_fraction(c, axis, 1) > 0) return true;
    }
    return false;
  }
  double velocity(const std::array<int, 3>& c, int axis, int side) const {
    std::array<int, 3> lower = c;
    if (side < 0) --lower[std::size_t(axis)];
    const auto which =
        static_cast<std::uint64_t>(((lower[2] + 1) * 4099 + lower[1] + 1) * 4099 + lower[0] + 1);
    const double rough = 2 * random_unit(o_.seed + 100 * std::uint64_t(axis), which) - 1;
    const Point smooth = {1.0, 0.5, -0.3};
    return smooth[std::size_t(axis)] + o_.noise * rough;
  }
  void add_row(const std::array<int, 3>& c, MixedLcp& result, std::vector<linalg::CsrEntry>& entries) const {
    const int row = number_[place(c)];
    double diagonal = 0;
    double b = 0;
    bool wall_row = false;
    for (int axis = 0; axis < o_.dimension; ++axis) {
      for (const int side : {-1, 1}) {
        const double w = open_fraction(c, axis, side);
        wall_row = wall_row || w < 1;
        if (w == 0) continue;
        b += side * w * velocity(c, axis, side);
        std::array<int, 3> next = c;
        next[std::size_t(axis)] += side;
        const int column = inside(next) ? number_[place(next)] : -1;
        if (column >= 0) {
          diagonal += w;
          entries.push_back({row, column, -w});
        } else if (!o_.closed) {
          const double own = surface(c);
          diagonal += w / std::max(own / (own - surface(next)), 0.01);
        }
      }
    }
    entries.push_back({row, row, diagonal});
    result.b.push_back(b);
    result.bounded.push_back(wall_row);
  }

  BallOptions o_;
  int depth_;
  std::vector<int> number_;
};

}  // namespace detail

inline MixedLcp half_filled_ball(const BallOptions& options) { return detail::Ball(options).problem(); }

}  // namespace lope::optimize::complementarity::samples
