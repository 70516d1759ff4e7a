#include <lope/base/parallel.h>
#include <lope/matter/liquid/transfers.h>

#include <algorithm>

namespace lope::matter::liquid {
namespace {

// Where a point of a brick is among the values of the staggered components (axis < Dim) and of the cells'
// centres (axis = Dim): the lowest of the 2^Dim values around it, as a place in a halo, and how far it is
// from there to the next along each axis (0 … 1).
template <int Dim>
class Surroundings {
 public:
  using Block = geometry::Halo<Dim, double>;
  using Way = std::array<double, static_cast<std::size_t>(Dim)>;
  // `at`: position in cells from the lowest corner of the brick, 0 … 8 along each axis.
  explicit Surroundings(const Vec<Dim>& at) {
    constexpr int last = geometry::BrickSet<Dim>::side - 1;
    for (std::size_t a = 0; a < Dim; ++a) {
      const double x = at[static_cast<Eigen::Index>(a)];
      // Truncation is rounding down here: both numbers are positive.
      const int face = std::clamp(static_cast<int>(x), 0, last),
                centre = std::clamp(static_cast<int>(x + 0.5) - 1, -1, last);
      face_way_[a] = x - face;
      centre_way_[a] = x - 0.5 - centre;
      face_place_[a] = (face + 1) * Block::stride[a];
      centre_place_[a] = (centre + 1) * Block::stride[a];
    }
  }
  int place(std::size_t axis) const {
    int result = 0;
    for (std::size_t a = 0; a < Dim; ++a) result += a == axis ? face_place_[a] : centre_place_[a];
    return result;
  }
  Way way(std::size_t axis) const {
    Way result = centre_way_;
    if (axis < Dim) result[axis] = face_way_[axis];
    return result;
  }

 private:
  Way face_way_, centre_way_;
  std::array<int, static_cast<std::size_t>(Dim)> face_place_, centre_place_;
};

// A linearly interpolated value and its derivatives per cell, from the lowest of the values around.
template <int Dim>
struct Interpolated {
  double value;
  std::array<double, static_cast<std::size_t>(Dim)> slope;
};
template <int Dim, std::size_t n>
inline Interpolated<Dim> interpolate(const double* lowest, const std::array<double, n>& way) {
  constexpr std::size_t last = Dim - 1;
  constexpr int step = geometry::Halo<3, double>::stride[last];
  const double t = way[last];
  Interpolated<Dim> result;
  if constexpr (Dim == 1) {
    result.slope[0] = lowest[step] - lowest[0];
    result.value = lowest[0] + t * result.slope[0];
  } else {
    const auto low = interpolate<Dim - 1>(lowest, way), high = interpolate<Dim - 1>(lowest + step, way);
    result.slope[last] = high.value - low.value;
    result.value = low.value + t * result.slope[last];
    for (std::size_t k = 0; k < last; ++k)
      result.slope[k] = low.slope[k] + t * (high.slope[k] - low.slope[k]);
  }
  return result;
}

// The value alone.
template <int axes, std::size_t n>
inline double interpolated_value(const double* lowest, const std::array<double, n>& way) {
  if constexpr (axes == 0) {
    return *lowest;
  } else {
    constexpr std::size_t last = axes - 1;
    const double low = interpolated_value<last>(lowest, way),
                 high = interpolated_value<last>(lowest + geometry::Halo<3, double>::stride[last], way);
    return low + way[last] * (high - low);
  }
}

template <int Dim>
Vec<Dim> first_corner(const Grid<Dim>& grid, int brick) {
  Vec<Dim> result;
  const auto first = grid.bricks->first_cell(brick);
  for (int a = 0; a < Dim; ++a) result[a] = first[static_cast<std::size_t>(a)];
  return result;
}

// Weight and weighted velocity side by side: they are always written together.
struct Contribution {
  double weight = 0, momentum = 0;
};

template <int Dim>
struct Splat {
  PerAxis<geometry::Halo<Dim, Contribution>, Dim> faces;
  geometry::Halo<Dim, double> mass;

  void clear() {
    for (auto& values : faces) values.fill({});
    mass.fill(0);
  }
  void add(const Vec<Dim>& at, const Vec<Dim>& v, const Mat<Dim>& affine, double dx) {
    const Surroundings<Dim> around(at);
    for (std::size_t a = 0; a < Dim; ++a) {
      const Way way = around.way(a);
      // The particle's velocity at the lowest corner, and what it gains from there to the next along each
      // axis.
      Way slope;
      double lowest = v[static_cast<Eigen::Index>(a)];
      for (std::size_t k = 0; k < Dim; ++k) {
        slope[k] = dx * affine(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(k));
        lowest -= way[k] * slope[k];
      }
      add_velocity<Dim>(&faces[a][around.place(a)], way, slope, 1, lowest);
    }
    add_mass<Dim>(&mass[around.place(Dim)], around.way(Dim), 1);
  }

