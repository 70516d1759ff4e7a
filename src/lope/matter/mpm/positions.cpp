#include <lope/base/parallel.h>
#include <lope/matter/mpm/positions.h>
#include <lope/matter/mpm/splines.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>

#include <Eigen/LU>

namespace lope::matter::mpm {
namespace {

constexpr int margin = 2;                        // cells that a point may go
constexpr int width = block_reach + 2 * margin;  // nodes along an axis around a block
constexpr double farthest = margin - 1e-6;       // cells, along each axis
constexpr double solved = 1e-8;                  // cells
constexpr int most_iterations = 20;
constexpr int most_halvings = 14;
constexpr int most_passes = 4;  // over obstacles that push one into another
constexpr int bisections = 50;
constexpr int most_projections = 8;
constexpr double rounding_depth = 1e-9;  // cells: what is not deeper is outside
constexpr double off_surface = 1e-12;  // cells that a point on a surface is away from it

// An obstacle in a step.
struct Moving {
  const geometry::LevelSet* shape;
  geometry::RigidPose before, after;
  Boundary kind;

  double value_before(const Vec3& x) const { return shape->value(before.unplace(x)); }
  double value_after(const Vec3& x) const { return shape->value(after.unplace(x)); }
  Vec3 carried(const Vec3& x) const { return after.place(before.unplace(x)); }
};

// What an obstacle says of a node inside it: v·normal ≥ velocity·normal, or = for those that let nothing go.
template <int Dim>
struct Hold {
  Boundary kind;
  Vec<Dim> normal, velocity;
  int next;  // of the same node, or −1
};

// The nodes around one block.
template <int Dim>
class Window {
 public:
  static constexpr int count = power<Dim>(width);

  void fill(const Grid<Dim>& grid, std::span<const double> velocity, std::span<const Moving> obstacles,
            double h, const typename Grid<Dim>::Index& corner);

  struct Field {
    Vec<Dim> v;
    Mat<Dim> slope;  // 1/s
  };
  // Of a point of this mass whose own motion is v + C (x − from).
  struct Point {
    double mass;
    Vec<Dim> from, v;
    Mat<Dim> C;
  };
  Field at(const Vec<Dim>& x, const Point& point) const;
  Point point(const Vec<Dim>& x, double mass) const;

 private:
  // visit(number in the window, the node's place, w, ∇w per cell).
  template <class Visit>
  void each(const Vec<Dim>& x, const Visit& visit) const;
  Vec<Dim> velocity_of(int node, const Vec<Dim>& place, const Point& point) const;
  void hold(const Grid<Dim>& grid, const Moving& obstacle, double h);

  double dx_ = 1;
  typename Grid<Dim>::Index first_{};
  std::array<Vec<Dim>, static_cast<std::size_t>(count)> v_;
  std::array<double, static_cast<std::size_t>(count)> mass_;
  std::array<int, static_cast<std::size_t>(count)> held_;  // the first of its holds, or −1
  std::vector<Hold<Dim>> holds_;
};

template <int Dim>
void Window<Dim>::fill(const Grid<Dim>& grid, std::span<const double> velocity,
                       std::span<const Moving> obstacles, double h, const typename Grid<Dim>::Index& corner) {
  dx_ = grid.dx();
  first_ = corner;
  for (int& c : first_) c -= margin;
  holds_.clear();
  held_.fill(-1);
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    auto node = first_;
    for (int a = Dim - 1, rest = k; a >= 0; --a, rest /= width)
      node[static_cast<std::size_t>(a)] += rest % width;
    const int number = grid.find(node);
    mass_[at] = number < 0 ? 0 : grid.masses()[static_cast<std::size_t>(number)];
    v_[at] = number < 0 ? Vec<Dim>(Vec<Dim>::Zero())
                        : Vec<Dim>(Eigen::Map<const Vec<Dim>>(velocity.data() +
                                                              static_cast<std::ptrdiff_t>(Dim) * number));
  }
  for (const Moving& obstacle : obstacles) hold(grid, obstacle, h);
}

template <int Dim>
void Window<Dim>::hold(const Grid<Dim>& grid, const Moving& obstacle, double h) {
  Vec<Dim> middle;
  for (int a = 0; a < Dim; ++a)
    middle[a] = grid.dx() * (first_[static_cast<std::size_t>(a)] + 0.5 * (width - 1));
  const double around = 0.5 * (width - 1) * grid.dx() * std::sqrt(1.0 * Dim);
  if (obstacle.shape->is_exact() && obstacle.value_before(in_space<Dim>(middle)) > around) return;
  for (int k = 0; k < count; ++k) {
    Vec<Dim> place;
    for (int a = Dim - 1, rest = k; a >= 0; --a, rest /= width)
      place[a] = grid.dx() * (first_[static_cast<std::size_t>(a)] + rest % width);
    const Vec3 x = in_space<Dim>(place), resting = obstacle.before.unplace(x);
    if (!(obstacle.shape->value(resting) < 0)) continue;
    const Vec<Dim> normal =
        (obstacle.after.rotation * obstacle.shape->sample(resting).gradient).template head<Dim>();
    const double size = normal.norm();
    if (!(size > 0) && obstacle.kind != Boundary::Sticky) continue;
    int& first = held_[static_cast<std::size_t>(k)];
    holds_.push_back({obstacle.kind, size > 0 ? Vec<Dim>(normal / size) : normal,
                      (obstacle.after.place(resting) - x).template head<Dim>() / h, first});
    first = static_cast<int>(holds_.size()) - 1;
  }
}

template <int Dim>
template <class Visit>
void Window<Dim>::each(const Vec<Dim>& x, const Visit& visit) const {
  Vec<Dim> from_first;
  int local = 0;
  for (int a = 0; a < Dim; ++a) {
    const int base = std::clamp(
        static_cast<int>(std::floor(x[a] / dx_ - 0.5)) - first_[static_cast<std::size_t>(a)], 0, width - 3);
    local = local * width + base;
    from_first[a] = x[a] / dx_ - first_[static_cast<std::size_t>(a)] - base;
  }
  const Spline<Dim> spline(from_first);
  const Vec<Dim> corner = x - dx_ * from_first;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if constexpr (Dim == 2) {
        visit(local + width * i + j, Vec2(corner + dx_ * Vec2(i, j)), spline.w[0][i] * spline.w[1][j],
              Vec2(spline.slope[0][i] * spline.w[1][j], spline.w[0][i] * spline.slope[1][j]));
      } else {
        const double both = spline.w[0][i] * spline.w[1][j];
        const double sx = spline.slope[0][i] * spline.w[1][j], sy = spline.w[0][i] * spline.slope[1][j];
        for (int k = 0; k < 3; ++k)
          visit(local + width * (width * i + j) + k, Vec3(corner + dx_ * Vec3(i, j, k)),
                both * spline.w[2][k],
                Vec3(sx * spline.w[2][k], sy * spline.w[2][k], both * spline.slope[2][k]));
      }
    }
  }
}

