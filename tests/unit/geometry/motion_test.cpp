#include <lope/geometry/motion.h>

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::geometry {
namespace {

Curve<double> ramp(AfterLastKey after) { return {{1, 2, 4}, {10, 20, 0}, after}; }

TEST(Curve, WithoutKeysIsZero) {
  EXPECT_EQ(Curve<double>{}.at(3), 0);
  EXPECT_EQ(Curve<Vec3>{}.at(3), Vec3(0, 0, 0));
}

TEST(Curve, PassesThroughItsKeysAndIsLinearBetween) {
  for (const AfterLastKey after :
       {AfterLastKey::Hold, AfterLastKey::Extend, AfterLastKey::Loop, AfterLastKey::Mirror}) {
    const Curve<double> curve = ramp(after);
    EXPECT_EQ(curve.at(-5), 10);
    EXPECT_EQ(curve.at(1), 10);
    EXPECT_DOUBLE_EQ(curve.at(1.25), 12.5);
    EXPECT_EQ(curve.at(2), 20);
    EXPECT_DOUBLE_EQ(curve.at(3), 10);
    EXPECT_EQ(curve.at(4), 0);
  }
}

TEST(Curve, GoesOnAfterTheLastKeyAsAsked) {
  EXPECT_EQ(ramp(AfterLastKey::Hold).at(9), 0);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Extend).at(5), -10);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Loop).at(4.5), 15);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Loop).at(7 + 1.0), 20);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Mirror).at(5), 10);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Mirror).at(6), 20);
  EXPECT_DOUBLE_EQ(ramp(AfterLastKey::Mirror).at(8), 20);
}

TEST(Curve, OneKeyIsConstant) {
  for (const AfterLastKey after :
       {AfterLastKey::Hold, AfterLastKey::Extend, AfterLastKey::Loop, AfterLastKey::Mirror}) {
    const Curve<double> curve{{2}, {7}, after};
    for (const double t : {-1.0, 2.0, 30.0}) EXPECT_EQ(curve.at(t), 7);
  }
}

TEST(Curve, EqualTimesJump) {
  const Curve<double> curve{{0, 1, 1, 2}, {0, 0, 5, 5}, AfterLastKey::Hold};
  EXPECT_EQ(curve.at(0.999), 0);
  EXPECT_EQ(curve.at(1), 5);
  const Curve<double> last{{0, 1, 1}, {0, 0, 5}, AfterLastKey::Extend};
  EXPECT_EQ(last.at(1), 5);
  EXPECT_EQ(last.at(2), 5);
}

RC_GTEST_PROP(Curve, RepeatsWithItsPeriod, ()) {
  const double t = 4 + *rc::gen::inRange(1, 3000) / 1000.0;
  const int turns = *rc::gen::inRange(0, 20);
  RC_ASSERT(std::abs(ramp(AfterLastKey::Loop).at(t) - ramp(AfterLastKey::Loop).at(t + 3 * turns)) < 1e-9 ||
            std::abs(std::remainder(t - 1, 3.0)) < 1e-9);  // at the jump round-off decides the side
  RC_ASSERT(std::abs(ramp(AfterLastKey::Mirror).at(t) - ramp(AfterLastKey::Mirror).at(t + 6 * turns)) < 1e-9);
}

TEST(Motion, StartsWhereThePointStarts) {
  Motion motion;
  motion.displacement = {{-1, 1}, {Vec3(0, 0, 0), Vec3(2, 4, 6)}, AfterLastKey::Extend};
  motion.angle = {{-1, 1}, {3, 5}, AfterLastKey::Extend};
  const Vec3 start(0.3, -0.2, 0.9);
  EXPECT_EQ(motion.position(start, 0), start);
}

TEST(Motion, TurnsAboutTheAxisThroughThePivotThenMoves) {
  Motion motion;
  motion.axis = Vec3(0, 0, 4);
  motion.pivot = Vec3(1, 0, 5);
  motion.angle = {{0, 1}, {0, std::numbers::pi}, AfterLastKey::Extend};
  motion.displacement = {{0, 1}, {Vec3(0, 0, 0), Vec3(0, 0, 1)}, AfterLastKey::Hold};
  EXPECT_LT((motion.position(Vec3(2, 0, 0), 0.5) - Vec3(1, 1, 0.5)).norm(), 1e-15);
  EXPECT_LT((motion.position(Vec3(2, 0, 0), 2) - Vec3(2, 0, 1)).norm(), 1e-15);
}

RC_GTEST_PROP(Motion, IsRigid, ()) {
  const auto number = [] { return *rc::gen::inRange(-1000, 1000) / 100.0; };
  const auto point = [&] { return Vec3(number(), number(), number()); };
  Motion motion;
  motion.axis = point() + Vec3(0, 0, 20);
  motion.pivot = point();
  motion.angle = {{0, 1, 3}, {0, number(), number()}, AfterLastKey::Mirror};
  motion.displacement = {{0, 2}, {point(), point()}, AfterLastKey::Loop};
  const Vec3 a = point(), b = point();
  const double t = 10 + number();
  const double before = (a - b).norm();
  const double after = (motion.position(a, t) - motion.position(b, t)).norm();
  RC_ASSERT(std::abs(before - after) < 1e-12 * (1 + before));
}

}  // namespace
}  // namespace lope::geometry
