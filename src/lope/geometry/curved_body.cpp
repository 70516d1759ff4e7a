#include <lope/base/errors.h>
#include <lope/geometry/curved_body.h>
#include <lope/geometry/shape_checks.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <unordered_map>
#include <utility>

namespace lope::geometry {

namespace {

Bounds symmetric_box(const Vec3& half) { return {-1.1 * half, 1.1 * half}; }

Vec3 radial(const Vec3& x) { return Vec3(x.x(), x.y(), 0).normalized(); }

std::vector<Vec3> circle(double radius, double z) {
  constexpr int segments = 1024;  // chords deviate by 5·10⁻⁶ of the radius; projection removes that
  std::vector<Vec3> loop;
  for (int i = 0; i < segments; ++i) {
    const double angle = 2 * std::numbers::pi * i / segments;
    loop.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
  }
  loop.push_back(loop.front());
  return loop;
}

Vec3 gradient(const std::function<double(const Vec3&)>& value, const Vec3& x, double step) {
  Vec3 result;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 shift = step * Vec3::Unit(axis);
    result[axis] = (value(x + shift) - value(x - shift)) / (2 * step);
  }
  return result;
}

// Newton steps along the gradient; a step that does not reduce |value| or leaves the tolerance (a crease) is
// refused.
Vec3 descend_to_surface(const std::function<double(const Vec3&)>& value, const Vec3& start,
                        double tolerance) {
  Vec3 x = start;
  double value_here = value(x);
  for (int iteration = 0; iteration < 4 && value_here != 0; ++iteration) {
    const Vec3 slope = gradient(value, x, 1e-3 * tolerance);
    const Vec3 next = x - value_here / std::max(slope.squaredNorm(), 1e-300) * slope;
    const double value_next = value(next);
    if (!(std::abs(value_next) < std::abs(value_here)) || (next - start).norm() > tolerance) break;
    x = next;
    value_here = value_next;
  }
  return x;
}

}  // namespace

Expected<CurvedBody> curved_body(const Sphere& sphere) {
  const double radius = sphere.radius;
  if (auto error = check_sizes({{"the radius of the sphere", radius}})) return tl::unexpected(*error);
  if (auto error = check_placement("sphere", sphere.center, Vec3::UnitZ())) return tl::unexpected(*error);
  CurvedBody body;
  body.name = "sphere";
  body.implicit.value = [radius](const Vec3& x) { return x.norm() - radius; };
  body.implicit.box = symmetric_box(Vec3::Constant(radius));
  body.project = [radius](const Vec3& x, double) { return Vec3(radius * x.normalized()); };
  body.thinnest = radius;
  body.center = sphere.center;
  return body;
}

