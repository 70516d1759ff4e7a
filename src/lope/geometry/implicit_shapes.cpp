#include <lope/geometry/shapes.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>

namespace lope::geometry {

namespace {

using std::numbers::pi;

Bounds ball_box(const Vec3& center, double radius) {
  return {center - Vec3::Constant(1.1 * radius), center + Vec3::Constant(1.1 * radius)};
}

// A maximum with a rounded crease of about the size `rounding`.
double smooth_max(double a, double b, double rounding) { return 0.5 * (a + b + std::hypot(a - b, rounding)); }

// The curve of a torus knot, sampled for a first guess of the nearest point.
class KnotCurve {
 public:
  explicit KnotCurve(const TorusKnot& knot) : knot_(knot) {
    for (int i = 0; i < samples; ++i) points_[i] = at(2 * pi * i / samples)[0];
  }

  double distance(const Vec3& x) const {
    int nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < samples; ++i) {
      const double squared = (points_[i] - x).squaredNorm();
      if (squared < least) {
        least = squared;
        nearest = i;
      }
    }
    return std::sqrt(std::min(least, refined(x, 2 * pi * nearest / samples)));
  }

 private:
  static constexpr int samples = 512;

  // Position and its first two derivatives by the angle t.
  std::array<Vec3, 3> at(double t) const {
    const double p = knot_.p, q = knot_.q, w = knot_.winding_radius;
    const double cp = std::cos(p * t), sp = std::sin(p * t), cq = std::cos(q * t), sq = std::sin(q * t);
    const double r = knot_.ring_radius + w * cq, dr = -w * q * sq, ddr = -w * q * q * cq;
    return {knot_.center + Vec3(r * cp, r * sp, w * sq),
            Vec3(dr * cp - r * p * sp, dr * sp + r * p * cp, w * q * cq),
            Vec3(ddr * cp - 2 * dr * p * sp - r * p * p * cp, ddr * sp + 2 * dr * p * cp - r * p * p * sp,
                 -w * q * q * sq)};
  }

  // Squared distance after Newton steps on (c(t) − x)·c'(t) = 0 within the two neighbouring sample intervals.
  double refined(const Vec3& x, double guess) const {
    double t = guess;
    for (int iteration = 0; iteration < 3; ++iteration) {
      const auto [c, dc, ddc] = at(t);
      const double curvature = dc.squaredNorm() + (c - x).dot(ddc);
      if (!(curvature > 0)) break;
      t = std::clamp(t - (c - x).dot(dc) / curvature, guess - 2 * pi / samples, guess + 2 * pi / samples);
    }
    return (at(t)[0] - x).squaredNorm();
  }

  TorusKnot knot_;
  std::array<Vec3, samples> points_;
};

}  // namespace

Box box_between(const Vec3& min, const Vec3& max) { return {0.5 * (min + max), max - min}; }

ImplicitShape hollow_sphere(const Vec3& center, double outer_radius, double inner_radius) {
  ImplicitShape shape;
  shape.name = "hollow sphere";
  shape.value = [=](const Vec3& x) {
    const double r = (x - center).norm();
    return std::max(r - outer_radius, inner_radius - r);
  };
  shape.box = ball_box(center, outer_radius);
  shape.thinnest = std::min(outer_radius - inner_radius, inner_radius);
  return shape;
}

ImplicitShape gyroid_ball(const Vec3& center, double radius, double period) {
  ImplicitShape shape;
  shape.name = "gyroid ball";
  const double wave = 2 * pi / period;
  // Near the gyroid the slope of the left-hand side is about 1.5·wave.
  shape.value = [=](const Vec3& x) {
    const Vec3 local = x - center;
    const Vec3 s = (wave * local).array().sin(), c = (wave * local).array().cos();
    const double gyroid = (s.x() * c.y() + s.y() * c.z() + s.z() * c.x()) / (1.5 * wave);
    return smooth_max(local.norm() - radius, gyroid, 0.05 * period);
  };
  shape.box = ball_box(center, radius);
  shape.thinnest = 0.25 * period;
  shape.largest_part_only = true;
  return shape;
}