template <int Dim>
typename Window<Dim>::Point Window<Dim>::point(const Vec<Dim>& x, double mass) const {
  Point made{mass, x, Vec<Dim>::Zero(), Mat<Dim>::Zero()};
  each(x, [&](int node, const Vec<Dim>& place, double w, const Vec<Dim>&) {
    const Vec<Dim> weighted = w * v_[static_cast<std::size_t>(node)];
    made.v += weighted;
    made.C += weighted * (place - x).transpose();
  });
  made.C *= 4 / (dx_ * dx_);
  return made;
}

template <int Dim>
Vec<Dim> Window<Dim>::velocity_of(int node, const Vec<Dim>& place, const Point& point) const {
  const auto at = static_cast<std::size_t>(node);
  const double own = std::min(1.0, mass_[at] / point.mass);
  Vec<Dim> v = v_[at];
  if (own < 1) v = own * v + (1 - own) * (point.v + point.C * (place - point.from));
  for (int k = held_[at]; k >= 0; k = holds_[static_cast<std::size_t>(k)].next) {
    const Hold<Dim>& hold = holds_[static_cast<std::size_t>(k)];
    if (hold.kind == Boundary::Sticky) return hold.velocity;
    const double leaving = hold.normal.dot(v - hold.velocity);
    if (leaving < 0 || hold.kind == Boundary::Slip) v -= leaving * hold.normal;
  }
  return v;
}

template <int Dim>
typename Window<Dim>::Field Window<Dim>::at(const Vec<Dim>& x, const Point& point) const {
  Field field{Vec<Dim>::Zero(), Mat<Dim>::Zero()};
  each(x, [&](int node, const Vec<Dim>& place, double w, const Vec<Dim>& slope) {
    const Vec<Dim> v = velocity_of(node, place, point);
    field.v += w * v;
    field.slope += v * (slope / dx_).transpose();
  });
  return field;
}

template <int Dim>
Vec<Dim> within_reach(const Vec<Dim>& x, const Vec<Dim>& from, double dx) {
  Vec<Dim> way = x - from;
  for (int a = 0; a < Dim; ++a) way[a] = std::clamp(way[a], -farthest * dx, farthest * dx);
  return from + way;
}

// False: the residual stays above what counts as solved.
template <int Dim>
bool solve(const Window<Dim>& window, const typename Window<Dim>::Point& point, double h, double dx,
           Vec<Dim>& x) {
  const auto residual = [&](const Vec<Dim>& at, const typename Window<Dim>::Field& field) -> Vec<Dim> {
    return at - point.from - h * field.v;
  };
  x = point.from;
  auto field = window.at(x, point);
  Vec<Dim> r = residual(x, field);
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (r.norm() <= solved * dx) return true;
    Vec<Dim> step = -(Mat<Dim>::Identity() - h * field.slope).partialPivLu().solve(r);
    if (!step.allFinite()) step = -r;
    const Vec<Dim> from = x;
    const double size = r.norm();
    double length = 1;
    for (int halving = 0; halving <= most_halvings; ++halving, length *= 0.5) {
      x = within_reach<Dim>(from + length * step, point.from, dx);
      field = window.at(x, point);
      r = residual(x, field);
      if (r.norm() <= size) break;
    }
  }
  return r.norm() <= solved * dx;
}

