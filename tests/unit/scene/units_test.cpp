#include <lope/scene/units.h>

#include <numbers>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace lope::scene {
namespace {

constexpr double pi = std::numbers::pi;

struct Case {
  const char* text;
  Dimension dimension;
  double value;
};

class Units : public ::testing::TestWithParam<Case> {};

TEST_P(Units, HaveTheirSiValue) {
  const auto value = parse_quantity(GetParam().text, GetParam().dimension);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_NEAR(*value, GetParam().value, 1e-14 * std::abs(GetParam().value)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Units,
    ::testing::Values(Case{"25 ms", Dimension::Time, 0.025}, Case{"25ms", Dimension::Time, 0.025},
                      Case{"1/24 s", Dimension::Time, 1.0 / 24}, Case{" 2 min ", Dimension::Time, 120},
                      Case{"1.5e-3 s", Dimension::Time, 1.5e-3}, Case{"+3 us", Dimension::Time, 3e-6},
                      Case{"3 µs", Dimension::Time, 3e-6}, Case{"0.25", Dimension::Time, 0.25},
                      Case{"0.5 MPa", Dimension::Pressure, 5e5}, Case{"200 GPa", Dimension::Pressure, 2e11},
                      Case{"3 N/mm^2", Dimension::Pressure, 3e6}, Case{"1 kg/m/s^2", Dimension::Pressure, 1},
                      Case{"1 kg*m^-1*s^-2", Dimension::Pressure, 1}, Case{"2 bar", Dimension::Pressure, 2e5},
                      Case{"10 cm", Dimension::Length, 0.1}, Case{"-0.1 mm", Dimension::Length, -1e-4},
                      Case{"1 in", Dimension::Length, 0.0254}, Case{"90 deg", Dimension::Angle, pi / 2},
                      Case{"90°", Dimension::Angle, pi / 2}, Case{"5 turn", Dimension::Angle, 10 * pi},
                      Case{"2 kg/m^3", Dimension::Density, 2}, Case{"1 g/cm^3", Dimension::Density, 1000},
                      Case{"1 turn/s", Dimension::AngularVelocity, 2 * pi},
                      Case{"30 rpm", Dimension::AngularVelocity, pi},
                      Case{"9.81 m/s^2", Dimension::Acceleration, 9.81},
                      Case{"1 N/kg", Dimension::Acceleration, 1}, Case{"24 Hz", Dimension::Frequency, 24},
                      Case{"24 1/s", Dimension::Frequency, 24}, Case{"0.5/s", Dimension::Frequency, 0.5},
                      Case{"30 fps", Dimension::Frequency, 30}, Case{"50 %", Dimension::Number, 0.5},
                      Case{"10 mm/m", Dimension::Number, 0.01}, Case{"2 mN", Dimension::Force, 2e-3},
                      Case{"36 km/h", Dimension::Velocity, 10}));

std::string failure(const char* text, Dimension dimension) {
  const auto value = parse_quantity(text, dimension);
  return value ? "accepted" : value.error().message;
}

TEST(UnitErrors, NameTheExpectedDimensionWithExamples) {
  const std::string message = failure("25 cm", Dimension::Time);
  EXPECT_NE(message.find("\"25 cm\" is a length"), std::string::npos) << message;
  EXPECT_NE(message.find("expected a time"), std::string::npos) << message;
  EXPECT_NE(message.find("\"25 ms\""), std::string::npos) << message;
}

TEST(UnitErrors, SuggestTheNearestUnit) {
  EXPECT_NE(failure("0.5 Mpa", Dimension::Pressure).find("did you mean 'MPa'"), std::string::npos);
  EXPECT_NE(failure("90 degr", Dimension::Angle).find("did you mean 'deg'"), std::string::npos);
}

TEST(UnitErrors, RefuseWhatIsNoNumber) {
  for (const char* text : {"", "ms", "nan s", "inf", "1/0 s", "1e999 s", "--1 s", "1 s^", "1 s^99", "1 s/",
                           "1 /", "0x10 s", "1 s s", "1 m^2"}) {
    EXPECT_NE(failure(text, Dimension::Time), "accepted") << text;
  }
}

TEST(UnitErrors, AnglesAreNotPlainNumbers) {
  EXPECT_NE(failure("1 rad", Dimension::Number), "accepted");
  EXPECT_NE(failure("1/s", Dimension::AngularVelocity), "accepted");
}

TEST(UnitProperties, EveryNumberSurvivesEveryPrefix) {
  rc::check("n mm = n / 1000 m", [] {
    const double number = *rc::gen::map(rc::gen::arbitrary<int>(), [](int n) { return n / 64.0; });
    const auto millimetres = parse_quantity(fmt::format("{} mm", number), Dimension::Length);
    const auto metres = parse_quantity(fmt::format("{} m", number), Dimension::Length);
    RC_ASSERT(millimetres.has_value() && metres.has_value());
    RC_ASSERT(*metres == number);
    RC_ASSERT(std::abs(*millimetres - number * 1e-3) <= 1e-15 * std::abs(number));
  });
}

TEST(UnitProperties, NoTextCrashes) {
  rc::check("any text gives a value or a message", [](const std::string& text) {
    const auto value = parse_quantity(text, Dimension::Length);
    const bool answered = value ? std::isfinite(*value) : !value.error().message.empty();
    RC_ASSERT(answered);
  });
}

}  // namespace
}  // namespace lope::scene
