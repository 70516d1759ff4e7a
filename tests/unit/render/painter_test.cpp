// Pictures of frames, from what is in the frames alone.
#include <lope/io/run_frames.h>
#include <lope/render/looks.h>
#include <lope/render/painter.h>

#include <filesystem>

#include "scratch_folder.h"
#include "shapes.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

using geometry::Drawable;

// A square in the plane, from (x, 0) to (x + 1, 1).
Drawable square(float x) {
  Drawable made;
  made.surface.positions = {x, 0, 0, x + 1, 0, 0, x + 1, 1, 0, x, 1, 0};
  return made;
}

Drawable square_once(const Vec3& color) {
  Drawable made;
  made.dimension = 2;
  made.look.color = color;
  made.surface.triangles = {0, 1, 2, 0, 2, 3};
  return made;
}

class Painting : public ScratchFolder {
 protected:
  // Two squares and a point; the left one has heat, and moves in the last of three frames.
  void SetUp() override {
    ScratchFolder::SetUp();
    const std::filesystem::path frames = folder_ / "frames";
    std::filesystem::create_directories(frames);
    io::Frame topology;
    io::add_drawable("left", square_once(Vec3(1, 0, 0)), true, topology);
    io::add_drawable("right", square_once(Vec3(0, 0, 1)), true, topology);
    Drawable dot;
    dot.dimension = 2;
    dot.look.color = Vec3(1, 1, 0);
    dot.points.palette = {1, 0, 1, 0, 1, 0};
    dot.points.radius = 0.4;
    io::add_drawable("dot", dot, true, topology);
    Drawable mixed;
    mixed.dimension = 2;
    mixed.look.color = Vec3(1, 1, 0);
    mixed.points.palette = {1, 0, 0, 0, 0, 1};
    mixed.points.radius = 0.1;
    io::add_drawable("mixed", mixed, true, topology);
    ASSERT_TRUE(io::write_frame(topology, io::topology_path(frames)));
    for (int k = 0; k < 3; ++k) {
      io::Frame frame;
      frame.number = k;
      frame.time = 0.1 * k;
      Drawable left = square(0);
      if (k == 1) left.surface.positions[6] = 1.5F;
      left.surface.vertex_fields = {{"heat", "K", 1, {1, 1, 1, 1}}};
      io::add_drawable("left", left, false, frame);
      io::add_drawable("right", square(2), false, frame);
      Drawable points;
      points.points.positions = {4.5F, 0.5F, 0};
      points.points.fields = {{"part", "", 1, {k == 2 ? 7.0F : 1.0F}}};  // of the palette; in the last frame, of none
      io::add_drawable("dot", points, false, frame);
      // Of the first part there is a surface; the other one has only points.
      Drawable parts;
      parts.surface.positions = {3.2F, 0.3F, 0, 3.6F, 0.3F, 0, 3.6F, 0.7F, 0, 3.2F, 0.7F, 0};
      parts.surface.triangles = {0, 1, 2, 0, 2, 3};
      parts.surface.element_fields = {{"part", "", 1, {0, 0}}};
      parts.points.positions = {3.4F, 0.5F, 0, 3.08F, 0.5F, 0, 3.85F, 0.5F, 0};
      parts.points.fields = {{"part", "", 1, {0, 0, 1}}};
      io::add_drawable("mixed", parts, false, frame);
      ASSERT_TRUE(io::write_frame(frame, io::frame_path(frames, k)));
    }
    auto opened = io::RunFrames::open(folder_);
    ASSERT_TRUE(opened) << opened.error().message;
    run = std::make_unique<io::RunFrames>(std::move(*opened));
  }

  Bytes seen(const std::string& color_by, double x, std::int64_t frame = 0, bool points = false) {
    PainterOptions options;
    options.points = points;
    options.picture = {.width = 240, .height = 80, .samples = 16};
    options.color_by = color_by;
    const auto painter = Painter::create(*run, options);
    EXPECT_TRUE(painter) << painter.error().message;
    const auto image = painter->paint(*run->read(frame));
    EXPECT_TRUE(image) << image.error().message;
    geometry::Bounds all;
    all.add(Vec3(0, 0, 0));
    all.add(Vec3(4.5, 1, 0));
    return pixel_at(*image, frame_flat(all, 3), {x, 0.5, 0});
  }

  std::unique_ptr<io::RunFrames> run;
};

bool is(const Bytes& seen, const Vec3& srgb) {
  const Bytes expected = to_bytes(to_colour(srgb));
  return std::abs(seen.r - expected.r) + std::abs(seen.g - expected.g) + std::abs(seen.b - expected.b) < 12;
}

TEST_F(Painting, BodiesHaveTheirColours) {
  EXPECT_TRUE(is(seen("body", 0.6), Vec3(1, 0, 0)));
  EXPECT_TRUE(is(seen("body", 2.6), Vec3(0, 0, 1)));
  EXPECT_TRUE(is(seen("body", 4.4), Vec3(0, 1, 0)));
}

TEST_F(Painting, PointsHaveTheColoursOfTheirParts) {
  EXPECT_TRUE(is(seen("body", 4.4), Vec3(0, 1, 0)));
  EXPECT_TRUE(is(seen("body", 4.4, 2), Vec3(1, 1, 0)));
}

TEST_F(Painting, PartsAreShownBySurfacesWhereThereAreAnyAndOtherwiseByPoints) {
  EXPECT_TRUE(is(seen("body", 3.5), Vec3(1, 0, 0)));
  EXPECT_TRUE(is(seen("body", 3.85), Vec3(0, 0, 1)));
  EXPECT_FALSE(is(seen("body", 3.08), Vec3(1, 0, 0)));
  // Points are asked for.
  EXPECT_TRUE(is(seen("body", 3.08, 0, true), Vec3(1, 0, 0)));
  EXPECT_FALSE(is(seen("body", 3.55, 0, true), Vec3(1, 0, 0)));
  EXPECT_TRUE(is(seen("body", 3.85, 0, true), Vec3(0, 0, 1)));
}

TEST_F(Painting, ABodyWithoutTheFieldKeepsItsColour) {
  EXPECT_FALSE(is(seen("heat", 0.6), Vec3(1, 0, 0)));
  EXPECT_TRUE(is(seen("heat", 2.6), Vec3(0, 0, 1)));
}

TEST_F(Painting, AFieldThatNothingHasIsRefused) {
  PainterOptions options;
  options.color_by = "nothing";
  const auto painter = Painter::create(*run, options);
  ASSERT_FALSE(painter);
  EXPECT_NE(painter.error().message.find("no field 'nothing'; they have: body, partition, heat"), std::string::npos)
      << painter.error().message;
}

TEST_F(Painting, TheMostDramaticFrameIsThatOfTheLargestDeformation) { EXPECT_EQ(*most_dramatic(*run), 1); }

}  // namespace
}  // namespace lope::render
