#include <lope/geometry/level_set/combined.h>
#include <lope/matter/liquid/cut_cells.h>
#include <lope/matter/liquid/walls.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::matter::liquid {
namespace {

// As fractions of a cell: what counts as touching, and as lying on the surface.
constexpr double touching = 1e-3;
constexpr double on_surface = 1e-9;

}  // namespace

Walls::Walls(std::vector<Wall> walls, Moment moment) : walls_(std::move(walls)), moment_(moment) {
  for (const Wall& wall : walls_) {
    placed_.push_back(geometry::moved(wall.at_rest, moment == Moment::End ? wall.after : wall.before));
    Velocity& velocity = velocities_.emplace_back();
    if (wall.moving()) {
      const Mat3 turn = wall.after.rotation * wall.before.rotation.transpose();
      const Vec3 shift = wall.after.translation - turn * wall.before.translation;
      velocity.turn = (turn - turn.transpose()) / (2 * wall.duration);
      velocity.shift = (shift + turn.transpose() * shift) / (2 * wall.duration);
    }
    any_displaced_ = any_displaced_ || wall.displaced;
    any_moving_ = any_moving_ || wall.moving();
  }
}

Walls Walls::standing() const {
  std::vector<Wall> rest;
  std::copy_if(walls_.begin(), walls_.end(), std::back_inserter(rest),
               [](const Wall& s) { return !s.moving(); });
  return Walls(std::move(rest), moment_);
}

int Walls::nearest_moving(const Vec3& x) const {
  Nearest best{std::numeric_limits<double>::infinity(), -1};
  for (std::size_t k = 0; k < placed_.size(); ++k) {
    if (!walls_[k].moving()) continue;
    const double value = placed_[k]->value(x);
    if (value < best.distance) best = {value, static_cast<int>(k)};
  }
  return best.wall;
}

std::vector<bool> Walls::displaced() const {
  std::vector<bool> result;
  for (const Wall& wall : walls_) result.push_back(wall.displaced);
  return result;
}

Walls::Nearest Walls::nearest(const Vec3& x) const {
  Nearest best{std::numeric_limits<double>::infinity(), -1};
  for (std::size_t k = 0; k < placed_.size(); ++k) {
    const double value = placed_[k]->value(x);
    if (value < best.distance) best = {value, static_cast<int>(k)};
  }
  return best;
}

bool Walls::displaced_within(const Vec3& x, double reach) const {
  for (std::size_t k = 0; k < placed_.size(); ++k) {
    if (walls_[k].displaced && placed_[k]->value(x) <= reach) return true;
  }
  return false;
}

Vec3 Walls::velocity(const Vec3& x, int wall) const {
  const Velocity& velocity = velocities_[index(wall)];
  return velocity.turn * x + velocity.shift;
}

Vec3 Walls::push_out(const Vec3& x, double distance) const {
  constexpr int most_rounds = 4;  // corners between several walls need more than one
  Vec3 y = x;
  for (int round = 0; round < most_rounds; ++round) {
    const Nearest near = nearest(y);
    if (near.distance >= distance) return y;
    const geometry::LevelSetSample at = sample(y, near.wall);
    const double slope = at.gradient.squaredNorm();
    if (!(slope > 1e-6)) return y;
    y += (distance - at.value) / slope * at.gradient;
  }
  return y;
}

namespace {

// The first point of the way from a to b where gap(point) is not more than `distance`, as a fraction of it.
template <class Gap>
double march(const Vec3& a, const Vec3& b, double distance, const Gap& gap) {
  constexpr int most_rounds = 32;
  const double length = (b - a).norm();
  double way = 0;
  for (int round = 0; round < most_rounds && way < length; ++round) {
    const double here = gap(Vec3(a + (way / length) * (b - a)));
    if (here <= distance && round > 0) return way / length;
    way += std::max(here - 0.5 * distance, 0.5 * distance);
  }
  return 1;
}

}  // namespace

double Walls::first_hit(const Vec3& a, const Vec3& b, double distance) const {
  return march(a, b, distance, [&](const Vec3& x) { return nearest(x).distance; });
}

Vec3 Walls::stopped(const Vec3& a, const Vec3& b, double distance) const {
  double least = 1;
  Vec3 end = b;
  for (std::size_t k = 0; k < placed_.size(); ++k) {
    const Wall& wall = walls_[k];
    // Where a point that goes with the wall would come to.
    const Vec3 start = wall.moving() ? wall.after.place(wall.before.unplace(a)) : a;
    const double way = march(start, b, distance, [&](const Vec3& x) { return placed_[k]->value(x); });
    if (way >= least) continue;
    least = way;
    end = start + way * (b - start);
  }
  return end;
}

