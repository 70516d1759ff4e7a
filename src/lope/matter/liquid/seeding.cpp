#include <lope/base/random.h>
#include <lope/matter/liquid/seeding.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace lope::matter::liquid {
namespace {

constexpr double calm_depth = 2.0;    // cells below the surface in which the lattice stays regular
constexpr double jitter = 0.1;        // of the lattice's spacing, to either side
constexpr double emitter_gap = 0.95;  // of the spacing, that a new particle keeps from others
constexpr double fitted_rows = 8;     // below a flat face, over which the lattice is shifted to fit it

// Visits the centres of the sub-cells of a box, brick by brick, without those bricks that the shape leaves
// empty. visit(sub-cell's number as integers, its centre).
template <int Dim, class Visit>
void each_sub_cell(const Grid<Dim>& grid, const geometry::LevelSet& shape, const geometry::Bounds& region,
                   int per_axis, const Visit& visit) {
  constexpr int n = geometry::BrickSet<Dim>::side;
  using Index = geometry::GridIndex<Dim>;
  const Index low = geometry::BrickSet<Dim>::brick_of(grid.cell_of(region.min.template head<Dim>()));
  const Index high = geometry::BrickSet<Dim>::brick_of(grid.cell_of(region.max.template head<Dim>()));
  const double spacing = grid.dx / per_axis, half = 0.5 * n * grid.dx;
  const double reach = half * std::sqrt(1.0 * Dim);
  Index brick = low;
  const auto next = [](Index& at, const Index& first, const Index& last) {
    for (std::size_t a = 0; a < Dim; ++a) {
      if (++at[a] <= last[a]) return true;
      at[a] = first[a];
    }
    return false;
  };
  do {
    Index cell;
    for (std::size_t a = 0; a < Dim; ++a) cell[a] = brick[a] * n;
    const Vec<Dim> corner = grid.corner(cell);
    if (shape.value(in_space<Dim>(corner + Vec<Dim>::Constant(half))) > reach) continue;
    Index first{}, last, sub{};
    last.fill(n * per_axis - 1);
    do {
      Vec<Dim> x;
      Index number;
      for (int a = 0; a < Dim; ++a) {
        const auto k = static_cast<std::size_t>(a);
        x[a] = corner[a] + (sub[k] + 0.5) * spacing;
        number[k] = cell[k] * per_axis + sub[k];
      }
      visit(number, x);
    } while (next(sub, first, last));
  } while (next(brick, low, high));
}

// How far it is from a point inside a shape to its surface along a direction; infinite beyond `most`.
double way_out(const geometry::LevelSet& shape, const Vec3& x, const Vec3& direction, double most) {
  const double touching = 1e-6 * most, shortest_step = 1e-3 * most;  // the latter along a face very near
  for (double way = 0; way <= most;) {
    const double depth = -shape.value(x + way * direction);
    if (depth <= touching) return way;
    way += std::max(depth, shortest_step);
  }
  return std::numeric_limits<double>::infinity();
}

// How far a lattice point moves so that the rows below flat faces parallel to the grid begin half a spacing
// below them: all rows have the same offset from such a face, and the lower ones follow less and less.
template <int Dim>
Vec3 shift_to_faces(const geometry::LevelSet& shape, const Vec3& x, double spacing) {
  const double most = fitted_rows * spacing;
  Vec3 shift = Vec3::Zero();
  for (int a = 0; a < Dim; ++a) {
    double nearest = most;
    for (const double side : {-1.0, 1.0}) {
      const Vec3 direction = side * Vec3::Unit(a);
      const double way = way_out(shape, x, direction, nearest);
      if (!(way < nearest)) continue;
      if (shape.sample(x + (way - 1e-3 * spacing) * direction).gradient.dot(direction) < 1 - 1e-6) continue;
      nearest = way;
      shift[a] = side * (std::fmod(way, spacing) - 0.5 * spacing) * (1 - way / most);
    }
  }
  return shift;
}

template <int Dim>
std::uint64_t sub_cell_key(const geometry::GridIndex<Dim>& number) {
  std::uint64_t key = 0;
  for (std::size_t a = 0; a < Dim; ++a)
    key = key * 0x200000 + (static_cast<std::uint64_t>(number[a]) & 0x1FFFFF);
  return key;
}

}  // namespace

