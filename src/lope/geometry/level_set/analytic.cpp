#include <lope/base/errors.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/shape_checks.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include <Eigen/Geometry>
#include <fmt/format.h>

namespace lope::geometry {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using std::numbers::pi;

Bounds everywhere() { return {Vec3::Constant(-infinity), Vec3::Constant(infinity)}; }

// A distance from a point minus `radius`; at the point itself the direction `pole`.
template <int d>
struct PointDistance {
  double value;
  Vec<d> gradient;
  Mat<d> hessian;
};
template <int d>
PointDistance<d> distance_from_point(const Vec<d>& arm, double radius, const Vec<d>& pole) {
  const double length = arm.norm();
  if (length == 0) return {-radius, pole, Mat<d>::Zero()};
  const Vec<d> n = arm / length;
  return {length - radius, n, (Mat<d>::Identity() - n * n.transpose()) / length};
}

// The surface swept by an outline of points (r, z) about the z-axis, which climbs where the surface faces
// outward; points with r = 0 become one vertex. The first point is joined to the last if `closed`.
Mesh swept(const std::vector<Vec2>& outline, bool closed, int segments) {
  Mesh mesh;
  std::vector<int> first;
  for (const Vec2& p : outline) {
    first.push_back(static_cast<int>(mesh.vertices.size()));
    for (int j = 0; j < (p[0] > 0 ? segments : 1); ++j) {
      const double angle = 2 * pi * j / segments;
      mesh.vertices.emplace_back(p[0] * std::cos(angle), p[0] * std::sin(angle), p[1]);
    }
  }
  const auto vertex = [&](std::size_t i, int j) {
    i %= outline.size();
    return first[i] + (outline[i][0] > 0 ? j % segments : 0);
  };
  const std::size_t spans = closed ? outline.size() : outline.size() - 1;
  for (std::size_t i = 0; i < spans; ++i) {
    for (int j = 0; j < segments; ++j) {
      const int a = vertex(i, j), b = vertex(i, j + 1), c = vertex(i + 1, j + 1), d = vertex(i + 1, j);
      if (a != b) mesh.triangles.push_back({a, b, c});
      if (c != d) mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

// Appends the arc about `center` from one angle to another, both ends included.
void append_arc(std::vector<Vec2>& outline, const Vec2& center, double radius, double from, double to,
                int pieces) {
  for (int i = 0; i <= pieces; ++i) {
    const double angle = from + (to - from) * i / pieces;
    const bool pole = std::abs(std::abs(angle) - pi / 2) < 1e-9 && center[0] == 0;
    outline.push_back(center + radius * Vec2(pole ? 0 : std::cos(angle), std::sin(angle)));
  }
}

class HalfSpaceSet final : public LevelSet {
 public:
  explicit HalfSpaceSet(const HalfSpace& shape) : point_(shape.point), normal_(shape.normal.normalized()) {}

  double value(const Vec3& x) const override { return normal_.dot(x - point_); }
  LevelSetSample sample(const Vec3& x) const override { return {value(x), normal_, Mat3::Zero()}; }
  Bounds bounds() const override {
    Bounds box = everywhere();
    for (int axis = 0; axis < 3; ++axis) {
      if (normal_[axis] == 1) box.max[axis] = point_[axis];
      if (normal_[axis] == -1) box.min[axis] = point_[axis];
    }
    return box;
  }
  Mesh surface(const SurfaceOptions& options) const override {
    const Mat3 frame = frame_of(normal_);
    const Vec3 center = closest_point(options.region.center());
    const double half = 0.5 * options.region.extent().norm();
    Mesh mesh;
    for (const Vec2& corner : {Vec2(-1, -1), Vec2(1, -1), Vec2(1, 1), Vec2(-1, 1)}) {
      mesh.vertices.push_back(center + half * frame * Vec3(corner[0], corner[1], 0));
    }
    mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
    return mesh;
  }

 private:
  Vec3 point_, normal_;
};

class SphereSet final : public LevelSet {
 public:
  explicit SphereSet(const Sphere& sphere) : sphere_(sphere) {}

  double value(const Vec3& x) const override { return (x - sphere_.center).norm() - sphere_.radius; }
  LevelSetSample sample(const Vec3& x) const override {
    const auto s = distance_from_point<3>(x - sphere_.center, sphere_.radius, Vec3::UnitX());
    return {s.value, s.gradient, s.hessian};
  }
  Bounds bounds() const override {
    const Vec3 half = Vec3::Constant(sphere_.radius);
    return {sphere_.center - half, sphere_.center + half};
  }
  Mesh surface(const SurfaceOptions& options) const override {
    std::vector<Vec2> outline;
    append_arc(outline, Vec2::Zero(), sphere_.radius, -pi / 2, pi / 2, options.segments / 2);
    Mesh mesh = swept(outline, false, options.segments);
    for (Vec3& x : mesh.vertices) x += sphere_.center;
    return mesh;
  }

 private:
  Sphere sphere_;
};

class BoxSet final : public LevelSet {
 public:
  explicit BoxSet(const Box& box) : center_(box.center), half_(0.5 * box.size) {}

  double value(const Vec3& x) const override {
    const Vec3 beyond = (x - center_).cwiseAbs() - half_;
    const double nearest_face = beyond.maxCoeff();
    return nearest_face <= 0 ? nearest_face : beyond.cwiseMax(0.0).norm();
  }

  LevelSetSample sample(const Vec3& x) const override {
    const Vec3 local = x - center_;
    const Vec3 beyond = local.cwiseAbs() - half_;
    int axis = 0;
    const double nearest_face = beyond.maxCoeff(&axis);
    LevelSetSample s;
    if (nearest_face <= 0) {
      s.value = nearest_face;
      s.gradient[axis] = std::copysign(1.0, local[axis]);
      return s;
    }
    const Vec3 outside = beyond.cwiseMax(0.0);
    s.value = outside.norm();
    for (int i = 0; i < 3; ++i) s.gradient[i] = std::copysign(outside[i] / s.value, local[i]);
    for (int i = 0; i < 3; ++i) s.hessian(i, i) = outside[i] > 0 ? 1 : 0;
    s.hessian = (s.hessian - s.gradient * s.gradient.transpose()) / s.value;
    return s;
  }

  Bounds bounds() const override { return {center_ - half_, center_ + half_}; }

  void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    const Vec3 local = x - center_;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double sign : {-1.0, 1.0}) {
        const double inside = half_[axis] - sign * local[axis];
        if (inside <= reach) out.push_back({inside, -sign * Vec3::Unit(axis), Mat3::Zero()});
      }
    }
  }

  Mesh surface(const SurfaceOptions& options) const override {
    Mesh mesh;
    for (int corner = 0; corner < 8; ++corner) {
      Vec3 x;
      for (int axis = 0; axis < 3; ++axis) {
        const bool high = corner >> axis & 1;
        if (std::isfinite(half_[axis])) {
          x[axis] = center_[axis] + (high ? half_[axis] : -half_[axis]);
        } else {
          x[axis] = high ? options.region.max[axis] : options.region.min[axis];
        }
      }
      mesh.vertices.push_back(x);
    }
    mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                      {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    return mesh;
  }

 private:
  Vec3 center_, half_;
};

// Bodies of revolution: a distance in the half plane (r, z), r ≥ 0, swept about the z-axis.
using ProfileSample = PointDistance<2>;

struct TorusProfile {
  double ring, tube;

  double value(const Vec2& p) const { return std::hypot(p[0] - ring, p[1]) - tube; }
  ProfileSample sample(const Vec2& p) const {
    return distance_from_point<2>(p - Vec2(ring, 0), tube, Vec2::UnitX());
  }
  Vec2 half_extent() const { return Vec2(ring + tube, tube); }
  Mesh surface(int segments) const {
    std::vector<Vec2> outline;
    const int pieces = std::max(8, segments / 2);
    append_arc(outline, Vec2(ring, 0), tube, -pi, pi - 2 * pi / pieces, pieces - 1);
    return swept(outline, true, segments);
  }
};

struct CapsuleProfile {
  double radius, half;

  double value(const Vec2& p) const {
    return std::hypot(p[0], p[1] - std::clamp(p[1], -half, half)) - radius;
  }
  ProfileSample sample(const Vec2& p) const {
    if (std::abs(p[1]) <= half) return {p[0] - radius, Vec2::UnitX(), Mat2::Zero()};
    return distance_from_point<2>(p - Vec2(0, std::copysign(half, p[1])), radius, Vec2::UnitX());
  }
  Vec2 half_extent() const { return Vec2(radius, half + radius); }
  Mesh surface(int segments) const {
    std::vector<Vec2> outline;
    append_arc(outline, Vec2(0, -half), radius, -pi / 2, 0, segments / 4);
    append_arc(outline, Vec2(0, half), radius, 0, pi / 2, segments / 4);
    return swept(outline, false, segments);
  }
};

// A convex body with straight edges, given from its lowest to its highest point on the axis.
template <int corners>
struct PolygonProfile {
  std::array<Vec2, corners> points;
  std::array<Vec2, corners - 1> normals;

  explicit PolygonProfile(const std::array<Vec2, corners>& outline) : points(outline) {
    for (int e = 0; e + 1 < corners; ++e) {
      const Vec2 along = points[e + 1] - points[e];
      normals[e] = Vec2(along[1], -along[0]).normalized();
    }
  }

  double height(int edge, const Vec2& p) const { return normals[edge].dot(p - points[edge]); }

  // Above an edge's line and between its ends, or nearest to a corner, or inside.
  struct Nearest {
    double value;
    int edge;    // whose line is nearest, or −1
    int corner;  // else this corner
  };
  Nearest nearest(const Vec2& p) const {
    Nearest inside{-infinity, 0, -1};
    for (int e = 0; e + 1 < corners; ++e) {
      const double h = height(e, p);
      if (h > inside.value) inside = {h, e, -1};
    }
    if (inside.value <= 0) return inside;
    Nearest outside{infinity, -1, -1};
    for (int e = 0; e + 1 < corners; ++e) {
      const Vec2 along = points[e + 1] - points[e];
      const double t = (p - points[e]).dot(along), length = along.squaredNorm();
      if (t > 0 && t < length) {
        const double h = std::abs(height(e, p));
        if (h < outside.value) outside = {h, e, -1};
      } else {
        const int corner = t <= 0 ? e : e + 1;
        const double distance = (p - points[corner]).norm();
        if (distance < outside.value) outside = {distance, -1, corner};
      }
    }
    return outside;
  }

  double value(const Vec2& p) const { return nearest(p).value; }
  ProfileSample sample(const Vec2& p) const {
    const Nearest at = nearest(p);
    if (at.edge >= 0) return {at.value, normals[at.edge], Mat2::Zero()};
    return distance_from_point<2>(p - points[at.corner], 0, Vec2::UnitX());
  }
  Vec2 half_extent() const {
    Vec2 half = Vec2::Zero();
    for (const Vec2& p : points) half = half.cwiseMax(p.cwiseAbs());
    return half;
  }
  Mesh surface(int segments) const { return swept({points.begin(), points.end()}, false, segments); }
};

template <class Profile>
constexpr bool has_edges = false;
template <int corners>
constexpr bool has_edges<PolygonProfile<corners>> = true;

template <class Profile>
class RevolvedSet final : public LevelSet {
 public:
  RevolvedSet(const Profile& profile, const Vec3& center, const Vec3& axis)
      : profile_(profile), center_(center), frame_(frame_of(axis)) {}

  double value(const Vec3& x) const override {
    const Vec3 local = frame_.transpose() * (x - center_);
    return profile_.value(Vec2(std::hypot(local.x(), local.y()), local.z()));
  }

  LevelSetSample sample(const Vec3& x) const override {
    const Place at = place(x);
    const ProfileSample s = profile_.sample(at.profile);
    return swept_sample(at, s);
  }

  Bounds bounds() const override {
    // The cylinder of the extent: along each axis, its end discs and its middle.
    const Vec2 half = profile_.half_extent();
    Vec3 extent;
    for (int i = 0; i < 3; ++i) {
      const double cosine = frame_(i, 2);
      extent[i] = half[1] * std::abs(cosine) + half[0] * std::sqrt(std::max(0.0, 1 - cosine * cosine));
    }
    return {center_ - extent, center_ + extent};
  }

  void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    if constexpr (has_edges<Profile>) {
      const Place at = place(x);
      for (std::size_t e = 0; e < profile_.normals.size(); ++e) {
        const double height = profile_.height(static_cast<int>(e), at.profile);
        if (-height > reach) continue;
        out.push_back(swept_sample(at, {height, profile_.normals[e], Mat2::Zero()}).negated());
      }
    } else {
      LevelSet::obstacle_features(x, reach, out);
    }
  }

  Mesh surface(const SurfaceOptions& options) const override {
    Mesh mesh = profile_.surface(options.segments);
    for (Vec3& x : mesh.vertices) x = center_ + frame_ * x;
    return mesh;
  }

 private:
  struct Place {
    Vec2 profile;
    Vec3 outward, along, around;  // unit vectors in space
  };

  Place place(const Vec3& x) const {
    const Vec3 local = frame_.transpose() * (x - center_);
    const double r = std::hypot(local.x(), local.y());
    const Vec3 outward = r > 0 ? Vec3(local.x() / r, local.y() / r, 0) : Vec3::UnitX();
    return {Vec2(r, local.z()), frame_ * outward, frame_.col(2), frame_ * Vec3(-outward.y(), outward.x(), 0)};
  }

  static LevelSetSample swept_sample(const Place& at, const ProfileSample& s) {
    const double r = at.profile[0];
    // On the axis the limit exists where the profile is level there; elsewhere it is a medial axis.
    const double hoop = r > 0 ? s.gradient[0] / r : s.gradient[0] == 0 ? s.hessian(0, 0) : 0;
    Eigen::Matrix<double, 3, 2> plane;
    plane << at.outward, at.along;
    return {s.value, plane * s.gradient,
            plane * s.hessian * plane.transpose() + hoop * at.around * at.around.transpose()};
  }

  Profile profile_;
  Vec3 center_;
  Mat3 frame_;
};

template <class Profile>
LevelSetPtr revolved(const Profile& profile, const Vec3& center, const Vec3& axis) {
  return std::make_shared<RevolvedSet<Profile>>(profile, center, axis);
}

}  // namespace

