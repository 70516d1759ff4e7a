#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/geometry/level_set/grid_surface.h>
#include <lope/geometry/level_set/openvdb_registry.h>
#include <lope/geometry/level_set/particle_surface.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/core.h>
#include <openvdb/openvdb.h>

namespace lope::geometry {
namespace {

using Grid = openvdb::FloatGrid;
using Leaf = Grid::TreeType::LeafNodeType;
using Eigen::Vector3f;
using Cell = std::array<int, 3>;

constexpr int leaf_side = 8;  // voxels of a leaf of OpenVDB
constexpr float band = 1.5f;  // φ is known to ± this many voxels, evenly: the filter must not favour a side
constexpr double wall_layer = 0.75;           // spacings from a wall where φ is continued
constexpr double kernel_moment = 16.0 / 315;  // ∫₀¹ (1 − s²)³ s² ds
// Random places of the particles make |x − x̄| too long; this part of the variance that they would have were
// they independent is taken off (they are not quite: each has its eighth of a cell; measured).
constexpr float noise_part = 0.5f;
constexpr float lone_filling = 0.15f;  // of the kernel, below which particles count as drops
constexpr float drop_radius = 0.95f;   // voxels, at least
constexpr int most_cells = 1 << 20;    // of the lattice, to each side of the origin

// --- The profile of |x − x̄| above a half space, lengths in R
// -----------------------------------------------------------------------------------------

// Integrated over planes the kernel is (1 − s²)⁴; its integrals above s, without and with the factor s.
double profile(double s) {
  const double s2 = s * s;
  const auto primitive = [](double x) {
    const double x2 = x * x;
    return x * (1 + x2 * (-4.0 / 3 + x2 * (6.0 / 5 + x2 * (-4.0 / 7 + x2 / 9))));
  };
  const double weight = primitive(1) - primitive(s);
  return weight > 1e-12 ? std::pow(1 - s2, 5) / 10 / weight : s;
}

// f⁻¹ by table; beyond its ends (deep inside, and where f is close to s) continued with slope 1.
class Distance {
 public:
  Distance() {
    for (int i = 0; i <= steps; ++i) {
      const double wanted = lowest + (highest - lowest) * i / steps;
      double below = -1, above = 0.999;
      for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (below + above);
        (profile(middle) < wanted ? below : above) = middle;
      }
      table_[static_cast<std::size_t>(i)] = static_cast<float>(0.5 * (below + above));
    }
  }
  float operator()(float offset) const {
    const float u = (offset - lowest) * (steps / (highest - lowest));
    if (u <= 0) return table_.front() + (offset - lowest);
    if (u >= steps) return table_.back() + (offset - highest);
    const auto i = static_cast<std::size_t>(u);
    const float t = u - static_cast<float>(i);
    return (1 - t) * table_[i] + t * table_[i + 1];
  }

 private:
  static constexpr int steps = 256;
  static constexpr float lowest = 0.02f, highest = 0.9f;
  std::array<float, steps + 1> table_;
};

// --- Particles in cells
// -----------------------------------------------------------------------------------------

std::uint64_t key_of(const Cell& cell) {
  std::uint64_t key = 0;
  for (const int c : cell) key = key << 21 | static_cast<std::uint64_t>(c + most_cells);
  return key;
}
Cell cell_of(std::uint64_t key) {
  Cell cell;
  for (int k = 2; k >= 0; --k, key >>= 21) {
    cell[static_cast<std::size_t>(k)] = static_cast<int>(key & ((1u << 21) - 1)) - most_cells;
  }
  return cell;
}

// Particles sorted by blocks of the lattice: cubes of `side` metres, in the order of their keys and inside a
// block in the order given.
struct Blocks {
  double side = 0;
  std::vector<std::uint32_t> order;   // particles
  std::vector<std::uint64_t> keys;    // of the blocks that hold any, ascending
  std::vector<std::uint32_t> starts;  // first particle of each, and the end
  // One bit for each of the 4³ parts of a block that holds a particle.
  std::vector<std::uint64_t> occupied;
  std::unordered_map<std::uint64_t, std::uint32_t> number;

