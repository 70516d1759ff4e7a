#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/base/timer.h>
#include <lope/matter/liquid/particle_liquid.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::matter::liquid {
namespace {

constexpr std::size_t grain = 2048;
constexpr int most_substeps = 10000;  // of a step: beyond, something has blown up
constexpr double wall_margin = 0.1;   // cells that particles keep from walls
constexpr double crushed_depth =
    0.5;  // cells: a particle that cannot be brought nearer to the outside is lost
// An inner cell gives particles away above the first number of times its share, and gets one below the
// second.
constexpr double crowded_share = 2.0;
constexpr double empty_share = 0.3;

Vec3 middle_of(const geometry::Bounds& bounds) {
  Vec3 result = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    if (std::isfinite(bounds.min[a]) && std::isfinite(bounds.max[a])) result[a] = bounds.center()[a];
  }
  return result;
}

// Of a shape, cut off at the domain.
geometry::Bounds region_of(const geometry::LevelSet& shape, const geometry::Bounds& domain) {
  const geometry::Bounds own = shape.bounds();
  return {own.min.cwiseMax(domain.min), own.max.cwiseMin(domain.max)};
}

bool is_empty(const geometry::Bounds& bounds, int dimension) {
  return (bounds.max - bounds.min).head(dimension).minCoeff() < 0;
}

bool same(const geometry::RigidPose& a, const geometry::RigidPose& b) {
  return a.rotation == b.rotation && a.translation == b.translation;
}

template <int Dim>
geometry::Bounds box_of(const Particles<Dim>& particles) {
  geometry::Bounds box;
  for (const Vec<Dim>& x : particles.x) box.add(in_space<Dim>(x));
  return box;
}

}  // namespace

template <int Dim>
ParticleLiquid<Dim>::ParticleLiquid(const Description& description) : description_(description) {
  grid_.dx = description.dx;
  grid_.origin = description.origin.head<Dim>();
  pressure_grid_.dx = description.dx;
  displaced_.assign(description.walls.size(), false);
  const auto own = description.separating ? PressureMethod::TruncatedMultigrid : PressureMethod::LinearMultigrid;
  solver_ = pressure_solver<Dim>(description.solver.value_or(own));
}

template <int Dim>
State ParticleLiquid<Dim>::start(std::size_t* covered) const {
  State state;
  auto& particles = state.particles.template emplace<Particles<Dim>>();
  const Walls walls = place_walls(0, 0);
  std::size_t lost = 0;
  std::vector<geometry::LevelSetPtr> earlier;
  for (const Source& source : description_.sources) {
    const Vec3 centre = middle_of(source.shape->bounds());
    const geometry::Bounds region = region_of(*source.shape, description_.domain);
    if (is_empty(region, Dim)) continue;
    lost += fill_shape<Dim>(
        grid_, *source.shape, region, earlier, walls, seeding(),
        [&](const Vec3& x) { return Vec3(source.velocity + source.angular_velocity.cross(x - centre)); },
        particles);
    earlier.push_back(source.shape);
  }
  if (covered) *covered = lost;
  return state;
}

template <int Dim>
Report ParticleLiquid<Dim>::advance(State& state, double time, double h, const std::function<bool()>& stop_requested) {
  const Stopwatch watch;
  Report report;
  report.accepted = report.converged = true;
  auto& particles = std::get<Particles<Dim>>(state.particles);
  double done = 0;
  while (report.accepted && done < h * (1 - 1e-9)) {
    if (stop_requested && stop_requested()) {
      reject(report, "interrupted");
      report.interrupted = true;
      break;
    }
    const double left = h - done;
    const double fastest = expected_speed(particles, time + done, left);
    const double pieces = std::ceil(left * fastest / (description_.cfl * description_.dx) - 1e-9);
    if (!std::isfinite(pieces) || pieces > most_substeps || report.substeps >= most_substeps) {
      reject(report, fmt::format("particles move at {:.3g} m/s, too fast for cells of {:.3g} m", fastest,
                                 description_.dx));
      break;
    }
    const double dt = left / std::max(1.0, pieces);
    substep(state, particles, time + done, dt, report);
    done += dt;
    ++report.substeps;
  }
  measure(particles, report);
  report.seconds = watch.seconds();
  return report;
}

template <int Dim>
Walls ParticleLiquid<Dim>::place_walls(double time, double dt) const {
  std::vector<Wall> walls;
  for (const MovingWall& moving : description_.walls) {
    Wall wall{moving.at_rest, moving.pose(time), moving.pose(time + dt), dt};
    const geometry::RigidPose rest = moving.pose(0);
    wall.displaced = !same(wall.before, rest) || !same(wall.after, rest);
    walls.push_back(std::move(wall));
  }
  return Walls(std::move(walls));
}

