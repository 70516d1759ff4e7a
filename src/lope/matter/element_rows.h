// How elements lie in memory for loops over batches of them: elements stand in batches of `lanes`; quantity q of a batch is one
// row of `lanes` consecutive doubles, one per element, and the rows of a batch are consecutive (an array of structures of
// arrays). All instruction sets share the layout; a narrower one walks a batch in several strides.
#pragma once

namespace lope::matter {

inline constexpr int lanes = 8;

struct alignas(64) Row {
  double lane[lanes];
};
struct alignas(32) IndexRow {
  int lane[lanes];
};

}  // namespace lope::matter
