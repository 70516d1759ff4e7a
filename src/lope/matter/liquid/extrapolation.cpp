#include <lope/base/parallel.h>
#include <lope/matter/liquid/extrapolation.h>

#include <algorithm>

namespace lope::matter::liquid {
namespace {

struct Filled {
  std::size_t place;
  double value;
};

// The faces of one brick that can be filled in one layer.
template <int Dim>
void fill_brick(const geometry::BrickSet<Dim>& bricks, int brick, bool first_layer,
                const std::vector<double>& velocity, const std::vector<FaceState>& state,
                std::vector<Filled>& out) {
  using Block = Halo<Dim, double>;
  constexpr int cells = geometry::BrickSet<Dim>::cells;
  const auto wanted = [first_layer](FaceState s) {
    return s == FaceState::Unknown || (first_layer && s == FaceState::Particles);
  };
  const auto source = [first_layer](FaceState s) {
    return s == FaceState::Solved || (!first_layer && s == FaceState::Particles);
  };
  const auto begin = state.begin() + std::ptrdiff_t{brick} * cells;
  if (std::none_of(begin, begin + cells, wanted)) return;
  Halo<Dim, FaceState> states;
  states.load(bricks, brick, state, FaceState::Unknown);
  Block values;
  bool loaded = false;
  for (int k = 0; k < cells; ++k) {
    const int place = Block::of_local(k);
    if (!wanted(states[place])) continue;
    double sum = 0;
    int count = 0;
    for (std::size_t a = 0; a < Dim; ++a) {
      for (const int step : {-Block::stride[a], Block::stride[a]}) {
        if (!source(states[place + step])) continue;
        if (!loaded) values.load(bricks, brick, velocity, 0.0);
        loaded = true;
        sum += values[place + step];
        ++count;
      }
    }
    if (count > 0)
      out.push_back({static_cast<std::size_t>(brick) * cells + static_cast<std::size_t>(k), sum / count});
  }
}

}  // namespace

template <int Dim>
void extrapolate(const geometry::BrickSet<Dim>& bricks, int layers,
                 PerAxis<std::vector<double>, Dim>& velocity, PerAxis<std::vector<FaceState>, Dim>& state) {
  const auto count = static_cast<std::size_t>(bricks.count());
  constexpr std::ptrdiff_t cells = geometry::BrickSet<Dim>::cells;
  std::vector<std::vector<Filled>> filled(count);
  std::vector<std::uint8_t> knows(count);  // bricks with some known face
  for (std::size_t a = 0; a < Dim; ++a) {
    parallel_for(count, 8, [&](std::size_t b) {
      const auto begin = state[a].begin() + static_cast<std::ptrdiff_t>(b) * cells;
      knows[b] = std::any_of(begin, begin + cells, [](FaceState s) { return s != FaceState::Unknown; });
    });
    for (int layer = 0; layer < layers; ++layer) {
      parallel_for(count, 8, [&](std::size_t b) {
        filled[b].clear();
        const auto around = bricks.neighbours(static_cast<int>(b));
        if (std::any_of(around.begin(), around.end(),
                        [&](int n) { return n >= 0 && knows[static_cast<std::size_t>(n)]; }))
          fill_brick(bricks, static_cast<int>(b), layer == 0, velocity[a], state[a], filled[b]);
      });
      parallel_for(count, 8, [&](std::size_t b) {
        for (const Filled& face : filled[b]) {
          velocity[a][face.place] = face.value;
          state[a][face.place] = FaceState::Solved;
        }
        if (!filled[b].empty()) knows[b] = 1;
      });
    }
  }
}

template <int Dim>
void respect_solids(const Grid<Dim>& grid, const Solids& solids, std::span<const std::uint8_t> brick_free,
                    const PerAxis<std::vector<double>, Dim>& open, bool walls_hold,
                    PerAxis<std::vector<double>, Dim>& velocity) {
  using Block = Halo<Dim, double>;
  constexpr int cells = geometry::BrickSet<Dim>::cells;
  const double deepest = -1.5 * grid.dx;
  const PerAxis<std::vector<double>, Dim> given = velocity;
  parallel_for(static_cast<std::size_t>(grid.bricks->count()), 4, [&](std::size_t b) {
    if (brick_free[b]) return;
    PerAxis<Block, Dim> blocks;
    for (std::size_t a = 0; a < Dim; ++a) blocks[a].load(*grid.bricks, static_cast<int>(b), given[a], 0.0);
    for (int k = 0; k < cells; ++k) {
      const std::size_t slot = b * cells + static_cast<std::size_t>(k);
      const int place = Block::of_local(k);
      for (std::size_t a = 0; a < Dim; ++a) {
        if (open[a][slot] > 0) continue;
        Vec<Dim> middle = grid.corner(grid.bricks->cell(static_cast<std::int64_t>(slot)));
        for (int i = 0; i < Dim; ++i) middle[i] += i == static_cast<int>(a) ? 0 : 0.5 * grid.dx;
        const Vec3 x = in_space<Dim>(middle);
        const Solids::Nearest near = solids.nearest(x);
        if (near.solid < 0 || near.distance < deepest) continue;
        const Vec3 gradient = solids.sample(x, near.solid).gradient;
        const double length = gradient.norm();
        if (!(length > 1e-6)) continue;
        const Vec3 normal = gradient / length;
        Vec3 u = Vec3::Zero();
        for (std::size_t i = 0; i < Dim; ++i) {
          const int up = Block::stride[i], back = Block::stride[a];
          u[static_cast<Eigen::Index>(i)] =
              i == a ? blocks[a][place]
                     : 0.25 * (blocks[i][place] + blocks[i][place + up] + blocks[i][place - back] +
                               blocks[i][place + up - back]);
        }
        const double outwards = (u - solids.velocity(x, near.solid)).dot(normal);
        if (outwards < 0 || walls_hold) velocity[a][slot] -= outwards * normal[static_cast<Eigen::Index>(a)];
      }
    }
  });
}

template void extrapolate<2>(const geometry::BrickSet<2>&, int, PerAxis<std::vector<double>, 2>&,
                             PerAxis<std::vector<FaceState>, 2>&);
template void extrapolate<3>(const geometry::BrickSet<3>&, int, PerAxis<std::vector<double>, 3>&,
                             PerAxis<std::vector<FaceState>, 3>&);
template void respect_solids<2>(const Grid<2>&, const Solids&, std::span<const std::uint8_t>,
                                const PerAxis<std::vector<double>, 2>&, bool,
                                PerAxis<std::vector<double>, 2>&);
template void respect_solids<3>(const Grid<3>&, const Solids&, std::span<const std::uint8_t>,
                                const PerAxis<std::vector<double>, 3>&, bool,
                                PerAxis<std::vector<double>, 3>&);

}  // namespace lope::matter::liquid
