#include <lope/base/parallel.h>
#include <lope/matter/liquid/transfers.h>

#include <algorithm>

namespace lope::matter::liquid {
namespace {

// Where a particle is among the values of a staggered component (axis < Dim) or of the centres (axis = Dim):
// the lowest of the 2^Dim values around it, as a place in a halo, and the weights of the lower and the upper
// ones along each axis.
template <int Dim>
struct Stencil {
  int place = 0;
  std::array<std::array<double, 2>, static_cast<std::size_t>(Dim)> weight;

  static constexpr std::size_t corners = std::size_t{1} << Dim;
  static constexpr std::array<int, corners> offset = [] {
    std::array<int, corners> result{};
    for (std::size_t c = 0; c < corners; ++c) {
      for (std::size_t a = 0; a < Dim; ++a) result[c] += ((c >> a) & 1) ? Halo<Dim, double>::stride[a] : 0;
    }
    return result;
  }();

  // `at`: position in cells from the lowest corner of the brick.
  Stencil(const Vec<Dim>& at, int axis) {
    constexpr int last = geometry::BrickSet<Dim>::side - 1;
    for (int a = 0; a < Dim; ++a) {
      const double s = a == axis ? at[a] : at[a] - 0.5;
      const int base = std::clamp(static_cast<int>(std::floor(s)), a == axis ? 0 : -1, last);
      weight[static_cast<std::size_t>(a)] = {1 - (s - base), s - base};
      place += (base + 1) * Halo<Dim, double>::stride[static_cast<std::size_t>(a)];
    }
  }
  // The product of the weights of a corner along all axes but one (Dim: along all).
  double product(std::size_t corner, std::size_t without = Dim) const {
    double w = 1;
    for (std::size_t a = 0; a < Dim; ++a) {
      if (a != without) w *= weight[a][(corner >> a) & 1];
    }
    return w;
  }
};

template <int Dim>
Vec<Dim> first_corner(const Grid<Dim>& grid, int brick) {
  Vec<Dim> result;
  const auto first = grid.bricks->first_cell(brick);
  for (int a = 0; a < Dim; ++a) result[a] = first[static_cast<std::size_t>(a)];
  return result;
}

template <int Dim>
struct Splat {
  PerAxis<Halo<Dim, double>, Dim> momentum, weight;
  Halo<Dim, double> mass;