template <int Dim>
double ParticleLiquid<Dim>::expected_speed(const Particles<Dim>& particles, double time, double h) const {
  double speed = largest_speed(particles.v) + std::sqrt(description_.gravity.norm() * description_.dx);
  for (const Emitter& emitter : description_.emitters) {
    if (time >= emitter.begin && time < emitter.end) speed = std::max(speed, emitter.velocity.norm());
  }
  return std::max(speed, way_of_walls(particles, time, h) / h);
}

template <int Dim>
double ParticleLiquid<Dim>::way_of_walls(const Particles<Dim>& particles, double time, double h) const {
  if (particles.size() == 0) return 0;
  double way = 0;
  geometry::Bounds box;
  for (const MovingWall& wall : description_.walls) {
    const geometry::RigidPose before = wall.pose(time), after = wall.pose(time + h);
    if (same(before, after)) continue;
    if (box.max.x() < box.min.x()) box = box_of(particles);
    for (int corner = 0; corner < 8; ++corner) {
      Vec3 x;
      for (int a = 0; a < 3; ++a) x[a] = (corner >> a) & 1 ? box.max[a] : box.min[a];
      way = std::max(way, h * geometry::carried_velocity(before, after, h, x).norm());
    }
  }
  return way;
}

template <int Dim>
void ParticleLiquid<Dim>::bin(Particles<Dim>& particles) {
  bin_particles(particles, std::min(layers() + 1, Bricks::side), grid_, sorting_);
  pressure_grid_.bricks = grid_.bricks;
}

template <int Dim>
void ParticleLiquid<Dim>::substep(State& state, Particles<Dim>& particles, double time, double dt, Report& report) {
  dt_ = dt;
  ++state.round;
  PartSeconds& seconds = report.part_seconds;
  const auto timed = [](double& part, const auto& work) {
    const ScopedTimer timer(part);
    work();
  };
  const Walls walls = place_walls(time, dt);
  timed(seconds.sorting, [&] {
    bin(particles);
    feed(particles, walls, time, report);
  });
  if (particles.size() == 0) {
    dt_ = 0;  // there is no grid
    return;
  }
  // The grid sees the walls where they were when the particles came to where they are: ahead of them, a wall would leave
  // a gap behind it and cover liquid before it.
  const Walls around = walls.at(Walls::Moment::Begin);
  wall_way_ = way_of_walls(particles, time, dt);
  timed(seconds.walls, [&] { sample_walls(around); });
  timed(seconds.to_grid, [&] {
    to_grid(grid_, particles, faces_, mass_);
    find_surface();
    give_unknown_faces();
    apply_gravity(dt);
    want_expansion<Dim>(fraction_, open_volume_, pressure_grid_.liquid, deep_, per_cell(), grid_.dx, dt,
                        pressure_grid_.expansion);
    drift_to_even<Dim>(*grid_.bricks, fraction_, pressure_grid_.open, deep_, per_cell(), grid_.dx, drift_,
                       brick_drifts_);
  });
  timed(seconds.pressure, [&] { solve_pressure(state, dt, report); });
  if (!report.accepted) return;
  timed(seconds.extension, [&] { extend_velocities(around); });
  timed(seconds.to_particles,
        [&] { to_particles(grid_, before_, after_, description_.transfer, particles, carried_); });
  timed(seconds.movement, [&] {
    carry(particles, walls, dt);
    exchange(particles, state.round, report);
    remove_lost(particles, walls, report);
  });
}

template <int Dim>
void ParticleLiquid<Dim>::apply_gravity(double dt) {
  before_ = faces_.velocity;
  for (std::size_t a = 0; a < Dim; ++a) {
    const double gain = dt * description_.gravity[static_cast<Eigen::Index>(a)];
    parallel_for(faces_.velocity[a].size(), grain, [&](std::size_t i) { faces_.velocity[a][i] += gain; });
    pressure_grid_.velocity[a].swap(faces_.velocity[a]);
  }
}

template <int Dim>
void ParticleLiquid<Dim>::feed(Particles<Dim>& particles, const Walls& walls, double time, Report& report) {
  std::size_t added = 0;
  for (const Emitter& emitter : description_.emitters) {
    if (time < emitter.begin || time >= emitter.end) continue;
    const geometry::Bounds region = region_of(*emitter.shape, description_.domain);
    if (is_empty(region, Dim)) continue;
    added += feed_emitter<Dim>(grid_, *emitter.shape, region, walls, seeding(), emitter.velocity, particles);
  }
  if (added > 0) bin(particles);
  report.emitted += added;
}

