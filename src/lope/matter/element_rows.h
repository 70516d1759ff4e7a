// How elements and material points lie in memory for loops over batches of them: they stand in batches of `lanes`; quantity q
// of a batch is one row of `lanes` consecutive doubles, one per element, and the rows of a batch are consecutive (an array of
// structures of arrays). All instruction sets share the layout; a narrower one walks a batch in several strides.
#pragma once

namespace lope::matter {

inline constexpr int lanes = 8;

struct alignas(64) Row {
  double lane[lanes];
};
struct alignas(32) IndexRow {
  int lane[lanes];
};

struct EnergySums {
  double value = 0;      // Σ Vψ, V the volume (membranes: area) at rest
  double magnitude = 0;  // Σ V(|ψ| + σ₁ Σ|P|): times the machine epsilon, what rounding may do to the value

  EnergySums& operator+=(const EnergySums& other) {
    value += other.value;
    magnitude += other.magnitude;
    return *this;
  }
};

}  // namespace lope::matter
