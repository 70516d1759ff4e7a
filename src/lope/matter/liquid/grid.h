// The sparse staggered grid of a substep: where its cells are, which particles are in which brick, and blocks
// of a field with one layer of cells around them.
//
// Components of the velocity live in the middle of faces: the value of a cell along axis a is that of its
// lower face. A particle reaches, along axis a, the faces (and, in all directions, the cell centres) around
// it by linear interpolation; those of a particle in a brick all lie in the brick or in the layer around it.
#pragma once

#include <lope/geometry/bricks.h>
#include <lope/matter/liquid/particles.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace lope::matter::liquid {

template <int Dim>
struct Grid {
  using Bricks = geometry::BrickSet<Dim>;
  using Index = geometry::GridIndex<Dim>;

  Vec<Dim> origin = Vec<Dim>::Zero();  // lowest corner of cell 0
  double dx = 1;
  std::shared_ptr<const Bricks> bricks = std::make_shared<const Bricks>();
  // Particles first[c] … first[c + 1] − 1 are in the cell whose values are at place c.
  std::vector<std::uint32_t> first;

  // The particles of brick b: begin … end − 1.
  std::uint32_t begin(std::size_t b) const { return first[b * Bricks::cells]; }
  std::uint32_t end(std::size_t b) const { return first[(b + 1) * Bricks::cells]; }

  Vec<Dim> to_cells(const Vec<Dim>& x) const { return (x - origin) / dx; }
  Index cell_of(const Vec<Dim>& x) const {
    Index cell;
    for (int a = 0; a < Dim; ++a)
      cell[static_cast<std::size_t>(a)] = static_cast<int>(std::floor((x[a] - origin[a]) / dx));
    return cell;
  }
  Vec<Dim> corner(const Index& cell) const {
    Vec<Dim> result;
    for (int a = 0; a < Dim; ++a) result[a] = origin[a] + dx * cell[static_cast<std::size_t>(a)];
    return result;
  }
};

// Memory that sorting keeps from one time to the next.
template <int Dim>
struct SortingMemory {
  std::vector<std::uint32_t> place, start, order;
  Particles<Dim> sorted;
};

// Sorts the particles by cells and makes the bricks that hold them, with those that come nearer than `band`
// cells (at most 8) to a particle. Particles must be finite and within the range of BrickSet.
template <int Dim>
void bin_particles(Particles<Dim>& particles, int band, Grid<Dim>& grid, SortingMemory<Dim>& memory);

// A brick's part of a field with one layer around: x fastest, index 0 … 9 along each axis stands for the
// cells −1 … 8.
template <int Dim, class T>
class Halo {
 public:
  using Bricks = geometry::BrickSet<Dim>;
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

// Bricks in groups whose halos do not meet: brick coordinates of one parity. In the order of the groups, the
// same value always receives its contributions in the same order.
template <int Dim>
std::vector<std::vector<int>> halo_colors(const geometry::BrickSet<Dim>& bricks);

}  // namespace lope::matter::liquid