// The open parts of faces and cells: of bricks near displaced walls anew, of the others once.
template <int Dim>
void ParticleLiquid<Dim>::sample_walls(const Walls& walls) {
  const auto count = static_cast<std::size_t>(grid_.bricks->count());
  if (walls.displaced() != displaced_) {
    displaced_ = walls.displaced();
    rest_samples_.clear();
  }
  std::vector<std::uint8_t> keep(count, 1);
  samples_.assign(count, nullptr);
  parallel_for(count, 4, [&](std::size_t b) {
    const Vec<Dim> corner = grid_.corner(grid_.bricks->first_cell(static_cast<int>(b)));
    const Vec3 middle = in_space<Dim>(corner + Vec<Dim>::Constant(0.5 * Bricks::side * grid_.dx));
    keep[b] = !walls.displaced_within(middle, brick_reach<Dim>(grid_.dx));
    if (keep[b]) {
      const auto found = rest_samples_.find(grid_.bricks->brick(static_cast<int>(b)));
      if (found != rest_samples_.end()) samples_[b] = found->second;
    }
    if (!samples_[b]) samples_[b] = sample_brick<Dim>(walls, corner, grid_.dx);
  });
  std::map<Index, Sample> kept;
  for (std::size_t b = 0; b < count; ++b) {
    if (keep[b]) kept.emplace(grid_.bricks->brick(static_cast<int>(b)), samples_[b]);
  }
  rest_samples_.swap(kept);
  spread_samples(walls.any_moving());
}

template <int Dim>
void ParticleLiquid<Dim>::spread_samples(bool moving) {
  const auto count = static_cast<std::size_t>(grid_.bricks->count());
  constexpr std::size_t cells = Bricks::cells;
  open_volume_.resize(grid_.bricks->size());
  for (std::size_t a = 0; a < Dim; ++a) {
    pressure_grid_.open[a].resize(grid_.bricks->size());
    pressure_grid_.wall_velocity[a].resize(moving ? grid_.bricks->size() : 0);
  }
  brick_free_.assign(count, 1);
  brick_near_thin_.assign(count, 0);
  parallel_for(count, 8, [&](std::size_t b) {
    const BrickWalls<Dim>& sample = *samples_[b];
    const auto put = [&](const std::array<double, cells>& from, double otherwise, std::vector<double>& to) {
      const auto at = to.begin() + static_cast<std::ptrdiff_t>(b * cells);
      if (sample.free)
        std::fill_n(at, cells, otherwise);
      else
        std::copy(from.begin(), from.end(), at);
    };
    brick_free_[b] = sample.free;
    put(sample.volume, 1, open_volume_);
    for (std::size_t a = 0; a < Dim; ++a) {
      put(sample.open[a], 1, pressure_grid_.open[a]);
      if (moving) put(sample.face_velocity[a], 0, pressure_grid_.wall_velocity[a]);
    }
    for (const int n : grid_.bricks->neighbours(static_cast<int>(b)))
      if (n >= 0 && samples_[static_cast<std::size_t>(n)]->thin) brick_near_thin_[b] = 1;
  });
}

template <int Dim>
void ParticleLiquid<Dim>::find_surface() {
  open_kernel<Dim>(*grid_.bricks, open_volume_, brick_free_, open_kernel_);
  volume_fractions(mass_, open_kernel_, 1 / per_cell(), fraction_);
  share_fractions<Dim>(*grid_.bricks, mass_, open_kernel_, open_volume_, brick_free_, 1 / per_cell(), fraction_);
  surface_from(fraction_, grid_.dx, pressure_grid_.liquid);
  close_holes<Dim>(*grid_.bricks, open_volume_, grid_.dx, pressure_grid_.liquid, deep_);
}

// The faces of which test(axis, place) holds.
template <int Dim>
template <class Test>
void ParticleLiquid<Dim>::mark_faces(PerAxis<std::vector<geometry::BrickMask<Dim>>, Dim>& masks, const Test& test) const {
  const auto count = static_cast<std::size_t>(grid_.bricks->count());
  for (std::size_t a = 0; a < Dim; ++a) masks[a].resize(count);
  parallel_for(count, 8, [&](std::size_t b) {
    for (std::size_t a = 0; a < Dim; ++a)
      masks[a][b] = geometry::BrickMask<Dim>::of([&](std::size_t local) { return test(a, b * Bricks::cells + local); });
  });
}

