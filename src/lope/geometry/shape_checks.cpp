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

Mat3 frame_of(const Vec3& axis) {
  return Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), axis.normalized()).toRotationMatrix();
}

}  // namespace lope::geometry