// The last point that is outside on the way from one that is.
Vec3 stop(const Moving& obstacle, Vec3 outside, Vec3 inside) {
  for (int k = 0; k < bisections; ++k) {
    const Vec3 middle = 0.5 * (outside + inside);
    (obstacle.value_after(middle) < 0 ? inside : outside) = middle;
  }
  return outside;
}

// Out along the normals; false: that does not lead out.
bool push_out(const Moving& obstacle, double dx, Vec3& x) {
  for (int k = 0; k < most_projections; ++k) {
    const geometry::LevelSetSample sample = obstacle.shape->sample(obstacle.after.unplace(x));
    if (sample.value >= 0) return true;
    const double square = sample.gradient.squaredNorm();
    if (!(square > 0)) return false;
    x += obstacle.after.rotation * sample.gradient * ((off_surface * dx - sample.value) / square);
  }
  return obstacle.value_after(x) >= 0;
}

// Rounding is no depth: a point that was stopped at a surface lies on it, and the pose of an obstacle at the same time may differ in its last digits from one
// substep to the next.
bool was_inside(const Moving& obstacle, const Vec3& from, double dx) {
  return obstacle.value_before(from) < -rounding_depth * dx;
}

// False: it was not in the way.
bool keep_out(const Moving& obstacle, const Vec3& from, double dx, bool flat, Vec3& x) {
  if (!(obstacle.value_after(x) < 0) || was_inside(obstacle, from, dx)) return false;
  Vec3 start = obstacle.carried(from);
  push_out(obstacle, dx, start);  // where turning it has left it inside by rounding
  Vec3 pushed = x;
  const bool out = obstacle.kind != Boundary::Sticky && push_out(obstacle, dx, pushed);
  x = out ? pushed : stop(obstacle, start, x);
  if (flat) x[2] = 0;
  return true;
}

// True: something was in the way.
bool keep_out(std::span<const Moving> obstacles, const Vec3& from, double dx, bool flat, Vec3& x) {
  bool stopped = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool moved = false;
    for (const Moving& obstacle : obstacles) moved |= keep_out(obstacle, from, dx, flat, x);
    if (!moved) return stopped;
    stopped = true;
  }
  // Obstacles that push it into one another: it stays where it was, if that is free.
  const bool free = std::all_of(obstacles.begin(), obstacles.end(), [&](const Moving& obstacle) {
    return obstacle.value_after(from) >= 0 || was_inside(obstacle, from, dx);
  });
  if (free) x = from;
  return true;
}

}  // namespace

template <int Dim>
PositionCounts backward_positions(const Grid<Dim>& grid, const World& world, std::span<const Boundary> kinds,
                                  double time, double h, std::span<const double> velocity,
                                  const Particles<Dim>& particles, std::vector<Vec<Dim>>& where) {
  std::vector<Moving> obstacles;
  for (std::size_t k = 0; k < world.obstacles.size(); ++k) {
    const Obstacle& obstacle = world.obstacles[k];
    obstacles.push_back({obstacle.shape.get(), obstacle.pose(time), obstacle.pose(time + h), kinds[k]});
  }
  where.resize(particles.size());
  std::atomic<std::int64_t> unsolved = 0, stopped = 0;
  parallel_chunks(grid.blocks().size(), 1, [&](std::size_t begin, std::size_t end) {
    const auto around = std::make_unique<Window<Dim>>();
    std::int64_t unsolved_here = 0, stopped_here = 0;
    for (std::size_t b = begin; b < end; ++b) {
      const auto& block = grid.blocks()[b];
      around->fill(grid, velocity, obstacles, h, block.corner);
      for (std::size_t p = block.begin; p < block.end; ++p) {
        const auto point = around->point(particles.x[p], particles.mass[p]);
        unsolved_here += !solve<Dim>(*around, point, h, grid.dx(), where[p]);
        Vec3 x = in_space<Dim>(where[p]);
        if (!keep_out(obstacles, in_space<Dim>(point.from), grid.dx(), Dim == 2, x)) continue;
        where[p] = x.template head<Dim>();
        ++stopped_here;
      }
    }
    unsolved += unsolved_here;
    stopped += stopped_here;
  });
  return {unsolved, stopped};
}

template PositionCounts backward_positions<2>(const Grid<2>&, const World&, std::span<const Boundary>, double,
                                              double, std::span<const double>, const Particles<2>&,
                                              std::vector<Vec2>&);
template PositionCounts backward_positions<3>(const Grid<3>&, const World&, std::span<const Boundary>, double,
                                              double, std::span<const double>, const Particles<3>&,
                                              std::vector<Vec3>&);

}  // namespace lope::matter::mpm