  Cell block_of(const Vec3& x) const {
    Cell cell;
    for (int k = 0; k < 3; ++k) cell[static_cast<std::size_t>(k)] = static_cast<int>(std::floor(x[k] / side));
    return cell;
  }
};

Blocks sort_into_blocks(std::span<const Vec3> particles, double side) {
  Blocks blocks;
  blocks.side = side;
  std::vector<std::uint64_t> keys(particles.size());
  parallel_for(particles.size(), 4096,
               [&](std::size_t i) { keys[i] = key_of(blocks.block_of(particles[i])); });
  blocks.order.resize(particles.size());
  std::iota(blocks.order.begin(), blocks.order.end(), 0u);
  std::stable_sort(blocks.order.begin(), blocks.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < blocks.order.size(); ++i) {
    const std::uint64_t key = keys[blocks.order[i]];
    if (!blocks.keys.empty() && blocks.keys.back() == key) continue;
    blocks.number.emplace(key, static_cast<std::uint32_t>(blocks.keys.size()));
    blocks.keys.push_back(key);
    blocks.starts.push_back(static_cast<std::uint32_t>(i));
  }
  blocks.starts.push_back(static_cast<std::uint32_t>(blocks.order.size()));
  blocks.occupied.assign(blocks.keys.size(), 0);
  for (std::size_t b = 0; b < blocks.keys.size(); ++b) {
    const Cell block = cell_of(blocks.keys[b]);
    for (std::uint32_t i = blocks.starts[b]; i < blocks.starts[b + 1]; ++i) {
      int part = 0;
      for (int k = 0; k < 3; ++k) {
        const double inside = particles[blocks.order[i]][k] / side - block[static_cast<std::size_t>(k)];
        part = 4 * part + std::clamp(static_cast<int>(4 * inside), 0, 3);
      }
      blocks.occupied[b] |= std::uint64_t{1} << part;
    }
  }
  return blocks;
}

std::optional<Error> check(std::span<const Vec3> particles, const ParticleSurfaceOptions& options,
                           double voxel) {
  if (!(std::isfinite(options.spacing) && options.spacing > 0)) {
    return Error{fmt::format("the spacing of the particles is {}; it must be a positive number of metres",
                             options.spacing)};
  }
  if (!(voxel >= 0.2 * options.spacing && voxel <= 0.6 * options.spacing)) {
    return Error{
        fmt::format("voxels of {} m do not suit particles {} m apart; choose a fifth to three fifths of that",
                    voxel, options.spacing)};
  }
  if (!(options.radius >= 1 && options.radius <= 3) || !(options.reach > 0) || options.smoothing < 0) {
    return Error{
        "a surface from particles needs a radius of 1 to 3 spacings, a positive reach and no negative "
        "smoothing"};
  }
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (particles[i].allFinite() && particles[i].cwiseAbs().maxCoeff() < 0.9 * most_cells * voxel) continue;
    return Error{
        fmt::format("particle {} at ({:g}, {:g}, {:g}) is no place for a particle with a spacing of {} m", i,
                    particles[i][0], particles[i][1], particles[i][2], options.spacing)};
  }
  return std::nullopt;
}

}  // namespace

LevelSetSample nearest_wall(std::span<const PlacedWall> walls, const Vec3& x) {
  LevelSetSample result;
  result.value = 1e300;
  for (const PlacedWall& wall : walls) {
    const Vec3 at_rest = wall.pose.unplace(x);
    if (wall.shape->value(at_rest) >= result.value) continue;
    const LevelSetSample own = wall.shape->sample(at_rest);
    result.value = own.value;
    result.gradient = wall.pose.rotation * own.gradient;
  }
  return result;
}

struct ParticleSurface::State {
  std::vector<Vec3> particles;
  Blocks blocks;  // as wide as the leaves of the grid
  double voxel = 0, radius = 0;
  Grid::Ptr grid;

  Expected<void> build(const ParticleSurfaceOptions& options);
  bool is_deep(const Leaf& leaf) const;
  void fill(Leaf& leaf, std::vector<float>& filling, const ParticleSurfaceOptions& options) const;
  std::vector<Leaf*> leaves() const;
  void smooth(const std::vector<Leaf*>& all);
  void take_in_walls(const ParticleSurfaceOptions& options);

