#include <lope/base/parallel.h>
#include <lope/matter/liquid/grid.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace lope::matter::liquid {
namespace {

constexpr std::size_t grain = 4096;

// Which of the bricks around its own a particle comes near to, as a bit per entry of BrickSet::neighbours.
template <int Dim>
std::uint32_t reach_mask(const geometry::GridIndex<Dim>& cell, int band) {
  constexpr int n = geometry::BrickSet<Dim>::side;
  std::uint32_t mask = 1;
  std::uint32_t step = 1;
  for (std::size_t a = 0; a < Dim; ++a, step *= 3) {
    const int local = cell[a] & (n - 1);
    std::uint32_t next = mask << step;
    if (local < band) next |= mask;
    if (local >= n - band) next |= mask << (2 * step);
    mask = next;
  }
  return mask;
}

template <int Dim>
using Reach = std::map<geometry::GridIndex<Dim>, std::uint32_t>;  // of the particles in a brick

// Particles come mostly sorted, so runs in one brick are short-cut.
template <int Dim>
Reach<Dim> reach_of(const Grid<Dim>& grid, std::span<const Vec<Dim>> x, int band) {
  using Bricks = geometry::BrickSet<Dim>;
  Reach<Dim> reach;
  geometry::GridIndex<Dim> current{};
  std::uint32_t* mask = nullptr;
  for (const Vec<Dim>& at : x) {
    const auto cell = grid.cell_of(at);
    const auto brick = Bricks::brick_of(cell);
    if (!mask || brick != current) mask = &reach[brick];
    current = brick;
    *mask |= reach_mask<Dim>(cell, band);
  }
  return reach;
}

// The bricks near particles, some several times.
template <int Dim>
std::vector<geometry::GridIndex<Dim>> bricks_near(const Grid<Dim>& grid, const std::vector<Vec<Dim>>& x,
                                                  int band) {
  constexpr std::size_t part = 1 << 16;
  std::vector<Reach<Dim>> parts((x.size() + part - 1) / part);
  parallel_for(parts.size(), 1, [&](std::size_t k) {
    const std::size_t first = k * part;
    parts[k] = reach_of<Dim>(grid, std::span(x).subspan(first, std::min(part, x.size() - first)), band);
  });
  Reach<Dim> all;
  for (const Reach<Dim>& one : parts) {
    for (const auto& [brick, near] : one) all[brick] |= near;
  }
  std::vector<geometry::GridIndex<Dim>> result;
  for (const auto& [brick, near] : all) {
    for (int k = 0; k < geometry::BrickSet<Dim>::around; ++k) {
      if (!((near >> k) & 1)) continue;
      geometry::GridIndex<Dim> next = brick;
      int rest = k;
      for (std::size_t a = 0; a < Dim; ++a, rest /= 3) next[a] += rest % 3 - 1;
      result.push_back(next);
    }
  }
  return result;
}

}  // namespace

template <int Dim>
void Particles<Dim>::reorder(const std::vector<std::uint32_t>& order, Particles& spare) {
  const auto permute = [&order](auto& values, auto& result) {
    result.resize(order.size());
    parallel_for(order.size(), grain, [&](std::size_t k) { result[k] = values[order[k]]; });
    values.swap(result);
  };
  permute(x, spare.x);
  permute(v, spare.v);
  permute(affine, spare.affine);
}

template <int Dim>
void bin_particles(Particles<Dim>& particles, int band, Grid<Dim>& grid, SortingMemory<Dim>& memory) {
  using Bricks = geometry::BrickSet<Dim>;
  const std::size_t count = particles.size();
  grid.bricks = std::make_shared<const Bricks>(bricks_near<Dim>(grid, particles.x, band));

  std::vector<std::uint32_t>&place = memory.place, &start = memory.start, &order = memory.order;
  place.resize(count);
  parallel_chunks(count, grain, [&](std::size_t begin, std::size_t end) {
    geometry::GridIndex<Dim> current{};
    int number = Bricks::none;
    for (std::size_t i = begin; i < end; ++i) {
      const auto cell = grid.cell_of(particles.x[i]);
      const auto brick = Bricks::brick_of(cell);
      if (number == Bricks::none || brick != current) number = grid.bricks->find(brick);
      current = brick;
      place[i] = static_cast<std::uint32_t>(number * Bricks::cells + Bricks::local(cell));
    }
  });
  start.assign(grid.bricks->size() + 1, 0);
  for (const std::uint32_t p : place) ++start[p + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  grid.first = start;
  order.resize(count);
  for (std::size_t i = 0; i < count; ++i) order[start[place[i]]++] = static_cast<std::uint32_t>(i);
  particles.reorder(order, memory.sorted);
}

template <int Dim>
std::vector<std::vector<int>> halo_colors(const geometry::BrickSet<Dim>& bricks) {
  std::vector<std::vector<int>> colors(std::size_t{1} << Dim);
  for (int b = 0; b < bricks.count(); ++b) {
    std::size_t color = 0;
    for (std::size_t a = 0; a < Dim; ++a) color |= static_cast<std::size_t>(bricks.brick(b)[a] & 1) << a;
    colors[color].push_back(b);
  }
  return colors;
}

template struct Particles<2>;
template struct Particles<3>;
template void bin_particles<2>(Particles<2>&, int, Grid<2>&, SortingMemory<2>&);
template void bin_particles<3>(Particles<3>&, int, Grid<3>&, SortingMemory<3>&);
template std::vector<std::vector<int>> halo_colors<2>(const geometry::BrickSet<2>&);
template std::vector<std::vector<int>> halo_colors<3>(const geometry::BrickSet<3>&);

}  // namespace lope::matter::liquid
