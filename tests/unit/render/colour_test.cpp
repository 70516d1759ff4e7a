#include <lope/render/colour.h>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::render {
namespace {

float distance(Colour a, Colour b) { return std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b); }

TEST(Colour, EveryByteSurvivesDecodingAndEncoding) {
  for (std::uint32_t i = 0; i < 256; ++i) {
    const Bytes bytes = to_bytes(srgb(i << 16 | i << 8 | i));
    EXPECT_EQ(bytes.r, i);
    EXPECT_EQ(bytes.g, i);
    EXPECT_EQ(bytes.b, i);
  }
}

TEST(Colour, SequentialMapsGrowLighterAllTheWay) {
  for (const ColourMap map : {ColourMap::Tide, ColourMap::Ember}) {
    float before = luminance(colour_at(map, 0));
    for (int i = 1; i <= 1000; ++i) {
      const float now = luminance(colour_at(map, i / 1000.0));
      EXPECT_GT(now, before) << i;
      before = now;
    }
    EXPECT_GT(before, 0.6f);
  }
}

TEST(Colour, SequentialMapsTakeEvenStepsOfLightness) {
  // OKLab lightness of a grey is the cube root of its luminance; for the moderate chromas used here nearly
  // so.
  for (const ColourMap map : {ColourMap::Tide, ColourMap::Ember}) {
    const auto lightness = [map](double t) { return std::cbrt(luminance(colour_at(map, t))); };
    const double mean = (lightness(1) - lightness(0)) / 20;
    for (int i = 0; i < 20; ++i) {
      const double step = lightness((i + 1) / 20.0) - lightness(i / 20.0);
      EXPECT_NEAR(step / mean, 1, 0.45) << i;
    }
  }
}

TEST(Colour, DivergingMapIsLightestAndGreyInTheMiddle) {
  const Colour middle = colour_at(ColourMap::Diverging, 0.5);
  EXPECT_NEAR(middle.r, middle.b, 0.01);
  for (int i = 0; i < 100; ++i) {
    const double t = i / 200.0;
    EXPECT_LT(luminance(colour_at(ColourMap::Diverging, t)),
              luminance(colour_at(ColourMap::Diverging, t + 0.005)));
    EXPECT_LT(luminance(colour_at(ColourMap::Diverging, 1 - t)),
              luminance(colour_at(ColourMap::Diverging, 1 - t - 0.005)));
  }
  EXPECT_GT(colour_at(ColourMap::Diverging, 0).b, colour_at(ColourMap::Diverging, 0).r);
  EXPECT_GT(colour_at(ColourMap::Diverging, 1).r, colour_at(ColourMap::Diverging, 1).b);
}

TEST(Colour, NeighbouringCategoriesDifferStrongly) {
  for (int i = -5; i < 60; ++i) {
    for (int j = i + 1; j < i + 5; ++j) {
      EXPECT_GT(distance(colour_at(ColourMap::Categorical, i), colour_at(ColourMap::Categorical, j)), 0.15f);
    }
  }
}

TEST(Colour, MissingDataLookLikeNoValue) {
  const Colour missing = colour_at(ColourMap::Tide, std::numeric_limits<double>::quiet_NaN());
  for (const ColourMap map : {ColourMap::Tide, ColourMap::Ember, ColourMap::Diverging}) {
    for (int i = 0; i <= 100; ++i) EXPECT_GT(distance(missing, colour_at(map, i / 100.0)), 0.04f);
  }
}

RC_GTEST_PROP(Colour, OklchIsAlwaysShowable, ()) {
  const double lightness = *rc::gen::inRange(0, 1001) / 1000.0, chroma = *rc::gen::inRange(0, 500) / 1000.0;
  const Colour c = oklch(lightness, chroma, *rc::gen::inRange(-720, 720));
  for (const float channel : {c.r, c.g, c.b}) RC_ASSERT(channel >= 0.0f && channel <= 1.0f);
}

TEST(Colour, ValuesOutsideTheRangeTakeItsEnds) {
  EXPECT_EQ(distance(colour_of(ColourMap::Tide, -5, 0, 1), colour_at(ColourMap::Tide, 0)), 0);
  EXPECT_EQ(distance(colour_of(ColourMap::Tide, 5, 0, 1), colour_at(ColourMap::Tide, 1)), 0);
  EXPECT_EQ(distance(colour_of(ColourMap::Tide, 3, 3, 3), colour_at(ColourMap::Tide, 0.5)), 0);
}

TEST(Colour, UnknownMapIsAnErrorThatListsTheMaps) {
  EXPECT_TRUE(colour_map("ember").has_value());
  const auto wrong = colour_map("rainbow");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find("rainbow"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("tide"), std::string::npos);
}

}  // namespace
}  // namespace lope::render
