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

// The bricks near particles, each a few times. Particles come mostly sorted, so runs in one brick are
// short-cut.
template <int Dim>
std::vector<geometry::GridIndex<Dim>> bricks_near(const std::vector<geometry::GridIndex<Dim>>& cells,
                                                  int band) {
  using Bricks = geometry::BrickSet<Dim>;
  std::map<geometry::GridIndex<Dim>, std::uint32_t> masks;
  geometry::GridIndex<Dim> current{};
  std::uint32_t* mask = nullptr;
  for (const auto& cell : cells) {
    const auto brick = Bricks::brick_of(cell);
    if (!mask || brick != current) mask = &masks[brick];
    current = brick;
    *mask |= reach_mask<Dim>(cell, band);
  }
  std::vector<geometry::GridIndex<Dim>> result;
  for (const auto& [brick, near] : masks) {
    for (int k = 0; k < Bricks::around; ++k) {
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
void Particles<Dim>::reorder(const std::vector<std::uint32_t>& order) {
  const auto permute = [&order](auto& values) {
    std::remove_reference_t<decltype(values)> result(order.size());
    parallel_for(order.size(), grain, [&](std::size_t k) { result[k] = values[order[k]]; });
    values.swap(result);
  };
  permute(x);
  permute(v);
  permute(affine);
}

template <int Dim>
void bin_particles(Particles<Dim>& particles, int band, Grid<Dim>& grid) {
  using Bricks = geometry::BrickSet<Dim>;
  const std::size_t count = particles.size();
  std::vector<geometry::GridIndex<Dim>> cells(count);
  parallel_for(count, grain, [&](std::size_t i) { cells[i] = grid.cell_of(particles.x[i]); });
  grid.bricks = std::make_shared<const Bricks>(bricks_near<Dim>(cells, band));

  std::vector<std::int64_t> place(count);
  parallel_for(count, grain, [&](std::size_t i) { place[i] = grid.bricks->place(cells[i]); });
  std::vector<std::uint32_t> start(grid.bricks->size() + 1, 0);
  for (const std::int64_t p : place) ++start[static_cast<std::size_t>(p) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  grid.first = start;
  std::vector<std::uint32_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[start[static_cast<std::size_t>(place[i])]++] = static_cast<std::uint32_t>(i);
  particles.reorder(order);
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
template void bin_particles<2>(Particles<2>&, int, Grid<2>&);
template void bin_particles<3>(Particles<3>&, int, Grid<3>&);
template std::vector<std::vector<int>> halo_colors<2>(const geometry::BrickSet<2>&);
template std::vector<std::vector<int>> halo_colors<3>(const geometry::BrickSet<3>&);

}  // namespace lope::matter::liquid