ImplicitShape torus_knot(const TorusKnot& knot) {
  ImplicitShape shape;
  shape.name = "torus knot";
  const auto curve = std::make_shared<const KnotCurve>(knot);
  const double tube = knot.tube_radius;
  shape.value = [curve, tube](const Vec3& x) { return curve->distance(x) - tube; };
  const double wide = 1.1 * (knot.ring_radius + knot.winding_radius + tube);
  const double high = 1.1 * (knot.winding_radius + tube);
  shape.box = {knot.center - Vec3(wide, wide, high), knot.center + Vec3(wide, wide, high)};
  // A pair with a common factor is several curves, not a knot: no valid thickness.
  const bool is_knot = knot.p > 0 && knot.q > 0 && std::gcd(knot.p, knot.q) == 1;
  shape.thinnest = is_knot && knot.winding_radius < knot.ring_radius ? tube : 0;
  return shape;
}

ImplicitShape metaballs(const Metaballs& balls) {
  ImplicitShape shape;
  shape.name = "metaballs";
  const auto radius = [balls](std::size_t i) { return balls.radii[balls.radii.size() == 1 ? 0 : i]; };
  const bool valid =
      !balls.centers.empty() && (balls.radii.size() == 1 || balls.radii.size() == balls.centers.size());
  if (!valid) {  // refused by the mesher, because its thinnest part is 0
    shape.value = [](const Vec3&) { return 1.0; };
    shape.box = ball_box(Vec3::Zero(), 1);
    return shape;
  }
  shape.value = [balls, radius](const Vec3& x) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < balls.centers.size(); ++i)
      nearest = std::min(nearest, (x - balls.centers[i]).norm() - radius(i));
    double sum = 0;  // of exponentials relative to the nearest: cannot overflow
    for (std::size_t i = 0; i < balls.centers.size(); ++i) {
      sum += std::exp((nearest - (x - balls.centers[i]).norm() + radius(i)) / balls.blend);
    }
    return nearest - balls.blend * std::log(sum);
  };
  const double swelling = balls.blend * std::log(static_cast<double>(balls.centers.size()));
  shape.thinnest = std::numeric_limits<double>::infinity();
  shape.box = ball_box(balls.centers[0], radius(0) + swelling);
  for (std::size_t i = 0; i < balls.centers.size(); ++i) {
    const Bounds box = ball_box(balls.centers[i], radius(i) + swelling);
    shape.box = {shape.box.min.cwiseMin(box.min), shape.box.max.cwiseMax(box.max)};
    shape.thinnest = std::min(shape.thinnest, radius(i));
  }
  shape.largest_part_only = true;
  return shape;
}

ImplicitShape pierced_shell(const PiercedShell& shell) {
  ImplicitShape shape;
  shape.name = "pierced shell";
  const double wall = shell.outer_radius - shell.inner_radius,
               rounding = 0.1 * std::min(wall, shell.hole_radius);
  shape.value = [=](const Vec3& x) {
    const Vec3 local = x - shell.center;
    const double r = local.norm();
    const double to_axis = std::min({std::hypot(local.y(), local.z()), std::hypot(local.z(), local.x()),
                                     std::hypot(local.x(), local.y())});
    return smooth_max(std::max(r - shell.outer_radius, shell.inner_radius - r), shell.hole_radius - to_axis,
                      rounding);
  };
  shape.box = ball_box(shell.center, shell.outer_radius);
  // Wider holes would meet (at 45° between two axes) and leave eight loose pieces.
  const bool connected = shell.hole_radius < 0.7 * shell.inner_radius;
  shape.thinnest = connected ? std::min({wall, shell.hole_radius, shell.inner_radius}) : 0;
  return shape;
}

}  // namespace lope::geometry
