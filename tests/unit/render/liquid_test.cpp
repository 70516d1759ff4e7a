#include <lope/base/parallel.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/render/cell_plot.h>
#include <lope/render/picture.h>

#include <cmath>

#include "shapes.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

constexpr PictureOptions small = {.width = 120, .height = 90, .samples = 64};

Scene ball_on_ground(const Clear& clear) {
  Scene scene;
  scene.surfaces = {make_sphere({0, 1, 0}, 1, 24)};
  scene.surfaces[0].clear = clear;
  scene.ground->height = 0;
  scene.camera = frame_bounds(bounds(scene.surfaces), {.aspect = 4.0 / 3.0, .margin = 0.35});
  return scene;
}

// In even light a body that only bends and mirrors light cannot be seen.
TEST(ClearPicture, WhiteFurnace) {
  const Colour grey = {0.5f, 0.5f, 0.5f};
  for (const Clear::Kind kind : {Clear::Kind::Water, Clear::Kind::Glass}) {
    Scene scene = ball_on_ground({.kind = kind, .index = 1.4, .tint = {1, 1, 1}});
    scene.surfaces.push_back(make_box({-0.4, 0.7, -0.3}, {0.4, 1.2, 0.3}));
    scene.surfaces[1].colour = {1, 1, 1};
    scene.ground.reset();
    scene.sun.strength = 0;
    scene.sky = {grey, grey, grey};
    scene.background = {grey, grey};
    scene.studio = {grey, grey};
    const Image image = *draw(scene, small);
    const int expected = to_bytes(grey).r;
    for (const std::uint8_t byte : image.rgb) ASSERT_NEAR(byte, expected, 2);
  }
}

TEST(ClearPicture, DeepLiquidTakesTheColourOfItsTint) {
  Scene scene = ball_on_ground({.tint = {0.05f, 0.3f, 0.9f}, .depth = 0.7});
  const Image image = *draw(scene, small);
  const Bytes middle = pixel_at(image, scene.camera, {0, 0.9, 0});
  EXPECT_GT(middle.b, middle.g);
  EXPECT_GT(middle.g, middle.r);
}

TEST(ClearPicture, HasTheSameBitsForAnyNumberOfThreads) {
  Scene scene = ball_on_ground({});
  scene.surfaces.push_back(make_box({-2, 0, -2}, {2, 2.5, 2}));
  scene.surfaces.back().clear = Clear{.kind = Clear::Kind::Glass, .index = 1.5};
  scene.balls.push_back({{Vec3(0, 0.6, 0), Vec3(0.3, 1, 0)}, 0.2, srgb(0xCC4422), {}});
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return draw(scene, small)->rgb;
  };
  EXPECT_EQ(with(1), with(2));
}

TEST(ClearPicture, BallsShowTheirColoursAndFields) {
  Scene scene;
  Balls balls;
  balls.centers = {Vec3(-1, 0, 0), Vec3(1, 0, 0)};
  balls.radius = 0.8;
  balls.field = SurfaceField{.values = {0, 1}};
  scene.balls = {balls};
  scene.ground.reset();
  scene.unlit = true;
  scene.camera = frame_flat({Vec3(-2, -1, -1), Vec3(2, 1, 1)}, 4.0 / 3.0);
  const Image image = *draw(scene, small);
  for (const double side : {-1.0, 1.0}) {
    const Bytes seen = pixel_at(image, scene.camera, {side, 0, 0});
    const Bytes expected = to_bytes(colour_at(ColourMap::Tide, side < 0 ? 0 : 1));
    EXPECT_NEAR(seen.r, expected.r, 2);
    EXPECT_NEAR(seen.g, expected.g, 2);
    EXPECT_NEAR(seen.b, expected.b, 2);
  }
  scene.balls[0].field->values.pop_back();
  const auto wrong = draw(scene, small);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("1 values for 2 balls"), std::string::npos);
  scene.balls[0] = {{Vec3(0, std::nan(""), 0)}, 1, {}, {}};
  EXPECT_FALSE(draw(scene, small));
}

TEST(ClearPicture, RefusesAnIndexBelowOne) {
  const auto image = draw(ball_on_ground({.index = 0.5}), small);
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("refraction"), std::string::npos);
}

// Four cells in a box, of which the left ones hold liquid; the lower left one has let go of its walls.
CellPlot four_cells() {
  CellPlot plot;
  plot.region = {Vec3(-0.2, -0.2, 0), Vec3(2.2, 2.2, 0)};
  plot.spacing = 1;
  plot.cells = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  using Kind = CellPlot::Kind;
  plot.kinds = {Kind::Full, Kind::Full, Kind::Empty, Kind::Empty};
  plot.separating = {true, false, false, false};
  plot.names = {"air", "liquid", "solid"};
  plot.level_set = {-0.5f, -0.5f, 0.5f, 0.5f};
  plot.walls = {{geometry::complement_of(
                      *geometry::level_set(geometry::box_between(Vec3(0, 0, -1e3), Vec3(2, 2, 1e3)))),
                  {}}};
  return plot;
}

TEST(CellPlot, ShowsWhatCellsAre) {
  const CellPlot plot = four_cells();
  const int size = 240;
  const auto image = draw_cells(plot, size, size);
  ASSERT_TRUE(image) << image.error().message;
  const auto key = cell_plot_key(plot);
  const auto is = [&](double x, double y, const std::string& name) {
    const double scale = 0.94 * size / 2.4;
    const Bytes seen = pixel(*image, static_cast<int>(0.5 * size + (x - 1) * scale),
                             static_cast<int>(0.5 * size - (y - 1) * scale));
    for (const NamedColour& entry : key) {
      if (entry.name != name) continue;
      const Bytes expected = to_bytes(entry.colour);
      return std::abs(seen.r - expected.r) + std::abs(seen.g - expected.g) + std::abs(seen.b - expected.b) <
             8;
    }
    return false;
  };
  EXPECT_TRUE(is(0.5, 0.5, "liquid"));
  EXPECT_TRUE(is(1.6, 1.5, "air"));
  EXPECT_TRUE(is(-0.15, 1, "solid"));
  EXPECT_TRUE(is(-0.012, 0.5, "let go"));
  EXPECT_TRUE(is(-0.012, 1.5, "pressed upon"));
  EXPECT_TRUE(is(1.5, -0.012, "solid"));
}

TEST(CellPlot, RefusesWhatDoesNotMatch) {
  CellPlot plot = four_cells();
  plot.kinds.pop_back();
  EXPECT_FALSE(draw_cells(plot, 100, 100));
  plot = four_cells();
  plot.points = {Vec3(0.5, 0.5, 0)};
  plot.point_values = {1, 2};
  EXPECT_FALSE(draw_cells(plot, 100, 100));
  plot = four_cells();
  plot.region = {};
  EXPECT_FALSE(draw_cells(plot, 100, 100));
}

}  // namespace
}  // namespace lope::render