  // The particles that may be within R of a box of the lattice, in a fixed order.
  template <class Visit>
  void each_near(const Vec3& low, const Vec3& high, const Visit& visit) const {
    const Cell first = blocks.block_of(low - Vec3::Constant(radius)),
               last = blocks.block_of(high + Vec3::Constant(radius));
    for (int i = first[0]; i <= last[0]; ++i) {
      for (int j = first[1]; j <= last[1]; ++j) {
        for (int k = first[2]; k <= last[2]; ++k) {
          const auto found = blocks.number.find(key_of({i, j, k}));
          if (found == blocks.number.end()) continue;
          for (std::uint32_t p = blocks.starts[found->second]; p < blocks.starts[found->second + 1]; ++p) {
            visit(blocks.order[p]);
          }
        }
      }
    }
  }
};

// Whether all parts of the leaf's block and of its neighbours hold particles: no surface comes near.
bool ParticleSurface::State::is_deep(const Leaf& leaf) const {
  const openvdb::Coord corner = leaf.origin();
  for (int n = 0; n < 27; ++n) {
    const Cell block{corner[0] / leaf_side + n / 9 - 1, corner[1] / leaf_side + n / 3 % 3 - 1,
                     corner[2] / leaf_side + n % 3 - 1};
    const auto found = blocks.number.find(key_of(block));
    if (found == blocks.number.end() || ~blocks.occupied[found->second] != 0) return false;
  }
  return true;
}

// Sums of the kernel over the particles for the voxels of one leaf, then the distance; and how well the
// kernel is filled, 1 where it lies in the midst of the liquid.
void ParticleSurface::State::fill(Leaf& leaf, std::vector<float>& filling,
                                  const ParticleSurfaceOptions& options) const {
  static const Distance distance;
  filling.assign(Leaf::SIZE, 1.0f);
  if (is_deep(leaf)) {
    leaf.fill(static_cast<float>(-band * voxel), true);
    return;
  }
  constexpr std::size_t size = Leaf::SIZE;
  std::array<float, size> weight{}, square{}, scatter{}, nearest;
  std::array<Vector3f, size> mean;
  mean.fill(Vector3f::Zero());
  nearest.fill(1e30f);
  const openvdb::Coord origin = leaf.origin();
  const Vec3 corner = voxel * Vec3(origin[0], origin[1], origin[2]);
  const auto R = static_cast<float>(radius / voxel);
  // Lengths in voxels from here on, relative to the leaf's first voxel.
  each_near(corner, corner + Vec3::Constant(voxel * (leaf_side - 1)), [&](std::uint32_t p) {
    const Vector3f x = ((particles[p] - corner) / voxel).cast<float>();
    int low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      low[k] = std::max(0, static_cast<int>(std::ceil(x[k] - R)));
      high[k] = std::min(leaf_side - 1, static_cast<int>(std::floor(x[k] + R)));
    }
    for (int i = low[0]; i <= high[0]; ++i) {
      for (int j = low[1]; j <= high[1]; ++j) {
        for (int k = low[2]; k <= high[2]; ++k) {
          const Vector3f offset =
              x - Vector3f(static_cast<float>(i), static_cast<float>(j), static_cast<float>(k));
          const float d2 = offset.squaredNorm(), t = 1 - d2 / (R * R);
          if (t <= 0) continue;
          const auto v = static_cast<std::size_t>((i * leaf_side + j) * leaf_side + k);
          const float w = t * t * t;
          weight[v] += w;
          square[v] += w * w;
          scatter[v] += w * w * d2;
          mean[v] += w * offset;
          nearest[v] = std::min(nearest[v], d2);
        }
      }
    }
  });
  const auto h = static_cast<float>(voxel), most = band * h;
  const auto reach = static_cast<float>(options.reach * options.spacing / voxel);
  const double full = 8 * std::pow(options.radius, 3) * 4 * std::numbers::pi * kernel_moment;
  for (std::size_t v = 0; v < size; ++v) {
    float phi = most;
    filling[v] = weight[v] / static_cast<float>(full);
    if (weight[v] > 0) {
      const float w2 = weight[v] * weight[v];
      const float noise = noise_part * (1 - square[v] / w2) * scatter[v] / w2;
      const float offset = std::sqrt(std::max(mean[v].squaredNorm() / w2 - noise, 0.0f));
      const float flat = R * distance(offset / R);
      // A drop must be wide enough for the voxels to see it.
      const float lone = std::clamp(2 - 2 * filling[v] / lone_filling, 0.0f, 1.0f),
                  near = std::sqrt(nearest[v]);
      phi = std::clamp(h * std::min(std::max(flat, near - reach), near - drop_radius * lone), -most, most);
    }
    leaf.setValueOn(static_cast<openvdb::Index>(v), phi);
  }
}

