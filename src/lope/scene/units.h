// Quantities of the scene file: SI numbers, or strings with a number and a unit ("25 ms", "0.5 MPa", "1/24
// s", "2 kg/m^3", "1 turn/s"). The dimension is checked: a length where a time is due is an error, never a
// guess. Angles count as a dimension of their own, so that "90 deg" is neither a length nor a plain number.
#pragma once

#include <lope/base/expected.h>

#include <string>
#include <string_view>

namespace lope::scene {

// What a key of the scene file measures.
enum class Dimension {
  Number,
  Length,
  Time,
  Mass,
  Angle,
  Velocity,
  Acceleration,
  AngularVelocity,
  Frequency,
  Density,
  Pressure,
  Force,
  Torque,
  AreaDensity,
  Stiffness,  // force per length
};

// How a dimension is spoken of in messages and in the reference page.
struct DimensionInfo {
  std::string_view name;      // "a time"
  std::string_view si;        // "s"; empty for plain numbers
  std::string_view examples;  // "\"25 ms\", \"1/24 s\""
};
const DimensionInfo& info(Dimension dimension);

// "a time: a number in s, or a string such as "25 ms", "1/24 s""
std::string expectation(Dimension dimension);

// The SI value of `text`. Grammar: number [/ number] [unit], unit = factor (('*' | '·' | '/') factor)*,
// factor = symbol ['^' integer]; SI prefixes where they make sense. A text without a unit is taken as SI.
// Fails on a malformed or non-finite number, an unknown unit (with the nearest known one) or a unit of
// another dimension; the message names what was expected but not where: the caller knows the key and the
// line.
Expected<double> parse_quantity(std::string_view text, Dimension dimension);

}  // namespace lope::scene