// Open faces beside the liquid that no particle speaks for take the velocity of their neighbours.
template <int Dim>
void ParticleLiquid<Dim>::give_unknown_faces() {
  mark_faces(known_.solved, [&](std::size_t a, std::size_t i) { return faces_.weight[a][i] > 0; });
  mark_faces(known_.flying, [](std::size_t, std::size_t) { return false; });
  extrapolate(*grid_.bricks, 2, faces_.velocity, known_);
}

template <int Dim>
void ParticleLiquid<Dim>::extend_velocities(const Walls& walls) {
  mark_faces(known_.solved, [&](std::size_t a, std::size_t i) { return valid_[a][i] != 0; });
  mark_faces(known_.flying, [&](std::size_t a, std::size_t i) {
    return faces_.weight[a][i] > 0 && pressure_grid_.open[a][i] > 0;
  });
  extrapolate(*grid_.bricks, layers(), after_, known_);
  if (!walls.empty()) respect_walls<Dim>(grid_, walls, samples_, !description_.separating, after_);
}

// Takes particles out of crowded inner cells and puts them into inner cells with hardly any.
template <int Dim>
void ParticleLiquid<Dim>::exchange(Particles<Dim>& particles, std::int64_t round, Report& report) {
  std::vector<std::uint32_t> spare;
  std::vector<std::size_t> empty;
  const double share = per_cell();
  for (std::size_t b = 0; b < deep_.size(); ++b) {
    deep_[b].each([&](std::size_t local) {
      const std::size_t place = b * Bricks::cells + local;
      if (open_volume_[place] < 1) return;
      const std::uint32_t here = grid_.first[place + 1] - grid_.first[place];
      if (here <= empty_share * share) empty.push_back(place);
      if (here > crowded_share * share) spare.push_back(grid_.first[place + 1] - 1);
    });
  }
  const std::size_t count = std::min(spare.size(), empty.size());
  FaceSampler<Dim> sampler(grid_, after_);
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t i = spare[k];
    Vec<Dim> x = grid_.corner(grid_.bricks->cell(static_cast<std::int64_t>(empty[k])));
    for (int a = 0; a < Dim; ++a) {
      const auto index = (static_cast<std::uint64_t>(round) << 32) + Dim * k + static_cast<std::uint64_t>(a);
      x[a] += grid_.dx * random_unit(description_.seed ^ 0x5EED, index);
    }
    particles.x[i] = x;
    sampler.sample(x, particles.v[i]);
    particles.affine[i].setZero();
  }
  report.moved += count;
}

// Ralston's scheme of third order; then walls stop what would enter them.
template <int Dim>
void ParticleLiquid<Dim>::carry(Particles<Dim>& particles, const Walls& walls, double dt) const {
  const double margin = wall_margin * grid_.dx;
  parallel_for(static_cast<std::size_t>(grid_.bricks->count()), 2, [&](std::size_t b) {
    if (grid_.begin(b) == grid_.end(b)) return;
    FaceSampler<Dim> sampler(grid_, after_), drift(grid_, drift_);
    sampler.enter(static_cast<int>(b));
    if (brick_drifts_[b]) drift.enter(static_cast<int>(b));
    for (std::size_t cell = 0; cell < Bricks::cells; ++cell) {
      const std::size_t place = b * Bricks::cells + cell;
      const double free_way = way_to_walls(b, cell) - margin;
      for (std::uint32_t i = grid_.first[place]; i < grid_.first[place + 1]; ++i) {
        const Vec<Dim> x = particles.x[i], k1 = carried_[i];
        Vec<Dim> k2 = k1, k3 = k1;
        sampler.sample(x + 0.5 * dt * k1, k2);
        sampler.sample(x + 0.75 * dt * k2, k3);
        Vec<Dim> next = x + dt / 9 * (2 * k1 + 3 * k2 + 4 * k3), shift;
        if (brick_drifts_[b] && drift.sample(x, shift)) next += shift;
        if (!((next - x).norm() < free_way)) {
          if (brick_near_thin_[b])
            next = walls.stopped(in_space<Dim>(x), in_space<Dim>(next), 0.5 * margin).template head<Dim>();
          stop_at_wall(walls, margin, next, particles.v[i]);
        }
        particles.x[i] = next;
      }
    }
  });
}

// At least so far are walls from any point of a cell, at the end of the substep.
template <int Dim>
double ParticleLiquid<Dim>::way_to_walls(std::size_t brick, std::size_t cell) const {
  if (description_.walls.empty()) return std::numeric_limits<double>::infinity();
  const BrickWalls<Dim>& sample = *samples_[brick];
  return (sample.free ? 2 * grid_.dx : sample.distance[cell] - corner_reach<Dim>(grid_.dx)) - wall_way_;
}

