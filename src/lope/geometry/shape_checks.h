// What every shape that users describe is asked first. Internal to geometry/.
#pragma once

#include <lope/base/expected.h>
#include <lope/math/types.h>

#include <initializer_list>
#include <optional>

namespace lope::geometry {

struct NamedSize {
  const char* what;
  double value;
};

// Each must be positive and finite.
std::optional<Error> check_sizes(std::initializer_list<NamedSize> sizes);

// The centre must be finite, the axis have some length.
std::optional<Error> check_placement(const char* name, const Vec3& center, const Vec3& axis);

// A rotation that takes the z-axis to `axis`.
Mat3 frame_of(const Vec3& axis);

}  // namespace lope::geometry
