#include <lope/matter/liquid/grid.h>

namespace lope::matter::liquid {
namespace {

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

// The bricks near particles, some several times.
template <int Dim>
std::vector<geometry::GridIndex<Dim>> bricks_near(const Grid<Dim>& grid, const std::vector<Vec<Dim>>& x,
                                                  int band) {
  using Bricks = geometry::BrickSet<Dim>;
  const auto reach = marked_boxes<Dim>(x.size(), [&](std::size_t i, const auto& mark) {
    const auto cell = grid.cell_of(x[i]);
    mark(Bricks::brick_of(cell), reach_mask<Dim>(cell, band));
  });
  std::vector<geometry::GridIndex<Dim>> result;
  for (const auto& [brick, near] : reach) {
    for (int k = 0; k < Bricks::around; ++k) {
      if ((near >> k) & 1) result.push_back(Bricks::shifted(brick, k));
    }
  }
  return result;
}

}  // namespace

template <int Dim>
void bin_particles(Particles<Dim>& particles, int band, Grid<Dim>& grid, SortingMemory<Dim>& memory) {
  using Bricks = geometry::BrickSet<Dim>;
  grid.bricks = std::make_shared<const Bricks>(bricks_near<Dim>(grid, particles.x, band));
  Binning& binning = memory.binning;
  binning.find_places<Dim>(
      particles.size(), [&](std::size_t i) { return grid.cell_of(particles.x[i]); }, Bricks::brick_of,
      [&](const auto& brick) { return grid.bricks->find(brick); },
      [](std::size_t /*i*/, const auto& cell, int brick) { return brick * Bricks::cells + Bricks::local(cell); });
  if (binning.sort(grid.bricks->size())) reorder<Particles<Dim>>(particles, binning.order, memory.spare);
  grid.first = binning.first;
}

template void bin_particles<2>(Particles<2>&, int, Grid<2>&, SortingMemory<2>&);
template void bin_particles<3>(Particles<3>&, int, Grid<3>&, SortingMemory<3>&);

}  // namespace lope::matter::liquid