 private:
  using Way = typename Surroundings<Dim>::Way;
  // Splits a weight along the last of the axes that are left; the recursion keeps all numbers in registers.
  template <int axes>
  static void add_velocity(Contribution* face, const Way& way, const Way& slope, double weight, double u) {
    if constexpr (axes == 0) {
      face->weight += weight;
      face->momentum += weight * u;
    } else {
      constexpr std::size_t axis = axes - 1;
      const double upper = weight * way[axis];
      add_velocity<axis>(face, way, slope, weight - upper, u);
      add_velocity<axis>(face + geometry::Halo<Dim, Contribution>::stride[axis], way, slope, upper, u + slope[axis]);
    }
  }
  template <int axes>
  static void add_mass(double* cell, const Way& way, double weight) {
    if constexpr (axes == 0) {
      *cell += weight;
    } else {
      constexpr std::size_t axis = axes - 1;
      const double upper = weight * way[axis];
      add_mass<axis>(cell, way, weight - upper);
      add_mass<axis>(cell + geometry::Halo<Dim, double>::stride[axis], way, upper);
    }
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
  for (const std::vector<int>& color : geometry::parity_groups<Dim>(bricks)) {
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
          splat->faces[a].each_row(bricks, b, [&](const Contribution* from, std::int64_t to, int n) {
            if (to < 0) return;
            double* const weight = faces.weight[a].data() + to;
            double* const momentum = faces.velocity[a].data() + to;
            for (int i = 0; i < n; ++i) {
              weight[i] += from[i].weight;
              momentum[i] += from[i].momentum;
            }
          });
        }
        splat->mass.each_row(bricks, b, [&](const double* from, std::int64_t to, int n) {
          if (to < 0) return;
          for (int i = 0; i < n; ++i) mass[static_cast<std::size_t>(to + i)] += from[i];
        });
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
  const double per_cell = 1 / grid.dx;
  const bool apic = options.kind == VelocityTransfer::Apic;
  const auto& bricks = *grid.bricks;
  carried.resize(particles.size());
  parallel_chunks(static_cast<std::size_t>(bricks.count()), 4, [&](std::size_t begin, std::size_t end) {
    struct Blocks {
      PerAxis<geometry::Halo<Dim, double>, Dim> before, after;
    };
    auto blocks = std::make_unique<Blocks>();
    for (std::size_t b = begin; b < end; ++b) {
      if (grid.begin(b) == grid.end(b)) continue;
      for (std::size_t a = 0; a < Dim; ++a) {
        blocks->after[a].load(bricks, static_cast<int>(b), after[a], 0.0);
        if (!apic) blocks->before[a].load(bricks, static_cast<int>(b), before[a], 0.0);
      }
      const Vec<Dim> corner = first_corner(grid, static_cast<int>(b));
      for (std::uint32_t i = grid.begin(b); i < grid.end(b); ++i) {
        const Vec<Dim> at = grid.to_cells(particles.x[i]) - corner;
        const Surroundings<Dim> around(at);
        Vec<Dim> now, old = Vec<Dim>::Zero();
        for (std::size_t a = 0; a < Dim; ++a) {
          const auto row = static_cast<Eigen::Index>(a);
          const auto way = around.way(a);
          const int lowest = around.place(a);
          const Interpolated<Dim> u = interpolate<Dim>(&blocks->after[a][lowest], way);
          now[row] = u.value;
          if (!apic) old[row] = interpolated_value<Dim>(&blocks->before[a][lowest], way);
          for (std::size_t k = 0; k < Dim; ++k)
            particles.affine[i](row, static_cast<Eigen::Index>(k)) = apic ? per_cell * u.slope[k] : 0;
        }
        carried[i] = now;
        particles.v[i] = apic ? now : Vec<Dim>(now + options.flip * (particles.v[i] - old));
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
  const Vec<Dim> at = grid_.to_cells(x) - home_corner_;
  if (home_ < 0 || !(at.array() >= 0).all() || !(at.array() < Bricks::side).all())
    return sample_anywhere(x, v);
  const Surroundings<Dim> around(at);
  for (std::size_t a = 0; a < Dim; ++a)
    v[static_cast<Eigen::Index>(a)] = interpolated_value<Dim>(&near_[a][around.place(a)], around.way(a));
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