namespace {

// The distances at the corners of the cells of a brick and what follows from them.
template <int Dim>
class BrickSampler {
 public:
  BrickSampler(const Walls& walls, const Vec<Dim>& corner, double dx, BrickWalls<Dim>& out)
      : walls_(walls), corner_(corner), dx_(dx), out_(out) {}

  void run() {
    for (int k = 0; k < node_count; ++k) {
      const double value = walls_.distance(in_space<Dim>(corner_ + dx_ * node(k).template cast<double>()));
      nodes_[static_cast<std::size_t>(k)] = std::abs(value) < on_surface * dx_ ? 0 : value;
    }
    for (int k = 0; k < static_cast<int>(BrickWalls<Dim>::cells); ++k) cell(k);
    for (int k = 0; k < static_cast<int>(BrickWalls<Dim>::cells); ++k) {
      for (int a = 0; a < Dim; ++a) closed_face(k, a);
    }
  }

  // `standing`: the open parts of the same brick without the walls that move.
  void find_velocities(const BrickWalls<Dim>& standing) {
    for (int k = 0; k < static_cast<int>(BrickWalls<Dim>::cells); ++k) {
      const auto slot = static_cast<std::size_t>(k);
      for (int axis = 0; axis < Dim; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const double open = out_.open[a][slot], before = standing.free ? 1 : standing.open[a][slot];
        if (!(before > open)) continue;
        const Vec3 middle = in_space<Dim>(face_point(split(k, size), axis, Vec<Dim>::Constant(0.5)));
        const Vec3 velocity = walls_.velocity(middle, walls_.nearest_moving(middle));
        out_.face_velocity[a][slot] = velocity[axis] * (before - open) / (1 - open);
      }
    }
  }

 private:
  static constexpr int size = geometry::BrickSet<Dim>::side;
  static constexpr int node_size = size + 1;
  static constexpr int node_count = Dim == 2 ? node_size * node_size : node_size * node_size * node_size;
  static constexpr std::size_t corners = std::size_t{1} << Dim;
  using Index = Eigen::Matrix<int, Dim, 1>;

  static Index node(int k) { return split(k, node_size); }
  static Index split(int k, int base) {
    Index result;
    for (int a = 0; a < Dim; ++a, k /= base) result[a] = k % base;
    return result;
  }
  static std::size_t node_number(const Index& i) {
    int number = 0;
    for (int a = Dim - 1; a >= 0; --a) number = number * node_size + i[a];
    return static_cast<std::size_t>(number);
  }

  void cell(int k) {
    const Index at = split(k, size);
    const auto slot = static_cast<std::size_t>(k);
    std::array<double, corners> values;
    for (std::size_t c = 0; c < corners; ++c) {
      Index corner = at;
      for (int a = 0; a < Dim; ++a) corner[a] += static_cast<int>(c >> a) & 1;
      values[c] = nodes_[node_number(corner)];
    }
    out_.volume[slot] = open_part_of_cell<Dim>(values);
    out_.distance[slot] = *std::min_element(values.begin(), values.end());
    for (int a = 0; a < Dim; ++a) face(at, a, values, slot);
  }

  void face(const Index& at, int axis, const std::array<double, corners>& values, std::size_t slot) {
    const auto a = static_cast<std::size_t>(axis);
    std::array<double, corners / 2> on_face;
    double nearest = std::numeric_limits<double>::infinity();
    std::size_t n = 0;
    for (std::size_t c = 0; c < corners; ++c) {
      if ((c >> axis) & 1) continue;
      on_face[n++] = values[c];
      nearest = std::min(nearest, values[c]);
    }
    double open = 1;
    if constexpr (Dim == 2)
      open = open_part_of_edge(on_face[0], on_face[1]);
    else
      open = open_part_of_square(on_face);
    if (open > 0 && nearest < dx_) open = std::min(open, 1 - blocked_part(at, axis));
    if (open < 1 && !out_.thin) out_.thin = free_on_both_sides(at, axis);
    out_.open[a][slot] = open;
  }