std::vector<Leaf*> ParticleSurface::State::leaves() const {
  std::vector<Leaf*> result;
  grid->tree().getNodes(result);
  return result;
}

Expected<void> ParticleSurface::State::build(const ParticleSurfaceOptions& options) {
  initialize_openvdb();
  grid = Grid::create(static_cast<float>(band * voxel));
  grid->setName("surface");
  grid->setTransform(openvdb::math::Transform::createLinearTransform(voxel));
  grid->setGridClass(openvdb::GRID_LEVEL_SET);
  // Every leaf that a particle reaches, with a rim of one voxel so that signs change inside leaves.
  for (const std::uint64_t key : blocks.keys) {
    const Cell block = cell_of(key);
    const int rim = static_cast<int>(std::ceil((radius / voxel + 1) / leaf_side));
    for (int i = -rim; i <= rim; ++i) {
      for (int j = -rim; j <= rim; ++j) {
        for (int k = -rim; k <= rim; ++k) {
          grid->tree().touchLeaf(
              {leaf_side * (block[0] + i), leaf_side * (block[1] + j), leaf_side * (block[2] + k)});
        }
      }
    }
  }
  const std::vector<Leaf*> all = leaves();
  std::vector<std::vector<float>> filling(all.size());
  parallel_for(all.size(), 1, [&](std::size_t i) { fill(*all[i], filling[i], options); });
  if (options.smoothing > 0) {
    const Grid::Ptr rough = grid->deepCopy();
    std::vector<Leaf*> before;
    rough->tree().getNodes(before);
    const double passes = options.smoothing * std::pow(0.5 * options.spacing / voxel, 2);
    for (int pass = 0; pass < std::lround(passes); ++pass) smooth(all);
    // Drops and sheets of few particles would vanish: they stay as they were.
    parallel_for(all.size(), 1, [&](std::size_t n) {
      for (openvdb::Index v = 0; v < Leaf::SIZE; ++v) {
        const float t = std::clamp((filling[n][v] - 0.1f) / 0.25f, 0.0f, 1.0f);
        all[n]->setValueOnly(v, (1 - t) * before[n]->getValue(v) + t * all[n]->getValue(v));
      }
    });
  }
  if (!options.walls.empty()) take_in_walls(options);
  return {};
}

// The binomial filter (1, 2, 1)/4 along each axis, as one stencil.
void ParticleSurface::State::smooth(const std::vector<Leaf*>& all) {
  const Grid::Ptr old = grid->deepCopy();
  parallel_for(all.size(), 1, [&](std::size_t n) {
    Leaf& leaf = *all[n];
    const auto before = old->getConstUnsafeAccessor();
    constexpr int side = leaf_side + 2;
    std::array<float, side * side * side> phi, next;
    const auto at = [](int i, int j, int k) { return static_cast<std::size_t>((i * side + j) * side + k); };
    const openvdb::Coord corner = leaf.origin();
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        for (int k = 0; k < side; ++k)
          phi[at(i, j, k)] = before.getValue(corner.offsetBy(i - 1, j - 1, k - 1));
      }
    }
    for (const std::size_t stride : {at(0, 0, 1), at(0, 1, 0), at(1, 0, 0)}) {
      next = phi;
      for (std::size_t v = stride; v + stride < phi.size(); ++v) {
        next[v] = 0.25f * (phi[v - stride] + 2 * phi[v] + phi[v + stride]);
      }
      phi = next;
    }
    for (int i = 0; i < leaf_side; ++i) {
      for (int j = 0; j < leaf_side; ++j) {
        for (int k = 0; k < leaf_side; ++k) {
          leaf.setValueOnly(corner.offsetBy(i, j, k), phi[at(i + 1, j + 1, k + 1)]);
        }
      }
    }
  });
}

