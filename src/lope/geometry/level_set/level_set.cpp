#include <lope/geometry/level_set/level_set.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

namespace lope::geometry {

Vec3 LevelSet::closest_point(const Vec3& x) const {
  const LevelSetSample first = sample(x);
  const Vec3 near = x - first.value * first.gradient;
  if (std::abs(first.value) == 0) return near;
  const LevelSetSample second = sample(near);
  return near - second.value * second.gradient;
}

void LevelSet::free_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const {
  const LevelSetSample here = sample(x);
  if (here.value <= reach) out.push_back(here);
}

void LevelSet::obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const {
  const LevelSetSample here = sample(x);
  if (-here.value <= reach) out.push_back(here.negated());
}

namespace {

double violation(std::span<const LinearConstraint> constraints, const Vec3& x) {
  double worst = 0;
  for (const LinearConstraint& c : constraints) worst = std::max(worst, -(c.normal.dot(x) + c.offset));
  return worst;
}

// The trial points of nearest_feasible: keeps the nearest feasible one, else the least infeasible.
struct Nearest {
  std::span<const LinearConstraint> constraints;
  Vec3 start;
  double tolerance;
  Vec3 best;
  double best_violation = std::numeric_limits<double>::infinity();
  double best_distance = std::numeric_limits<double>::infinity();

  void try_point(const Vec3& x) {
    const double worst = std::max(violation(constraints, x), tolerance);
    const double distance = (x - start).squaredNorm();
    if (worst < best_violation || (worst == best_violation && distance < best_distance)) {
      best = x;
      best_violation = worst;
      best_distance = distance;
    }
  }

  // The nearest point of the intersection of `n` planes.
  template <int n>
  void try_planes(const std::array<std::size_t, 3>& chosen) {
    Eigen::Matrix<double, n, 3> normals;
    Vec<n> gaps;
    for (int i = 0; i < n; ++i) {
      const LinearConstraint& c = constraints[chosen[i]];
      normals.row(i) = c.normal.transpose();
      gaps[i] = -(c.normal.dot(start) + c.offset);
    }
    const Mat<n> gram = normals * normals.transpose();
    if (std::abs(gram.determinant()) < 1e-12) return;  // parallel planes: a smaller set does as well
    Vec3 x = start + normals.transpose() * gram.inverse() * gaps;
    for (int i = 0; i < n; ++i)
      gaps[i] = -(constraints[chosen[i]].normal.dot(x) + constraints[chosen[i]].offset);
    x += normals.transpose() * gram.inverse() * gaps;
    try_point(x);
  }
};

}  // namespace

Vec3 nearest_feasible(std::span<const LinearConstraint> constraints, const Vec3& x) {
  double size = x.cwiseAbs().maxCoeff();
  for (const LinearConstraint& c : constraints) size = std::max(size, std::abs(c.offset));
  Nearest nearest{constraints, x, 1e-14 * size, x};
  nearest.try_point(x);
  if (nearest.best_violation <= nearest.tolerance) return x;
  const std::size_t count = constraints.size();
  for (std::size_t i = 0; i < count; ++i) nearest.try_planes<1>({i});
  if (count == 1) return nearest.best;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      nearest.try_planes<2>({i, j});
      for (std::size_t k = j + 1; k < count; ++k) nearest.try_planes<3>({i, j, k});
    }
  }
  return nearest.best;
}

FeasiblePoint project_to_free_side(std::span<const LevelSet* const> obstacles, const Vec3& x) {
  constexpr int most_iterations = 60;
  const auto worst_at = [&](const Vec3& y) {
    double worst = 0;
    for (const LevelSet* obstacle : obstacles) worst = std::max(worst, -obstacle->value(y));
    return worst;
  };
  FeasiblePoint best{x, worst_at(x)};
  if (best.violation == 0) return best;
  Vec3 y = x;
  std::vector<LevelSetSample> features;
  std::vector<LinearConstraint> constraints;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    // What lies within the distance moved so far may have become violated or is what holds y in place.
    const double reach = (y - x).norm() * (1 + 1e-9);
    features.clear();
    for (const LevelSet* obstacle : obstacles) obstacle->free_features(y, reach, features);
    constraints.clear();
    for (const LevelSetSample& f : features) {
      const double length = f.gradient.norm();
      if (!(length > 0)) continue;
      constraints.push_back({f.gradient / length, (f.value - f.gradient.dot(y)) / length});
    }
    const Vec3 next = nearest_feasible(constraints, x);
    const double worst = worst_at(next), moved = (next - y).norm();
    if (worst < best.violation) best = {next, worst};
    y = next;
    const double rounding = 1e-15 * (x.cwiseAbs().maxCoeff() + (y - x).norm());
    if (worst <= rounding || moved <= rounding) break;
  }
  return best;
}

}  // namespace lope::geometry