  void closed_face(int k, int axis) {
    constexpr double deepest = 1.5;  // cells
    if (out_.open[static_cast<std::size_t>(axis)][static_cast<std::size_t>(k)] > 0) return;
    const Vec3 x = in_space<Dim>(face_point(split(k, size), axis, Vec<Dim>::Constant(0.5)));
    const Walls::Nearest near = walls_.nearest(x);
    if (near.distance < -deepest * dx_) return;
    const Vec3 gradient = walls_.sample(x, near.wall).gradient;
    const double length = gradient.norm();
    if (!(length > 1e-6)) return;
    out_.closed.push_back({static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(axis), near.wall,
                           gradient.template head<Dim>() / length});
  }

  // `within`: the place in the face as fractions of it; the component along the axis does not matter.
  Vec<Dim> face_point(const Index& at, int axis, Vec<Dim> within) const {
    within[axis] = 0;
    return corner_ + dx_ * (at.template cast<double>() + within);
  }

  // The part of a face that thin walls beside it close.
  double blocked_part(const Index& at, int axis) const {
    constexpr int samples = 1 << (Dim - 1);
    int blocked = 0;
    for (int s = 0; s < samples; ++s) {
      Vec<Dim> within = Vec<Dim>::Zero();
      int bit = 0;
      for (int a = 0; a < Dim; ++a) {
        if (a != axis) within[a] = (s >> bit++) & 1 ? 0.75 : 0.25;
      }
      blocked += thin_beside(in_space<Dim>(face_point(at, axis, within)), axis) ? 1 : 0;
    }
    return static_cast<double>(blocked) / samples;
  }

  bool free_on_both_sides(const Index& at, int axis) const {
    const Vec3 middle = in_space<Dim>(face_point(at, axis, Vec<Dim>::Constant(0.5))),
               along = dx_ * Vec3::Unit(axis);
    return walls_.distance(middle - along) > 0 && walls_.distance(middle + along) > 0;
  }

  bool thin_beside(const Vec3& x, int axis) const {
    const double here = walls_.distance(x);
    if (here >= corner_reach<Dim>(dx_)) return false;
    const Vec3 along = dx_ * Vec3::Unit(axis);
    for (const double side : {-1.0, 1.0}) {
      const Vec3 far = x + side * along;
      const double there = walls_.distance(far);
      // The distances to a wall between both ends cannot add up to more than the way.
      if (there <= touching * dx_ || here + there > (1 + 1e-9) * dx_) continue;
      const double near_end = walls_.first_hit(x, far, touching * dx_);
      if (near_end >= 1) continue;
      const double far_end = 1 - walls_.first_hit(far, x, touching * dx_);
      // A plate midway between two faces closes the upper one.
      const double middle = 0.5 * (near_end + far_end);
      if (middle < 0.5 || (middle == 0.5 && side < 0)) return true;
    }
    return false;
  }

  const Walls& walls_;
  Vec<Dim> corner_;
  double dx_;
  BrickWalls<Dim>& out_;
  std::array<double, node_count> nodes_{};
};

}  // namespace

template <int Dim>
double brick_reach(double dx) {
  return (0.5 * geometry::BrickSet<Dim>::side * std::sqrt(1.0 * Dim) + 2) * dx;
}

template <int Dim>
std::shared_ptr<const BrickWalls<Dim>> sample_brick(const Walls& walls, const Vec<Dim>& corner,
                                                     double dx) {
  static const auto free = std::make_shared<const BrickWalls<Dim>>();
  const double half = 0.5 * geometry::BrickSet<Dim>::side * dx, reach = brick_reach<Dim>(dx);
  const double at_centre = walls.distance(in_space<Dim>(corner + Vec<Dim>::Constant(half)));
  if (at_centre > reach) return free;
  auto result = std::make_shared<BrickWalls<Dim>>();
  result->free = false;
  for (auto& values : result->face_velocity) values.fill(0);
  if (at_centre < -reach) {
    for (auto& values : result->open) values.fill(0);
    result->volume.fill(0);
    result->distance.fill(-reach);
    return result;
  }
  BrickSampler<Dim> sampler(walls, corner, dx, *result);
  sampler.run();
  if (walls.any_moving()) sampler.find_velocities(*sample_brick<Dim>(walls.standing(), corner, dx));
  return result;
}

template double brick_reach<2>(double);
template double brick_reach<3>(double);
template std::shared_ptr<const BrickWalls<2>> sample_brick<2>(const Walls&, const Vec<2>&, double);
template std::shared_ptr<const BrickWalls<3>> sample_brick<3>(const Walls&, const Vec<3>&, double);

}  // namespace lope::matter::liquid