template <int Dim>
void ParticleLiquid<Dim>::stop_at_wall(const Walls& walls, double margin, Vec<Dim>& x, Vec<Dim>& v) const {
  const Vec3 at = in_space<Dim>(x);
  const Walls::Nearest near = walls.nearest(at);
  if (near.distance >= margin) return;
  const Vec3 free = walls.push_out(at, margin), gradient = walls.sample(free, near.wall).gradient;
  const double length = gradient.norm();
  x = free.head<Dim>();
  if (!(length > 1e-6)) return;
  const Vec3 normal = gradient / length;
  const double inwards = (in_space<Dim>(v) - walls.velocity(free, near.wall)).dot(normal);
  if (inwards < 0) v -= inwards * normal.head<Dim>();
}

template <int Dim>
void ParticleLiquid<Dim>::remove_lost(Particles<Dim>& particles, const Walls& walls, Report& report) {
  const Vec<Dim> low = description_.domain.min.head<Dim>(), high = description_.domain.max.head<Dim>();
  std::vector<std::uint8_t> lost(particles.size(), 0);
  parallel_for(particles.size(), grain, [&](std::size_t i) {
    const Vec<Dim>& x = particles.x[i];
    const bool inside = (x.array() >= low.array()).all() && (x.array() <= high.array()).all();
    lost[i] = !inside || !particles.v[i].allFinite();
  });
  if (walls.any_displaced()) {
    parallel_for(static_cast<std::size_t>(grid_.bricks->count()), 2, [&](std::size_t b) {
      if (brick_free_[b] && wall_way_ < crushed_depth * grid_.dx) return;
      for (std::uint32_t i = grid_.begin(b); i < grid_.end(b); ++i)
        lost[i] |= walls.distance(in_space<Dim>(particles.x[i])) < -crushed_depth * grid_.dx;
    });
  }
  std::vector<std::uint32_t> order;
  if (std::none_of(lost.begin(), lost.end(), [](std::uint8_t l) { return l; })) return;
  for (std::size_t i = 0; i < lost.size(); ++i)
    if (!lost[i]) order.push_back(static_cast<std::uint32_t>(i));
  report.removed += particles.size() - order.size();
  reorder<Particles<Dim>>(particles, order, sorting_.spare);
}

template <int Dim>
void ParticleLiquid<Dim>::measure(const Particles<Dim>& particles, Report& report) const {
  const double mass = description_.density * particle_volume();
  report.particles = particles.size();
  report.volume = particle_volume() * static_cast<double>(particles.size());
  report.largest_speed = largest_speed(particles.v);
  const auto sum = [&](const auto& value) {
    return parallel_sum(particles.size(), grain, [&](std::size_t begin, std::size_t end) {
      double part = 0;
      for (std::size_t i = begin; i < end; ++i) part += value(i);
      return part;
    });
  };
  const Vec<Dim> g = description_.gravity.head<Dim>();
  report.kinetic = 0.5 * mass * sum([&](std::size_t i) { return particles.v[i].squaredNorm(); });
  report.potential = -mass * sum([&](std::size_t i) { return g.dot(particles.x[i]); });
  for (int a = 0; a < Dim; ++a)
    report.momentum[a] = mass * sum([&](std::size_t i) { return particles.v[i][a]; });
  if (particles.size() == 0) return;
  report.covered_volume = std::pow(grid_.dx, Dim) *
                          parallel_sum(fraction_.size(), grain, [&](std::size_t begin, std::size_t end) {
                            double part = 0;
                            for (std::size_t i = begin; i < end; ++i)
                              part += std::min(fraction_[i], 1.0) * open_volume_[i];
                            return part;
                          });
}

// The grid of a state that no step of this object has led to.
template <int Dim>
void ParticleLiquid<Dim>::look_at(const State& state, double time) {
  Particles<Dim> particles = std::get<Particles<Dim>>(state.particles);
  bin(particles);
  sample_walls(place_walls(time, 0));
  to_grid(grid_, particles, faces_, mass_);
  find_surface();
  pressure_grid_.velocity = after_ = faces_.velocity;
  pressure_grid_.expansion.clear();
  system_ = PressureSystem<Dim>(pressure_grid_, {.separating = description_.separating});
  recall_pressure(state, 1);
}

template class ParticleLiquid<2>;
template class ParticleLiquid<3>;

std::unique_ptr<Liquid> make_liquid(const Description& description) {
  if (description.dimension == 2) return std::make_unique<ParticleLiquid<2>>(description);
  return std::make_unique<ParticleLiquid<3>>(description);
}

}  // namespace lope::matter::liquid
