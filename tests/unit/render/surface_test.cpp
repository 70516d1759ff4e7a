#include <lope/render/frame_surface.h>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace lope::render {
namespace {

TEST(FrameSurface, AFieldFindsItsPlaceByItsNumber) {
  const std::vector<double> three = {1, 2, std::nan("")}, two = {-4, 1}, one = {0};
  const auto on_vertices = field_on("stress", 3, 2, three, {});
  ASSERT_TRUE(on_vertices.has_value());
  EXPECT_EQ(on_vertices->on, SurfaceField::On::Vertices);
  EXPECT_EQ(on_vertices->low, 1);
  EXPECT_EQ(on_vertices->high, 2);
  const auto on_faces = field_on("strain", 3, 2, two, {.map = ColourMap::Diverging});
  ASSERT_TRUE(on_faces.has_value());
  EXPECT_EQ(on_faces->on, SurfaceField::On::Faces);
  EXPECT_EQ(on_faces->low, -4);
  EXPECT_EQ(on_faces->high, 4);
  const auto nowhere = field_on("odd", 3, 2, one, {});
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().message.find("'odd'"), std::string::npos);
}

TEST(FrameSurface, GivenLimitsWin) {
  const std::vector<double> values = {1, 2, 3};
  const auto field = field_on("x", 3, 1, values, {.low = 0, .high = 10});
  EXPECT_EQ(field->low, 0);
  EXPECT_EQ(field->high, 10);
}

TEST(FrameSurface, RangeOfNothingIsUnit) {
  const std::vector<double> values = {std::nan(""), INFINITY};
  EXPECT_EQ(finite_range(values).low, 0);
  EXPECT_EQ(finite_range(values).high, 1);
}

}  // namespace
}  // namespace lope::render