namespace {

double interpolate(const Grid::ConstUnsafeAccessor& phi, const Vec3& u) {
  const Vec3 base = u.array().floor();
  const Vec3 t = u - base;
  const openvdb::Coord first(static_cast<int>(base[0]), static_cast<int>(base[1]), static_cast<int>(base[2]));
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
    sum += (i ? t[0] : 1 - t[0]) * (j ? t[1] : 1 - t[1]) * (k ? t[2] : 1 - t[2]) *
           static_cast<double>(phi.getValue(first.offsetBy(i, j, k)));
  }
  return sum;
}

}  // namespace

void ParticleSurface::State::take_in_walls(const ParticleSurfaceOptions& options) {
  const Grid::Ptr old = grid->deepCopy();
  const std::vector<Leaf*> all = leaves();
  const double layer = wall_layer * options.spacing;
  parallel_for(all.size(), 1, [&](std::size_t n) {
    const auto before = old->getConstUnsafeAccessor();
    for (auto it = all[n]->beginValueOn(); it; ++it) {
      const openvdb::Coord at = it.getCoord();
      Vec3 x = voxel * Vec3(at[0], at[1], at[2]);
      LevelSetSample wall = nearest_wall(options.walls, x);
      const double outside = -wall.value - options.overlap;
      if (wall.value >= layer) continue;
      if (outside < band * voxel) {  // edges and corners need a move for each of their sides
        for (int moves = 0; moves < 3 && wall.value < layer * (1 - 1e-6) && wall.gradient.squaredNorm() > 0.1;
             ++moves) {
          x += (layer - wall.value) * wall.gradient.normalized();
          wall = nearest_wall(options.walls, x);
        }
        it.setValue(static_cast<float>(std::max(interpolate(before, x / voxel), outside)));
      } else {
        it.setValue(static_cast<float>(band * voxel));
      }
    }
  });
}

ParticleSurface::ParticleSurface(std::unique_ptr<State> state) : state_(std::move(state)) {}
ParticleSurface::ParticleSurface(ParticleSurface&&) noexcept = default;
ParticleSurface& ParticleSurface::operator=(ParticleSurface&&) noexcept = default;
ParticleSurface::~ParticleSurface() = default;

Expected<ParticleSurface> ParticleSurface::create(std::span<const Vec3> particles,
                                                  const ParticleSurfaceOptions& options) {
  const double voxel = options.voxel > 0 ? options.voxel : 0.5 * options.spacing;
  if (auto error = check(particles, options, voxel)) return tl::unexpected(*error);
  try {
    auto state = std::make_unique<State>();
    state->particles.assign(particles.begin(), particles.end());
    state->voxel = voxel;
    state->radius = options.radius * options.spacing;
    state->blocks = sort_into_blocks(particles, leaf_side * voxel);
    if (auto built = state->build(options); !built) return forward_error(built);
    return ParticleSurface(std::move(state));
  } catch (const std::bad_alloc&) {
    return environment_error("no memory for the surface of {} particles", particles.size());
  } catch (const std::exception& e) {
    return input_error("the surface of {} particles could not be made: {}", particles.size(), e.what());
  }
}

Mesh ParticleSurface::mesh() const { return grid_surface(*state_->grid); }

std::vector<Vec3> ParticleSurface::carry(std::span<const Vec3> values, std::span<const Vec3> points) const {
  std::vector<Vec3> result(points.size(), Vec3::Zero());
  const double r2 = state_->radius * state_->radius;
  parallel_for(points.size(), 256, [&](std::size_t i) {
    double weight = 0;
    Vec3 sum = Vec3::Zero();
    state_->each_near(points[i], points[i], [&](std::uint32_t p) {
      const double t = 1 - (state_->particles[p] - points[i]).squaredNorm() / r2;
      if (t <= 0) return;
      weight += t * t * t;
      sum += t * t * t * values[p];
    });
    if (weight > 0) result[i] = sum / weight;
  });
  return result;
}

}  // namespace lope::geometry
