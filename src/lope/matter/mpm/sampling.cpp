#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/matter/mpm/sampling.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr int tries = 30;  // per point, before it is given up

// Samples found so far, in cells so small that each holds one at most: a table with open addressing.
template <int Dim>
class Samples {
 public:
  explicit Samples(double distance) : distance_(distance), cell_(distance / std::sqrt(1.0 * Dim)), table_(1 << 16, -1) {}

  // Whether no sample is nearer to x than `factor` times the distance.
  template <int factor>
  bool has_room(const Vec<Dim>& x) const {
    constexpr int reach = 2 * factor, width = 2 * reach + 1;
    constexpr int around = Dim == 3 ? width * width * width : width * width;
    const double least = factor * distance_;
    const auto own = cell_of(x);
    for (int k = 0; k < around; ++k) {
      auto there = own;
      int rest = k;
      for (std::size_t a = 0; a < Dim; ++a, rest /= width) there[a] += rest % width - reach;
      const std::int64_t found = find(key_of(there));
      if (found >= 0 && (points_[static_cast<std::size_t>(found)] - x).squaredNorm() < least * least) return false;
    }
    return true;
  }
  void add(const Vec<Dim>& x) {
    points_.push_back(x);
    keys_.push_back(key_of(cell_of(x)));
    if (2 * points_.size() > table_.size()) grow();
    else enter(points_.size() - 1);
  }
  std::vector<Vec<Dim>>& points() { return points_; }

 private:
  using Cell = std::array<std::int64_t, static_cast<std::size_t>(Dim)>;
  Cell cell_of(const Vec<Dim>& x) const {
    Cell cell;
    for (int a = 0; a < Dim; ++a) cell[static_cast<std::size_t>(a)] = static_cast<std::int64_t>(std::floor(x[a] / cell_));
    return cell;
  }
  static std::uint64_t key_of(const Cell& cell) {
    std::uint64_t key = 0;
    for (const std::int64_t c : cell) key = (key << 21) | (static_cast<std::uint64_t>(c) & 0x1FFFFF);
    return key;
  }
  std::size_t slot_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20) & (table_.size() - 1);
  }
  std::int64_t find(std::uint64_t key) const {
    for (std::size_t slot = slot_of(key); table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
      if (keys_[static_cast<std::size_t>(table_[slot])] == key) return table_[slot];
    }
    return -1;
  }
  void enter(std::size_t point) {
    std::size_t slot = slot_of(keys_[point]);
    while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::int32_t>(point);
  }
  void grow() {
    table_.assign(2 * table_.size(), -1);
    for (std::size_t p = 0; p < points_.size(); ++p) enter(p);
  }

  double distance_, cell_;
  std::vector<Vec<Dim>> points_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> table_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  double unit() { return random_unit(seed_, next_++); }

 private:
  std::uint64_t seed_, next_ = 0;
};

// Uniform in the shell between r and 2r.
template <int Dim>
Vec<Dim> in_shell(Random& random, double r) {
  while (true) {
    Vec<Dim> p;
    for (int a = 0; a < Dim; ++a) p[a] = 4 * random.unit() - 2;
    const double square = p.squaredNorm();
    if (square >= 1 && square <= 4) return r * p;
  }
}

}  // namespace

template <int Dim>
double sample_distance(double dx, double per_cell) {
  return Dim == 3 ? std::cbrt(13.0 / 18.0 * dx * dx * dx / per_cell) : std::sqrt(0.7 * dx * dx / per_cell);
}

