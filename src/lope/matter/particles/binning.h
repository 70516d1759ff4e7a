// Particles sorted into the cells of a grid, whose cells are grouped in boxes: the bricks of a liquid, the blocks of material
// points. Particles come mostly sorted: runs in one box are short-cut. The same bits for any number of threads.
#pragma once

#include <lope/base/parallel.h>
#include <lope/geometry/bricks.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace lope::matter {

// The boxes that hold particles, in lexicographic order, each with the marks (bits) of its particles. visit(i, mark) is called
// for particle i: mark(box, bits) says where it is.
template <int Dim, class Visit>
std::map<geometry::GridIndex<Dim>, std::uint32_t> marked_boxes(std::size_t count, const Visit& visit) {
  using Marks = std::map<geometry::GridIndex<Dim>, std::uint32_t>;
  constexpr std::size_t part = 1 << 16;
  std::vector<Marks> parts((count + part - 1) / part);
  parallel_for(parts.size(), 1, [&](std::size_t k) {
    geometry::GridIndex<Dim> current{};
    std::uint32_t* bits = nullptr;
    const std::size_t end = std::min(count, (k + 1) * part);
    for (std::size_t i = k * part; i < end; ++i) {
      visit(i, [&](const geometry::GridIndex<Dim>& box, std::uint32_t more) {
        if (!bits || box != current) bits = &parts[k][box];
        current = box;
        *bits |= more;
      });
    }
  });
  Marks all;
  for (const Marks& one : parts) {
    for (const auto& [box, bits] : one) all[box] |= bits;
  }
  return all;
}

// A counting sort, which keeps the order of particles in one place. Its memory stays from one time to the next.
struct Binning {
  std::vector<std::uint32_t> place;  // of every particle, below the number of places
  std::vector<std::uint32_t> first;  // particles first[c] … first[c + 1] − 1 are in place c, once they are in their order
  std::vector<std::uint32_t> order;  // for reorder()

  // Sets `place` of all particles: place_in(i, cell, number of the box), with cell_of(i), box_of(cell) and find(box), the
  // number of a box.
  template <int Dim, class CellOf, class BoxOf, class Find, class PlaceIn>
  void find_places(std::size_t count, const CellOf& cell_of, const BoxOf& box_of, const Find& find, const PlaceIn& place_in) {
    place.resize(count);
    parallel_chunks(count, 4096, [&](std::size_t begin, std::size_t end) {
      geometry::GridIndex<Dim> current{};
      int number = -1;
      for (std::size_t i = begin; i < end; ++i) {
        const geometry::GridIndex<Dim> cell = cell_of(i), box = box_of(cell);
        if (number < 0 || box != current) number = find(box);
        current = box;
        place[i] = static_cast<std::uint32_t>(place_in(i, cell, number));
      }
    });
  }
  // Makes `first` and `order` from `place`. False: the particles are in their order as they are.
  bool sort(std::size_t places);

 private:
  std::vector<std::uint32_t> next_;
};

}  // namespace lope::matter
