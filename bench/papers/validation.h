// Whole runs against theory, over step lengths, schemes, stiffnesses and meshes: `lope bench validation` prints all of
// them (docs/validation.md), the tests assert those that are quick. A run is judged, not a step: what is right in every
// step may be wrong in a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lope::bench {

struct Check {
  std::string what;     // "speed of a box that slides down 20 degrees for 1 s"
  std::string setting;  // "h = 1/24 s, bdf-2"
  std::string unit;
  double measured = 0;
  double expected = 0;
  double scale = 0;    // of the error; 0: |expected|
  double allowed = 0;  // error, as a part of the scale
  int unconverged = 0;  // steps of the run
  double error() const;
  bool good() const { return unconverged == 0 && error() <= allowed; }
};

struct CheckGroup {
  std::string_view name;
  std::string_view theory;  // with what is compared
  // `quick`: what a test can afford.
  std::vector<Check> (*run)(bool quick);
};

// A flat block on a slope, of steel and softer (validation_blocks.cpp).
std::vector<Check> stiff_blocks(bool quick);

const std::vector<CheckGroup>& check_groups();

}  // namespace lope::bench
