// The scalar types every template of math/ is tested with, and access to their lanes.
#pragma once

#include <lope/math/pack.h>

#include <gtest/gtest.h>

namespace lope::math {

struct TestTag {};
using ScalarTypes =
    ::testing::Types<double, Pack<2, TestTag>, Pack<4, TestTag>, Pack<8, TestTag>, Twin<Pack<4, TestTag>>>;

template <class T>
inline constexpr int width = static_cast<int>(sizeof(T) / sizeof(double));

inline double lane(double value, int) { return value; }
inline void set_lane(double& value, int, double x) { value = x; }
template <int W>
double lane(const Pack<W, TestTag>& value, int i) {
  return value.v[i];
}
template <int W>
void set_lane(Pack<W, TestTag>& value, int i, double x) {
  value.v[i] = x;
}
template <class P>
double lane(const Twin<P>& value, int i) {
  return i < P::width ? value.first.v[i] : value.second.v[i - P::width];
}
template <class P>
void set_lane(Twin<P>& value, int i, double x) {
  (i < P::width ? value.first : value.second).v[i % P::width] = x;
}

}  // namespace lope::math
