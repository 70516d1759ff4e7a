#include <lope/render/ticks.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::render {
namespace {

RC_GTEST_PROP(Ticks, LinearTicksAreRoundEvenInsideAndDistinct, ()) {
  const double scale = std::pow(10.0, *rc::gen::inRange(-12, 12));
  const double low = scale * *rc::gen::inRange(-10000, 10000);
  const double high = low + scale * *rc::gen::inRange(1, 20000);
  const int wanted = *rc::gen::inRange(2, 12);
  const Ticks ticks = linear_ticks(low, high, wanted);
  RC_ASSERT(ticks.ticks.size() >= 2u);
  RC_ASSERT(ticks.ticks.size() <= static_cast<std::size_t>(std::max(wanted + 2, 6)));
  const double step = ticks.ticks[1].value - ticks.ticks[0].value;
  const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-6));
  RC_ASSERT(std::abs(mantissa - 1) < 1e-6 || std::abs(mantissa - 2) < 1e-6 || std::abs(mantissa - 5) < 1e-6);
  std::set<std::string> labels;
  for (std::size_t i = 0; i < ticks.ticks.size(); ++i) {
    const double value = ticks.ticks[i].value;
    RC_ASSERT(value >= low - 1e-6 * step);
    RC_ASSERT(value <= high + 1e-6 * step);
    if (i > 0) RC_ASSERT(std::abs(value - ticks.ticks[i - 1].value - step) < 1e-6 * step);
    labels.insert(ticks.ticks[i].label);
  }
  RC_ASSERT(labels.size() == ticks.ticks.size());
}

TEST(Ticks, LabelsHaveTheDigitsTheyNeed) {
  const Ticks small = linear_ticks(0, 1, 5);
  ASSERT_EQ(small.ticks.size(), 6u);
  EXPECT_EQ(small.ticks[1].label, "0.2");
  EXPECT_EQ(small.ticks[0].label, "0.0");
  EXPECT_EQ(linear_ticks(-4, 4, 4).ticks[0].label, "−4");
  const Ticks large = linear_ticks(0, 3.2e7, 4);
  EXPECT_EQ(large.exponent, 7);
  EXPECT_EQ(times_power(large.exponent), "×10⁷");
  EXPECT_EQ(large.ticks[1].label, "1");
}

TEST(Ticks, LogTicksArePowersOfTenWithMinors) {
  const Ticks ticks = log_ticks(1e-6, 1, 8);
  int named = 0;
  for (const Tick& tick : ticks.ticks) {
    EXPECT_GE(tick.value, 1e-6 * (1 - 1e-9));
    EXPECT_LE(tick.value, 1 + 1e-9);
    if (tick.label.empty()) continue;
    ++named;
    const double power = std::log10(tick.value);
    EXPECT_NEAR(power, std::round(power), 1e-9);
  }
  EXPECT_EQ(named, 7);
  EXPECT_EQ(ticks.ticks.size(), 7u + 6 * 8);
  EXPECT_EQ(ticks.ticks.front().label, "10⁻⁶");
}

RC_GTEST_PROP(Ticks, LogTicksStayReadable, ()) {
  const double low = std::pow(10.0, *rc::gen::inRange(-200, 50) / 10.0);
  const double high = low * std::pow(10.0, *rc::gen::inRange(5, 300) / 10.0);
  const int wanted = *rc::gen::inRange(3, 10);
  int named = 0;
  double before = 0;
  for (const Tick& tick : log_ticks(low, high, wanted).ticks) {
    RC_ASSERT(tick.value > before);
    before = tick.value;
    named += !tick.label.empty();
  }
  RC_ASSERT(named >= 1);
  RC_ASSERT(named <= wanted + 2);
}

TEST(Ticks, BadRangesGiveNoTicks) {
  EXPECT_TRUE(linear_ticks(1, 1, 5).ticks.empty());
  EXPECT_TRUE(linear_ticks(2, 1, 5).ticks.empty());
  EXPECT_TRUE(linear_ticks(0, INFINITY, 5).ticks.empty());
  EXPECT_TRUE(linear_ticks(1e17, std::nextafter(1e17, 2e17), 5).ticks.empty());
  EXPECT_TRUE(log_ticks(0, 1, 5).ticks.empty());
  EXPECT_TRUE(log_ticks(-1, 1, 5).ticks.empty());
}

TEST(Ticks, NumbersForPeople) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(1234.5, 5), "1234.5");
  EXPECT_EQ(format_number(100), "100");
  EXPECT_EQ(format_number(0.0125), "0.0125");
  EXPECT_EQ(format_number(-2.5), "−2.5");
  EXPECT_EQ(format_number(1e-7), "10⁻⁷");
  EXPECT_EQ(format_number(1.5e-7), "1.5×10⁻⁷");
  EXPECT_EQ(format_number(9.9999e8), "10⁹");
}

}  // namespace
}  // namespace lope::render
