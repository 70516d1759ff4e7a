#include <lope/geometry/shape_checks.h>

#include <cmath>

#include <Eigen/Geometry>
#include <fmt/format.h>

namespace lope::geometry {

std::optional<Error> check_sizes(std::initializer_list<NamedSize> sizes) {
  for (const auto& [what, value] : sizes) {
    if (!(std::isfinite(value) && value > 0)) {
      return Error{fmt::format("{} is {}; it must be a positive number of metres", what, value)};
    }
  }
  return std::nullopt;
}

std::optional<Error> check_placement(const char* name, const Vec3& center, const Vec3& axis) {
  if (!center.allFinite()) return Error{fmt::format("the centre of the {} is not a finite point", name)};
  if (!axis.allFinite() || axis.norm() == 0) {
    return Error{fmt::format("the axis of the {} is ({}); it must be a vector of some length", name,
                             fmt::join(axis.begin(), axis.end(), ", "))};
  }
  return std::nullopt;
}

// The shortest turn of z to the axis. By hand: Eigen's falls back to a decomposition that takes ten seconds to compile.
Mat3 frame_of(const Vec3& axis) {
  const Vec3 z = Vec3::UnitZ(), to = axis.normalized();
  const double cosine = to.dot(z);
  if (cosine < -1 + 1e-12) return Eigen::DiagonalMatrix<double, 3>(1, -1, -1);  // half a turn about x
  const double s = std::sqrt((1 + cosine) * 2);
  Eigen::Quaterniond turn;
  turn.vec() = z.cross(to) * (1 / s);
  turn.w() = 0.5 * s;
  return turn.toRotationMatrix();
}

}  // namespace lope::geometry