namespace {

// A shape may have several pieces, or be thin: every cell of the size of the distance is a place to begin. visit(point) for one point of
// each of them that is inside, until it returns false.
template <int Dim, class Visit>
void visit_starts(const geometry::LevelSet& shape, double distance, Random& random, const Visit& visit) {
  const geometry::Bounds bounds = shape.bounds();
  const Vec<Dim> low = bounds.min.template head<Dim>(), high = bounds.max.template head<Dim>();
  Eigen::Matrix<std::int64_t, Dim, 1> count, at = Eigen::Matrix<std::int64_t, Dim, 1>::Zero();
  for (int a = 0; a < Dim; ++a)
    count[a] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((high[a] - low[a]) / distance)));
  while (true) {
    Vec<Dim> start;
    for (int a = 0; a < Dim; ++a) start[a] = low[a] + (static_cast<double>(at[a]) + random.unit()) * distance;
    if (shape.value(in_space<Dim>(start)) < 0 && !visit(start)) return;
    int a = 0;
    for (; a < Dim; ++a) {
      if (++at[a] < count[a]) break;
      at[a] = 0;
    }
    if (a == Dim) return;
  }
}

}  // namespace

template <int Dim>
bool has_samples(const geometry::LevelSet& shape, double distance, std::uint64_t seed) {
  Random random(seed);
  bool found = false;
  visit_starts<Dim>(shape, distance, random, [&](const Vec<Dim>& /*start*/) {
    found = true;
    return false;
  });
  return found;
}

template <int Dim>
std::vector<Vec<Dim>> sample(const geometry::LevelSet& shape, double distance, std::uint64_t seed) {
  const auto inside = [&](const Vec<Dim>& x) { return shape.value(in_space<Dim>(x)) < 0; };
  Samples<Dim> samples(distance);
  Random random(seed);
  std::vector<std::size_t> active;
  visit_starts<Dim>(shape, distance, random, [&](const Vec<Dim>& start) {
    if (samples.template has_room<2>(start)) {
      active.push_back(samples.points().size());
      samples.add(start);
    }
    while (!active.empty()) {
      const auto chosen = std::min(active.size() - 1,
                                   static_cast<std::size_t>(random.unit() * static_cast<double>(active.size())));
      const Vec<Dim> from = samples.points()[active[chosen]];
      bool found = false;
      for (int k = 0; k < tries && !found; ++k) {
        const Vec<Dim> x = from + in_shell<Dim>(random, distance);
        if (!inside(x) || !samples.template has_room<1>(x)) continue;
        active.push_back(samples.points().size());
        samples.add(x);
        found = true;
      }
      if (found) continue;
      active[chosen] = active.back();
      active.pop_back();
    }
    return true;
  });
  return std::move(samples.points());
}

template <int Dim>
double volume(const geometry::LevelSet& shape, double cell) {
  const geometry::Bounds bounds = shape.bounds();
  Vec<Dim> size;
  std::size_t count[3] = {1, 1, 1};
  for (int a = 0; a < Dim; ++a) {
    const double extent = bounds.max[a] - bounds.min[a];
    count[a] = static_cast<std::size_t>(std::max(1.0, std::ceil(extent / cell)));
    size[a] = extent / static_cast<double>(count[a]);
  }
  const double whole = size.prod(), half = 0.5 * size.mean();
  return whole * parallel_sum(count[0], 1, [&](std::size_t begin, std::size_t end) {
           double sum = 0;
           for (std::size_t i = begin; i < end; ++i) {
             for (std::size_t j = 0; j < count[1]; ++j) {
               for (std::size_t k = 0; k < count[2]; ++k) {
                 Vec3 x = Vec3::Zero();
                 const std::size_t index[3] = {i, j, k};
                 for (int a = 0; a < Dim; ++a) x[a] = bounds.min[a] + (static_cast<double>(index[a]) + 0.5) * size[a];
                 sum += std::clamp(0.5 - shape.value(x) / (2 * half), 0.0, 1.0);
               }
             }
           }
           return sum;
         });
}

template double sample_distance<2>(double, double);
template double sample_distance<3>(double, double);
template bool has_samples<2>(const geometry::LevelSet&, double, std::uint64_t);
template bool has_samples<3>(const geometry::LevelSet&, double, std::uint64_t);
template std::vector<Vec2> sample<2>(const geometry::LevelSet&, double, std::uint64_t);
template std::vector<Vec3> sample<3>(const geometry::LevelSet&, double, std::uint64_t);
template double volume<2>(const geometry::LevelSet&, double);
template double volume<3>(const geometry::LevelSet&, double);

}  // namespace lope::matter::mpm