Expected<LevelSetPtr> level_set(const HalfSpace& shape) {
  if (!shape.point.allFinite()) return input_error("the point of the half-space is not a finite point");
  if (!shape.normal.allFinite() || shape.normal.norm() == 0) {
    return input_error("the normal of the half-space is ({}); it must be a vector of some length",
                       fmt::join(shape.normal.begin(), shape.normal.end(), ", "));
  }
  return std::make_shared<HalfSpaceSet>(shape);
}

Expected<LevelSetPtr> level_set(const Sphere& sphere) {
  if (auto error = check_sizes({{"the radius of the sphere", sphere.radius}})) return tl::unexpected(*error);
  if (auto error = check_placement("sphere", sphere.center, Vec3::UnitZ())) return tl::unexpected(*error);
  return std::make_shared<SphereSet>(sphere);
}

Expected<LevelSetPtr> level_set(const Box& box) {
  if (!box.center.allFinite()) return input_error("the centre of the box is not a finite point");
  for (int axis = 0; axis < 3; ++axis) {
    if (!(box.size[axis] > 0)) {
      return input_error("the {}-size of the box is {}; it must be a positive number of metres", "xyz"[axis],
                         box.size[axis]);
    }
  }
  if (!(box.size.minCoeff() < infinity)) return input_error("the box has no finite side: it fills all space");
  return std::make_shared<BoxSet>(box);
}

