// Where the marks of an axis stand and what they say.
#pragma once

#include <string>
#include <vector>

namespace lope::render {

struct Tick {
  double value = 0;
  std::string label;  // empty for a minor tick of a logarithmic axis
};

// Labels are to be read times 10^exponent (0 unless the numbers are large or small throughout).
struct Ticks {
  std::vector<Tick> ticks;
  int exponent = 0;
};

// Multiples of 1, 2 or 5 times a power of ten inside [low, high], about `wanted` of them and at least two for
// any range that doubles can divide. Labels have just the digits that tell them apart.
Ticks linear_ticks(double low, double high, int wanted);

// Powers of ten inside [low, high] (every n-th where there are more than `wanted`), with unlabelled minor
// ticks at the digits 2 to 9 where every power is labelled. A range of less than a decade and a half gets
// labels at 1, 2, 5. Both ends must be positive.
Ticks log_ticks(double low, double high, int wanted);

// A number for people: up to `digits` significant ones, no trailing zeros, 1.5×10⁻⁷ where it is very large or
// small.
std::string format_number(double value, int digits = 3);

// "×10³" (empty for 0): what to write at the end of an axis.
std::string times_power(int exponent);

}  // namespace lope::render
