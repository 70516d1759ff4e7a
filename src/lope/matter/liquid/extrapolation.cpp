#include <lope/base/parallel.h>
#include <lope/matter/liquid/extrapolation.h>

#include <algorithm>

namespace lope::matter::liquid {
namespace {

// Gives the unknown faces of a brick that have known neighbours the mean of them. Only unknown faces are
// written and only known ones read, so bricks may be filled at the same time.
template <int Dim>
geometry::BrickMask<Dim> fill_brick(const geometry::BrickSet<Dim>& bricks, int brick,
                          const std::vector<geometry::BrickMask<Dim>>& known, std::vector<double>& velocity) {
  using Bricks = geometry::BrickSet<Dim>;
  const geometry::BrickMask<Dim>& here = known[static_cast<std::size_t>(brick)];
  const auto around = bricks.neighbours(brick);
  std::array<geometry::BrickMask<Dim>, 2 * Dim> beside;  // down, up along x, …
  std::array<std::ptrdiff_t, 2 * Dim> step, leap;
  geometry::BrickMask<Dim> reached;
  int three = 1, stride = 1;
  for (int a = 0; a < Dim; ++a, three *= 3, stride *= Bricks::side) {
    for (const int direction : {-1, 1}) {
      const auto k = static_cast<std::size_t>(2 * a + (direction + 1) / 2);
      const int other = around[static_cast<std::size_t>(Bricks::around / 2 + direction * three)];
      const geometry::BrickMask<Dim> beyond = other < 0 ? geometry::BrickMask<Dim>() : known[static_cast<std::size_t>(other)];
      beside[k] = geometry::next_to<Dim>(here, beyond, a, direction);
      step[k] = std::ptrdiff_t{direction} * stride;
      leap[k] = std::ptrdiff_t{other - brick} * Bricks::cells - step[k] * (Bricks::side - 1);
      reached |= beside[k];
    }
  }
  const geometry::BrickMask<Dim> filled = reached.without(here);
  double* const values = velocity.data() + std::ptrdiff_t{brick} * Bricks::cells;
  filled.each([&](std::size_t local) {
    double sum = 0;
    int count = 0;
    std::size_t rest = local;
    for (std::size_t a = 0; a < Dim; ++a, rest /= Bricks::side) {
      const std::size_t at = rest % Bricks::side, low = 2 * a, high = low + 1;
      double* const face = values + local;
      if (beside[low][local]) {
        sum += face[at == 0 ? leap[low] : step[low]];
        ++count;
      }
      if (beside[high][local]) {
        sum += face[at == Bricks::side - 1 ? leap[high] : step[high]];
        ++count;
      }
    }
    values[local] = sum / count;
  });
  return filled;
}

}  // namespace

template <int Dim>
void extrapolate(const geometry::BrickSet<Dim>& bricks, int layers,
                 PerAxis<std::vector<double>, Dim>& velocity, KnownFaces<Dim>& known) {
  const auto count = static_cast<std::size_t>(bricks.count());
  std::vector<geometry::BrickMask<Dim>> filled(count);
  for (std::size_t a = 0; a < Dim; ++a) {
    for (int layer = 0; layer < layers; ++layer) {
      parallel_for(count, 8, [&](std::size_t b) {
        filled[b] = fill_brick(bricks, static_cast<int>(b), known.solved[a], velocity[a]);
      });
      for (std::size_t b = 0; b < count; ++b) {
        known.solved[a][b] |= filled[b];
        if (layer == 0) known.solved[a][b] |= known.flying[a][b];
      }
    }
  }
}

template <int Dim>
void respect_walls(const Grid<Dim>& grid, const Walls& walls,
                    std::span<const std::shared_ptr<const BrickWalls<Dim>>> samples, bool walls_hold,
                    PerAxis<std::vector<double>, Dim>& velocity) {
  using Block = geometry::Halo<Dim, double>;
  constexpr std::size_t cells = geometry::BrickSet<Dim>::cells;
  const PerAxis<std::vector<double>, Dim> given = velocity;
  parallel_for(samples.size(), 4, [&](std::size_t b) {
    if (samples[b]->closed.empty()) return;
    PerAxis<Block, Dim> blocks;
    for (std::size_t a = 0; a < Dim; ++a) blocks[a].load(*grid.bricks, static_cast<int>(b), given[a], 0.0);
    for (const auto& face : samples[b]->closed) {
      const std::size_t slot = b * cells + face.cell, a = face.axis;
      const int place = Block::of_local(face.cell);
      Vec<Dim> u;
      for (std::size_t i = 0; i < Dim; ++i) {
        const int up = Block::stride[i], back = Block::stride[a];
        u[static_cast<Eigen::Index>(i)] =
            i == a ? blocks[a][place]
                   : 0.25 * (blocks[i][place] + blocks[i][place + up] + blocks[i][place - back] +
                             blocks[i][place + up - back]);
      }
      if (walls.any_moving()) {
        Vec<Dim> middle = grid.corner(grid.bricks->cell(static_cast<std::int64_t>(slot)));
        for (std::size_t i = 0; i < Dim; ++i)
          middle[static_cast<Eigen::Index>(i)] += i == a ? 0 : 0.5 * grid.dx;
        u -= walls.velocity(in_space<Dim>(middle), face.wall).template head<Dim>();
      }
      const double outwards = u.dot(face.normal);
      if (outwards < 0 || walls_hold)
        velocity[a][slot] -= outwards * face.normal[static_cast<Eigen::Index>(a)];
    }
  });
}

template void extrapolate<2>(const geometry::BrickSet<2>&, int, PerAxis<std::vector<double>, 2>&,
                             KnownFaces<2>&);
template void extrapolate<3>(const geometry::BrickSet<3>&, int, PerAxis<std::vector<double>, 3>&,
                             KnownFaces<3>&);
template void respect_walls<2>(const Grid<2>&, const Walls&,
                                std::span<const std::shared_ptr<const BrickWalls<2>>>, bool,
                                PerAxis<std::vector<double>, 2>&);
template void respect_walls<3>(const Grid<3>&, const Walls&,
                                std::span<const std::shared_ptr<const BrickWalls<3>>>, bool,
                                PerAxis<std::vector<double>, 3>&);

}  // namespace lope::matter::liquid