Expected<CurvedBody> curved_body(const Torus& torus) {
  const double ring = torus.ring_radius, tube = torus.tube_radius;
  if (auto error =
          check_sizes({{"the ring radius of the torus", ring}, {"the tube radius of the torus", tube}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("torus", torus.center, torus.axis)) return tl::unexpected(*error);
  if (!(tube < ring)) {
    return input_error("the tube radius {} of the torus must be smaller than its ring radius {}", tube, ring);
  }
  CurvedBody body;
  body.name = "torus";
  body.implicit.value = [ring, tube](const Vec3& x) {
    return std::hypot(std::hypot(x.x(), x.y()) - ring, x.z()) - tube;
  };
  body.implicit.box = symmetric_box(Vec3(ring + tube, ring + tube, tube));
  body.project = [ring, tube](const Vec3& x, double) {
    const Vec3 core = ring * radial(x);
    return Vec3(core + tube * (x - core).normalized());
  };
  body.thinnest = std::min(tube, ring - tube);
  body.rotation = frame_of(torus.axis);
  body.center = torus.center;
  return body;
}

Expected<CurvedBody> curved_body(const Cylinder& cylinder) {
  const double radius = cylinder.radius, half = 0.5 * cylinder.length;
  if (auto error = check_sizes(
          {{"the radius of the cylinder", radius}, {"the length of the cylinder", cylinder.length}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("cylinder", cylinder.center, cylinder.axis)) return tl::unexpected(*error);
  CurvedBody body;
  body.name = "cylinder";
  body.implicit.value = [radius, half](const Vec3& x) {
    return std::max(std::hypot(x.x(), x.y()) - radius, std::abs(x.z()) - half);
  };
  body.implicit.box = symmetric_box(Vec3(radius, radius, half));
  body.implicit.sharp_loops = {circle(radius, -half), circle(radius, half)};
  body.project = [radius, half](const Vec3& x, double tolerance) {
    const double to_side = std::abs(std::hypot(x.x(), x.y()) - radius),
                 to_end = std::abs(std::abs(x.z()) - half);
    const bool on_rim = to_side < tolerance && to_end < tolerance;
    Vec3 result = x;
    if (on_rim || to_side < to_end) result.head<2>() = radius * radial(x).head<2>();
    if (on_rim || to_side >= to_end) result.z() = std::copysign(half, x.z());
    return result;
  };
  body.thinnest = std::min(radius, 2 * half);
  body.rotation = frame_of(cylinder.axis);
  body.center = cylinder.center;
  return body;
}

Expected<CurvedBody> curved_body(const Capsule& capsule) {
  const double radius = capsule.radius, half = 0.5 * capsule.length;
  if (auto error = check_sizes(
          {{"the radius of the capsule", radius}, {"the length of the capsule", capsule.length}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("capsule", capsule.center, capsule.axis)) return tl::unexpected(*error);
  const auto core = [half](const Vec3& x) { return Vec3(0, 0, std::clamp(x.z(), -half, half)); };
  CurvedBody body;
  body.name = "capsule";
  body.implicit.value = [radius, core](const Vec3& x) { return (x - core(x)).norm() - radius; };
  body.implicit.box = symmetric_box(Vec3(radius, radius, half + radius));
  body.project = [radius, core](const Vec3& x, double) {
    return Vec3(core(x) + radius * (x - core(x)).normalized());
  };
  body.thinnest = radius;
  body.rotation = frame_of(capsule.axis);
  body.center = capsule.center;
  return body;
}

Expected<CurvedBody> curved_body(const ImplicitShape& shape) {
  const bool has_box =
      shape.box.min.allFinite() && shape.box.max.allFinite() && shape.box.extent().minCoeff() > 0;
  if (!has_box)
    return input_error("{}: the bounding box is empty; give the space that contains the body", shape.name);
  if (!shape.value) return input_error("{}: there is no function", shape.name);
  if (!(std::isfinite(shape.thinnest) && shape.thinnest > 0)) {
    return input_error(
        "{}: the thinnest part is {}; it must be a positive number of metres (are "
        "its radii and counts in order?)",
        shape.name, shape.thinnest);
  }
  CurvedBody body;
  body.name = shape.name;
  body.implicit.value = shape.value;
  body.implicit.box = shape.box;
  body.project = [value = shape.value](const Vec3& x, double tolerance) {
    return descend_to_surface(value, x, tolerance);
  };
  body.thinnest = shape.thinnest;
  body.largest_part_only = shape.largest_part_only;
  return body;
}

namespace {

// Keeps points that are at least `apart` from all kept before: a hash grid of cells of that side.
class PointThinner {
 public:
  PointThinner(const Vec3& origin, double apart) : origin_(origin), apart_(apart) {}

  bool keep(const Vec3& point) {
    const Vec3 cell = ((point - origin_) / apart_).array().floor();
    for (int n = 0; n < 27; ++n) {
      const auto found = cells_.find(key(cell + Vec3(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
      if (found == cells_.end()) continue;
      for (const Vec3& other : found->second) {
        if ((other - point).norm() < apart_) return false;
      }
    }
    cells_[key(cell)].push_back(point);
    return true;
  }

 private:
  static std::int64_t key(const Vec3& cell) {
    const Eigen::Matrix<std::int64_t, 3, 1> index = cell.cast<std::int64_t>();
    return (index.x() * 2097152 + index.y()) * 2097152 + index.z();
  }

  Vec3 origin_;
  double apart_;
  std::unordered_map<std::int64_t, std::vector<Vec3>> cells_;
};

Vec3 crossing(const std::function<double(const Vec3&)>& value, Vec3 inside, Vec3 outside) {
  for (int halving = 0; halving < 50; ++halving) {
    const Vec3 middle = 0.5 * (inside + outside);
    (value(middle) < 0 ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

std::vector<Vec3> surface_seeds(const delaunay::ImplicitBody& body, double spacing, double apart) {
  constexpr double most_cells = 160;
  std::array<int, 3> nodes;
  Vec3 step;
  for (int axis = 0; axis < 3; ++axis) {
    const double extent = body.box.extent()[axis];
    const double cells = std::clamp(std::ceil(extent / spacing), 8.0, most_cells);
    nodes[axis] = static_cast<int>(cells) + 1;
    step[axis] = extent / cells;
  }
  const std::array<std::size_t, 3> stride = {1, std::size_t(nodes[0]), std::size_t(nodes[0]) * nodes[1]};
  const auto position = [&](int i, int j, int k) {
    return Vec3(body.box.min + step.cwiseProduct(Vec3(i, j, k)));
  };
  std::vector<char> inside;
  inside.reserve(stride[2] * nodes[2]);
  for (int k = 0; k < nodes[2]; ++k) {
    for (int j = 0; j < nodes[1]; ++j) {
      for (int i = 0; i < nodes[0]; ++i) inside.push_back(body.value(position(i, j, k)) < 0);
    }
  }
  PointThinner thinner(body.box.min, apart);
  std::vector<Vec3> seeds;
  std::size_t here = 0;
  for (int k = 0; k < nodes[2]; ++k) {
    for (int j = 0; j < nodes[1]; ++j) {
      for (int i = 0; i < nodes[0]; ++i, ++here) {
        const std::array<int, 3> index = {i, j, k};
        for (int axis = 0; axis < 3; ++axis) {
          if (index[axis] + 1 >= nodes[axis] || inside[here] == inside[here + stride[axis]]) continue;
          Vec3 in = position(i, j, k), out = in + step[axis] * Vec3::Unit(axis);
          if (!inside[here]) std::swap(in, out);
          const Vec3 seed = crossing(body.value, in, out);
          if (thinner.keep(seed)) seeds.push_back(seed);
        }
      }
    }
  }
  return seeds;
}

double approximate_volume(const delaunay::ImplicitBody& body) {
  constexpr int n = 24;
  int inside = 0;
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3 weight = (Vec3(i % n, i / n % n, i / (n * n)) + Vec3::Constant(0.5)) / n;
    inside += body.value(body.box.min + weight.cwiseProduct(body.box.extent())) < 0;
  }
  return body.box.extent().prod() * inside / (n * n * n);
}

}  // namespace lope::geometry
