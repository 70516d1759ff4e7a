#include <lope/render/camera.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

namespace lope::render {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

std::array<Vec3, 8> corners(const geometry::Bounds& bounds) {
  std::array<Vec3, 8> result;
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) result[i][k] = (i >> k) & 1 ? bounds.max[k] : bounds.min[k];
  }
  return result;
}

// A box that can be looked at: a missing one becomes a unit box, a point gets some size.
geometry::Bounds usable(geometry::Bounds bounds) {
  if (!(bounds.min.array() <= bounds.max.array()).all()) {
    bounds.min.setConstant(-0.5);
    bounds.max.setConstant(0.5);
  }
  const double size = std::max(bounds.extent().norm(), 1e-9 * bounds.center().norm());
  if (bounds.extent().norm() < 1e-9 * size || size == 0) {
    const double half = size > 0 ? size : 0.5;
    bounds.min.array() -= half;
    bounds.max.array() += half;
  }
  return bounds;
}

}  // namespace

CameraAxes axes(const Camera& camera) {
  Vec3 forward = camera.target - camera.eye;
  forward = forward.norm() > 0 ? Vec3(forward.normalized()) : Vec3(-Vec3::UnitZ());
  Vec3 right = forward.cross(camera.up);
  if (right.norm() < 1e-9 * camera.up.norm() || camera.up.norm() == 0) {
    right = forward.cross(std::abs(forward.y()) < 0.9 ? Vec3(Vec3::UnitY()) : Vec3(-Vec3::UnitZ()));
  }
  right.normalize();
  return {right, right.cross(forward), forward};
}

Vec3 project(const Camera& camera, double aspect, const Vec3& point) {
  const CameraAxes frame = axes(camera);
  const Vec3 d = point - camera.eye;
  const double depth = d.dot(frame.forward);
  const double half =
      camera.orthographic ? 0.5 * camera.ortho_height : depth * std::tan(0.5 * radians(camera.fov_degrees));
  return {d.dot(frame.right) / (half * aspect), d.dot(frame.up) / half, depth};
}

Camera frame_bounds(const geometry::Bounds& bounds, const FramingOptions& options) {
  const geometry::Bounds box = usable(bounds);
  const Vec3 up = options.up.normalized();
  const Vec3 guess = std::abs(up.z()) > 0.7 ? Vec3(-Vec3::UnitY()) : Vec3(Vec3::UnitZ());
  const Vec3 front = (guess - guess.dot(up) * up).normalized();
  const Vec3 side = up.cross(front);
  const double azimuth = radians(options.azimuth_degrees), elevation = radians(options.elevation_degrees);
  const Vec3 toward_eye =
      std::cos(elevation) * (std::cos(azimuth) * front + std::sin(azimuth) * side) + std::sin(elevation) * up;

  Camera camera;
  camera.up = up;
  camera.fov_degrees = options.fov_degrees;
  camera.target = box.center();
  camera.eye = camera.target + toward_eye;
  const CameraAxes frame = axes(camera);

  // In camera coordinates (x right, y up, z forward) a point fits between the side planes of slope t if
  // |x − eye_x| ≤ t (z − eye_z): the two tight ones of each direction give the eye's place and distance.
  const double slope_y = std::tan(0.5 * radians(options.fov_degrees)) * (1 - options.margin);
  const double slope_left = slope_y * options.aspect;
  const double slope_right = slope_left * (1 - 2 * options.legend_room);
  double right = -1e300, left = -1e300, top = -1e300, bottom = -1e300;
  for (const Vec3& corner : corners(box)) {
    const Vec3 d = corner - camera.target;
    const double x = d.dot(frame.right), y = d.dot(frame.up), z = d.dot(frame.forward);
    right = std::max(right, x - slope_right * z);
    left = std::max(left, -x - slope_left * z);
    top = std::max(top, y - slope_y * z);
    bottom = std::max(bottom, -y - slope_y * z);
  }
  const double distance =
      std::max((right + left) / (slope_left + slope_right), (top + bottom) / (2 * slope_y));
  const double shift = 0.5 * (right - left - (slope_right - slope_left) * distance);
  camera.eye =
      box.center() + shift * frame.right + 0.5 * (top - bottom) * frame.up - distance * frame.forward;
  camera.target = camera.eye + distance * frame.forward;
  return camera;
}

Camera frame_flat(const geometry::Bounds& bounds, double aspect, double margin, double legend_room) {
  const geometry::Bounds box = usable(bounds);
  Camera camera;
  camera.orthographic = true;
  const double free_width = aspect * (1 - margin) * (1 - legend_room);
  camera.ortho_height = std::max(box.extent().y() / (1 - margin), box.extent().x() / free_width);
  camera.target = box.center() + Vec3(0.5 * legend_room * aspect * camera.ortho_height, 0, 0);
  camera.eye = camera.target + Vec3(0, 0, std::max(1.0, 2 * box.extent().norm()));
  return camera;
}

}  // namespace lope::render