Expected<LevelSetPtr> level_set(const Cylinder& cylinder) {
  if (auto error = check_sizes({{"the radius of the cylinder", cylinder.radius},
                                {"the length of the cylinder", cylinder.length}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("cylinder", cylinder.center, cylinder.axis)) return tl::unexpected(*error);
  const double radius = cylinder.radius, half = 0.5 * cylinder.length;
  const PolygonProfile<4> profile({Vec2(0, -half), Vec2(radius, -half), Vec2(radius, half), Vec2(0, half)});
  return revolved(profile, cylinder.center, cylinder.axis);
}

Expected<LevelSetPtr> level_set(const Capsule& capsule) {
  if (auto error = check_sizes(
          {{"the radius of the capsule", capsule.radius}, {"the length of the capsule", capsule.length}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("capsule", capsule.center, capsule.axis)) return tl::unexpected(*error);
  return revolved(CapsuleProfile{capsule.radius, 0.5 * capsule.length}, capsule.center, capsule.axis);
}

Expected<LevelSetPtr> level_set(const Torus& torus) {
  if (auto error = check_sizes({{"the ring radius of the torus", torus.ring_radius},
                                {"the tube radius of the torus", torus.tube_radius}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("torus", torus.center, torus.axis)) return tl::unexpected(*error);
  if (!(torus.tube_radius < torus.ring_radius)) {
    return input_error("the tube radius {} of the torus must be smaller than its ring radius {}",
                       torus.tube_radius, torus.ring_radius);
  }
  return revolved(TorusProfile{torus.ring_radius, torus.tube_radius}, torus.center, torus.axis);
}

Expected<LevelSetPtr> level_set(const Cone& cone) {
  if (auto error =
          check_sizes({{"the radius of the cone", cone.radius}, {"the length of the cone", cone.length}})) {
    return tl::unexpected(*error);
  }
  if (auto error = check_placement("cone", cone.base, cone.axis)) return tl::unexpected(*error);
  // About the middle of its axis, so that its extent is symmetric.
  const double half = 0.5 * cone.length;
  const PolygonProfile<3> profile({Vec2(0, -half), Vec2(cone.radius, -half), Vec2(0, half)});
  return revolved(profile, cone.base + half * cone.axis.normalized(), cone.axis);
}

}  // namespace lope::geometry