template <int Dim>
std::size_t fill_shape(const Grid<Dim>& grid, const geometry::LevelSet& shape, const geometry::Bounds& region,
                       std::span<const geometry::LevelSetPtr> earlier, const Walls& walls,
                       const Seeding& seeding, const std::function<Vec3(const Vec3&)>& velocity,
                       Particles<Dim>& particles) {
  const double spacing = grid.dx / seeding.per_axis;
  std::size_t covered = 0;
  each_sub_cell(grid, shape, region, seeding.per_axis,
                [&](const geometry::GridIndex<Dim>& number, const Vec<Dim>& at) {
                  Vec<Dim> x = at;
                  const double depth = -shape.value(in_space<Dim>(x));
                  if (!(depth > 0)) return;
                  if (std::any_of(earlier.begin(), earlier.end(),
                                  [&](const auto& other) { return other->value(in_space<Dim>(at)) < 0; }))
                    return;
                  if (shape.is_exact() && depth < fitted_rows * spacing)
                    x += shift_to_faces<Dim>(shape, in_space<Dim>(at), spacing).template head<Dim>();
                  if (depth > calm_depth * grid.dx) {
                    const std::uint64_t key = sub_cell_key<Dim>(number);
                    for (int a = 0; a < Dim; ++a)
                      x[a] += jitter * spacing *
                              (2 * random_unit(seeding.seed, 3 * key + static_cast<std::uint64_t>(a)) - 1);
                  }
                  if (!walls.empty() && walls.distance(in_space<Dim>(x)) <= 0) {
                    ++covered;
                    return;
                  }
                  particles.add(x, velocity(in_space<Dim>(x)).template head<Dim>());
                });
  return covered;
}

template <int Dim>
std::size_t feed_emitter(const Grid<Dim>& grid, const geometry::LevelSet& shape,
                         const geometry::Bounds& region, const Walls& walls, const Seeding& seeding,
                         const Vec3& velocity, Particles<Dim>& particles) {
  const double spacing = grid.dx / seeding.per_axis;
  const auto sub_cell_of = [&](const Vec<Dim>& x) {
    geometry::GridIndex<Dim> number;
    for (int a = 0; a < Dim; ++a)
      number[static_cast<std::size_t>(a)] = static_cast<int>(std::floor((x[a] - grid.origin[a]) / spacing));
    return number;
  };
  const double half = 0.5 * geometry::BrickSet<Dim>::side * grid.dx,
               reach = half * std::sqrt(1.0 * Dim) + grid.dx;
  std::unordered_multimap<std::uint64_t, Vec<Dim>> near;  // particles in and around the emitter by sub-cell
  for (int b = 0; b < grid.bricks->count(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    if (grid.begin(k) == grid.end(k)) continue;
    const Vec<Dim> corner = grid.corner(grid.bricks->first_cell(b));
    if (shape.value(in_space<Dim>(corner + Vec<Dim>::Constant(half))) > reach) continue;
    for (std::uint32_t i = grid.begin(k); i < grid.end(k); ++i) {
      near.emplace(sub_cell_key<Dim>(sub_cell_of(particles.x[i])), particles.x[i]);
      if (shape.value(in_space<Dim>(particles.x[i])) > 0) continue;
      particles.v[i] = velocity.template head<Dim>();
      particles.affine[i].setZero();
    }
  }
  const auto has_room = [&](const geometry::GridIndex<Dim>& number, const Vec<Dim>& x) {
    using Bricks = geometry::BrickSet<Dim>;
    for (int k = 0; k < Bricks::around; ++k) {
      const auto [begin, end] = near.equal_range(sub_cell_key<Dim>(Bricks::shifted(number, k)));
      for (auto it = begin; it != end; ++it) {
        if ((it->second - x).norm() < emitter_gap * spacing) return false;
      }
    }
    return true;
  };
  const std::size_t before = particles.size();
  each_sub_cell(grid, shape, region, seeding.per_axis,
                [&](const geometry::GridIndex<Dim>& number, const Vec<Dim>& x) {
                  if (shape.value(in_space<Dim>(x)) > 0 || !has_room(number, x)) return;
                  if (!walls.empty() && walls.distance(in_space<Dim>(x)) <= 0) return;
                  particles.add(x, velocity.template head<Dim>());
                });
  return particles.size() - before;
}

template std::size_t fill_shape<2>(const Grid<2>&, const geometry::LevelSet&, const geometry::Bounds&,
                                   std::span<const geometry::LevelSetPtr>, const Walls&, const Seeding&,
                                   const std::function<Vec3(const Vec3&)>&, Particles<2>&);
template std::size_t fill_shape<3>(const Grid<3>&, const geometry::LevelSet&, const geometry::Bounds&,
                                   std::span<const geometry::LevelSetPtr>, const Walls&, const Seeding&,
                                   const std::function<Vec3(const Vec3&)>&, Particles<3>&);
template std::size_t feed_emitter<2>(const Grid<2>&, const geometry::LevelSet&, const geometry::Bounds&,
                                     const Walls&, const Seeding&, const Vec3&, Particles<2>&);
template std::size_t feed_emitter<3>(const Grid<3>&, const geometry::LevelSet&, const geometry::Bounds&,
                                     const Walls&, const Seeding&, const Vec3&, Particles<3>&);

}  // namespace lope::matter::liquid
