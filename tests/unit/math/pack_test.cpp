#include <lope/math/pack.h>

#include <cmath>
#include <limits>

#include "unit/math/widths.h"
#include <gtest/gtest.h>

namespace lope::math {
namespace {

template <class T>
class PackTest : public ::testing::Test {};
TYPED_TEST_SUITE(PackTest, ScalarTypes);

// Lane i of the test operands.
double first(int i) { return 0.75 + i; }
double second(int i) { return i % 2 ? -3.5 * i : 2.25 + i; }

TYPED_TEST(PackTest, ComputesEveryLaneLikeADouble) {
  using T = TypeParam;
  T a{}, b{};
  for (int i = 0; i < width<T>; ++i) {
    set_lane(a, i, first(i));
    set_lane(b, i, second(i));
  }
  for (int i = 0; i < width<T>; ++i) {
    const double x = first(i), y = second(i);
    EXPECT_EQ(lane(a + b, i), x + y);
    EXPECT_EQ(lane(a - b, i), x - y);
    EXPECT_EQ(lane(a * b, i), x * y);
    EXPECT_EQ(lane(a / b, i), x / y);
    EXPECT_EQ(lane(-a, i), -x);
    EXPECT_EQ(lane(min(a, b), i), std::min(x, y));
    EXPECT_EQ(lane(max(a, b), i), std::max(x, y));
    EXPECT_EQ(lane(abs(b), i), std::fabs(y));
    EXPECT_EQ(lane(copysign(a, b), i), std::copysign(x, y));
    EXPECT_EQ(lane(sqrt(a), i), std::sqrt(x));
    EXPECT_EQ(lane(log(a), i), std::log(x));
    EXPECT_EQ(lane(log1p(a), i), std::log1p(x));
    EXPECT_EQ(lane(select(a < b, a, b), i), x < y ? x : y);
  }
}

TYPED_TEST(PackTest, MasksKnowAnyAndAll) {
  using T = TypeParam;
  for (int odd = 0; odd < width<T>; ++odd) {
    T a(1.0);
    set_lane(a, odd, -1.0);
    EXPECT_TRUE(any_of(a < T(0)));
    EXPECT_EQ(all_of(a < T(0)), width<T> == 1);
    EXPECT_FALSE(all_of(a > T(0)));
    EXPECT_TRUE(all_of(abs(a) <= T(1)));
    EXPECT_FALSE(any_of(abs(a) > T(1)));
    set_lane(a, odd, std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(all_of(a <= T(1)));
  }
}

TEST(Pack, TransposesStripsOfFourAndTwo) {
  const auto check = [](auto pack) {
    using P = decltype(pack);
    P rows[P::width];
    for (int i = 0; i < P::width; ++i) {
      double line[P::width];
      for (int j = 0; j < P::width; ++j) line[j] = 10 * i + j;
      rows[i] = load<P>(line);
    }
    transpose(rows);
    for (int i = 0; i < P::width; ++i) {
      for (int j = 0; j < P::width; ++j) EXPECT_EQ(rows[i].v[j], 10 * j + i);
    }
  };
  check(Pack<2, TestTag>{});
  check(Pack<4, TestTag>{});
}

TEST(Pack, LoadsStoresAndGathersWithoutAlignment) {
  using P = Pack<4, TestTag>;
  const double source[6] = {9, 1, 2, 3, 4, 5};
  const int index[4] = {5, 0, 2, 2};
  double target[6] = {};
  store(target + 1, load<P>(source + 1));
  for (int i = 1; i < 5; ++i) EXPECT_EQ(target[i], source[i]);
  EXPECT_EQ(target[0], 0);
  EXPECT_EQ(target[5], 0);
  const P gathered = gather<P>(source, index);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(gathered.v[i], source[index[i]]);
  const int pairs[4] = {2, 0, 1, 2};
  const auto strided = gather<Twin<Pack<2, TestTag>>>(source + 1, pairs, 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(lane(strided, i), source[1 + 2 * pairs[i]]);
}

}  // namespace
}  // namespace lope::math