  void clear() {
    for (auto& values : momentum) values.fill(0);
    for (auto& values : weight) values.fill(0);
    mass.fill(0);
  }
  void add(const Vec<Dim>& at, const Vec<Dim>& v, const Mat<Dim>& affine, double dx) {
    using Around = Stencil<Dim>;
    for (std::size_t a = 0; a < Dim; ++a) {
      const Around stencil(at, static_cast<int>(a));
      // The particle's velocity at the lowest corner, and what it gains per cell along each axis.
      std::array<double, Dim> slope;
      double lowest = v[static_cast<Eigen::Index>(a)];
      for (std::size_t k = 0; k < Dim; ++k) {
        slope[k] = dx * affine(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(k));
        lowest -= stencil.weight[k][1] * slope[k];
      }
      for (std::size_t c = 0; c < Around::corners; ++c) {
        const double w = stencil.product(c);
        double u = lowest;
        for (std::size_t k = 0; k < Dim; ++k) u += ((c >> k) & 1) ? slope[k] : 0;
        const int place = stencil.place + Around::offset[c];
        weight[a][place] += w;
        momentum[a][place] += w * u;
      }
    }
    const Around stencil(at, Dim);
    for (std::size_t c = 0; c < Around::corners; ++c)
      mass[stencil.place + Around::offset[c]] += stencil.product(c);
  }
};

}  // namespace

template <int Dim>
void to_grid(const Grid<Dim>& grid, const Particles<Dim>& particles, FaceField<Dim>& faces,
             std::vector<double>& mass) {
  const auto& bricks = *grid.bricks;
  for (std::size_t a = 0; a < Dim; ++a) {
    faces.velocity[a].assign(bricks.size(), 0.0);
    faces.weight[a].assign(bricks.size(), 0.0);
  }
  mass.assign(bricks.size(), 0.0);
  for (const std::vector<int>& color : halo_colors(bricks)) {
    parallel_chunks(color.size(), 4, [&](std::size_t begin, std::size_t end) {
      auto splat = std::make_unique<Splat<Dim>>();
      for (std::size_t k = begin; k < end; ++k) {
        const int b = color[k];
        const auto first = grid.begin(static_cast<std::size_t>(b)),
                   last = grid.end(static_cast<std::size_t>(b));
        if (first == last) continue;
        splat->clear();
        const Vec<Dim> corner = first_corner(grid, b);
        for (std::uint32_t i = first; i < last; ++i) {
          splat->add(grid.to_cells(particles.x[i]) - corner, particles.v[i], particles.affine[i], grid.dx);
        }
        for (std::size_t a = 0; a < Dim; ++a) {
          splat->momentum[a].add_to(bricks, b, faces.velocity[a]);
          splat->weight[a].add_to(bricks, b, faces.weight[a]);
        }
        splat->mass.add_to(bricks, b, mass);
      }
    });
  }
  for (std::size_t a = 0; a < Dim; ++a) {
    parallel_for(bricks.size(), 4096, [&](std::size_t i) {
      double& w = faces.weight[a][i];
      if (w < least_weight) w = 0;
      faces.velocity[a][i] = w > 0 ? faces.velocity[a][i] / w : 0;
    });
  }
}

template <int Dim>
void to_particles(const Grid<Dim>& grid, const PerAxis<std::vector<double>, Dim>& before,
                  const PerAxis<std::vector<double>, Dim>& after, const TransferOptions& options,
                  Particles<Dim>& particles, std::vector<Vec<Dim>>& carried) {
  using Around = Stencil<Dim>;
  const double per_cell = 1 / grid.dx;
  const auto& bricks = *grid.bricks;
  carried.resize(particles.size());
  parallel_chunks(static_cast<std::size_t>(bricks.count()), 4, [&](std::size_t begin, std::size_t end) {
    struct Blocks {
      PerAxis<Halo<Dim, double>, Dim> before, after;
    };
    auto blocks = std::make_unique<Blocks>();
    for (std::size_t b = begin; b < end; ++b) {
      if (grid.begin(b) == grid.end(b)) continue;
      for (std::size_t a = 0; a < Dim; ++a) {
        blocks->after[a].load(bricks, static_cast<int>(b), after[a], 0.0);
        if (!options.apic) blocks->before[a].load(bricks, static_cast<int>(b), before[a], 0.0);
      }
      const Vec<Dim> corner = first_corner(grid, static_cast<int>(b));
      for (std::uint32_t i = grid.begin(b); i < grid.end(b); ++i) {
        const Vec<Dim> at = grid.to_cells(particles.x[i]) - corner;
        Vec<Dim> now = Vec<Dim>::Zero(), old = Vec<Dim>::Zero();
        Mat<Dim>& affine = particles.affine[i];
        affine.setZero();
        for (std::size_t a = 0; a < Dim; ++a) {
          const Around stencil(at, static_cast<int>(a));
          const auto row = static_cast<Eigen::Index>(a);
          for (std::size_t c = 0; c < Around::corners; ++c) {
            const int place = stencil.place + Around::offset[c];
            const double w = stencil.product(c), u = blocks->after[a][place];
            now[row] += w * u;
            if (options.apic) {
              for (std::size_t k = 0; k < Dim; ++k) {
                const double slope = stencil.product(c, k) * u * per_cell;
                affine(row, static_cast<Eigen::Index>(k)) += ((c >> k) & 1) ? slope : -slope;
              }
            } else {
              old[row] += w * blocks->before[a][place];
            }
          }
        }
        carried[i] = now;
        particles.v[i] = options.apic ? now : Vec<Dim>(now + options.flip * (particles.v[i] - old));
      }
    }
  });
}

template <int Dim>
void FaceSampler<Dim>::enter(int brick) {
  home_ = brick;
  home_corner_ = first_corner(grid_, brick);
  for (std::size_t a = 0; a < Dim; ++a) near_[a].load(*grid_.bricks, brick, velocity_[a], 0.0);
}

template <int Dim>
bool FaceSampler<Dim>::sample(const Vec<Dim>& x, Vec<Dim>& v) {
  using Around = Stencil<Dim>;
  const Vec<Dim> at = grid_.to_cells(x) - home_corner_;
  if (home_ < 0 || !(at.array() >= 0).all() || !(at.array() < Bricks::side).all())
    return sample_anywhere(x, v);
  for (std::size_t a = 0; a < Dim; ++a) {
    const Around stencil(at, static_cast<int>(a));
    double sum = 0;
    for (std::size_t c = 0; c < Around::corners; ++c)
      sum += stencil.product(c) * near_[a][stencil.place + Around::offset[c]];
    v[static_cast<Eigen::Index>(a)] = sum;
  }
  return true;
}

template <int Dim>
bool FaceSampler<Dim>::sample_anywhere(const Vec<Dim>& x, Vec<Dim>& v) {
  constexpr int n = Bricks::side;
  const int number = grid_.bricks->find(Bricks::brick_of(grid_.cell_of(x)));
  if (number < 0) return false;
  const auto around = grid_.bricks->neighbours(number);
  const Vec<Dim> at = grid_.to_cells(x) - first_corner(grid_, number);
  Vec<Dim> result = Vec<Dim>::Zero();
  for (int a = 0; a < Dim; ++a) {
    // Per axis: the two local cells on either side, the offset of their bricks, the weight.
    std::array<std::array<int, 2>, 3> local{}, entry{};
    std::array<std::array<double, 2>, 3> weight{};
    int three = 1, stride = 1;
    for (int k = 0; k < Dim; ++k, three *= 3, stride *= n) {
      const auto kk = static_cast<std::size_t>(k);
      const double s = k == a ? at[k] : at[k] - 0.5;
      const int base = std::clamp(static_cast<int>(std::floor(s)), -1, n - 1);
      for (int side = 0; side < 2; ++side) {
        const int c = base + side, shift = c < 0 ? -1 : c >= n ? 1 : 0;
        local[kk][static_cast<std::size_t>(side)] = (c - shift * n) * stride;
        entry[kk][static_cast<std::size_t>(side)] = (shift + 1) * three;
      }
      weight[kk] = {1 - (s - base), s - base};
    }
    const std::vector<double>& field = velocity_[static_cast<std::size_t>(a)];
    double sum = 0;
    for (std::size_t c = 0; c < (std::size_t{1} << Dim); ++c) {
      int neighbour = 0, place = 0;
      double w = 1;
      for (std::size_t k = 0; k < Dim; ++k) {
        const std::size_t side = (c >> k) & 1;
        neighbour += entry[k][side];
        place += local[k][side];
        w *= weight[k][side];
      }
      const int where = around[static_cast<std::size_t>(neighbour)];
      if (where >= 0)
        sum += w * field[static_cast<std::size_t>(where) * Bricks::cells + static_cast<std::size_t>(place)];
    }
    result[a] = sum;
  }
  v = result;
  return true;
}

template void to_grid<2>(const Grid<2>&, const Particles<2>&, FaceField<2>&, std::vector<double>&);
template void to_particles<2>(const Grid<2>&, const PerAxis<std::vector<double>, 2>&,
                              const PerAxis<std::vector<double>, 2>&, const TransferOptions&, Particles<2>&,
                              std::vector<Vec<2>>&);
template class FaceSampler<2>;
template void to_grid<3>(const Grid<3>&, const Particles<3>&, FaceField<3>&, std::vector<double>&);
template void to_particles<3>(const Grid<3>&, const PerAxis<std::vector<double>, 3>&,
                              const PerAxis<std::vector<double>, 3>&, const TransferOptions&, Particles<3>&,
                              std::vector<Vec<3>>&);
template class FaceSampler<3>;

}  // namespace lope::matter::liquid
