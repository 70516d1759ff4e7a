// Drawables go through frames and come back whole; what does not fit together is refused.
#include <lope/io/drawable_frame.h>
#include <lope/io/run_frames.h>

#include <gtest/gtest.h>

#include "samples.h"

namespace lope::io {
namespace {

using geometry::Drawable;

// A triangle that moves with a field on its vertices and one on itself, two points and a cell.
Drawable constant_part() {
  Drawable made;
  made.look = {
      Vec3(0.25, 0.5, 1), "water", true, false, true, Vec3(1, 0.5, 0), {"checks", 0.25, Vec3(0, 0.5, 0)}};
  made.surface.triangles = {0, 1, 2};
  made.surface.material_coordinates = {0, 0, 2, 0, 0, 2};
  made.surface.element_fields = {{"partition", "", 1, {3}}};
  made.points.radius = 0.1;
  made.points.palette = {0.25F, 0.5F, 1, 0, 0, 1};
  made.volume.spacing = 0.5;
  made.volume.origin = Vec3(-1, 0.1, 2);
  made.volume.staggered = {"velocity"};
  made.volume.kinds = {"air", "liquid", "solid"};
  return made;
}

Drawable changing_part() {
  Drawable made;
  made.surface.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  made.surface.vertex_fields = {{"velocity", "m/s", 3, {3, 0, 4, 0, 0, 0, 0, 0, 0}}};
  made.surface.element_fields = {{"heat", "K", 1, {300}}};
  made.surface.out_of_walls = {0, -1, 0, 0, 0, 0, 0, 0, 0};
  made.points.positions = {-0.9F, 0.2F, 2.1F, 5, 5, 5};
  made.points.fields = {{"velocity", "m/s", 3, {0, 3, 4, 1, 0, 0}}};
  made.volume.cells = {0, 0, 0};
  made.volume.fields = {{"pressure", "Pa", 1, {7}}};
  return made;
}

class DrawableFrames : public testing::Test {
 protected:
  void write(const Drawable& changing) {
    Frame topology, frame;
    add_drawable("thing", constant_part(), true, topology);
    frame.time = 0.5;
    add_drawable("thing", changing, false, frame);
    std::filesystem::create_directories(folder_.path() / "frames");
    ASSERT_TRUE(write_frame(topology, topology_path(folder_.path() / "frames")));
    ASSERT_TRUE(write_frame(frame, frame_path(folder_.path() / "frames", 0)));
  }
  Expected<RunFrames::Data> read() {
    const auto run = RunFrames::open(folder_.path());
    if (!run) return forward_error(run);
    return run->read(0);
  }
  TemporaryFolder folder_;
};

TEST_F(DrawableFrames, ComeBackWhole) {
  write(changing_part());
  const auto data = read();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->time, 0.5);
  ASSERT_EQ(data->drawables.size(), 1U);
  const Drawable& d = data->drawables[0];
  EXPECT_EQ(d.look.color, Vec3(0.25, 0.5, 1));
  EXPECT_EQ(d.look.material, "water");
  EXPECT_EQ(d.look.back, Vec3(1, 0.5, 0));
  EXPECT_EQ(d.look.pattern.kind, "checks");
  EXPECT_EQ(d.look.pattern.width, 0.25);
  EXPECT_EQ(d.look.pattern.color, Vec3(0, 0.5, 0));
  EXPECT_EQ(d.surface.material_coordinates, constant_part().surface.material_coordinates);
  EXPECT_TRUE(d.look.backdrop && d.look.cut && !d.look.bounded);
  EXPECT_EQ(d.surface.positions, changing_part().surface.positions);
  EXPECT_EQ(d.surface.triangles, constant_part().surface.triangles);
  EXPECT_EQ(d.surface.out_of_walls, changing_part().surface.out_of_walls);
  EXPECT_EQ(on_vertices(d, "speed"), (std::vector<double>{5, 0, 0}));
  EXPECT_EQ(on_vertices(d, "heat"), (std::vector<double>{300, 300, 300}));
  EXPECT_EQ(find_field(d.surface.element_fields, "partition")->values, std::vector<float>{3});
  EXPECT_EQ(find_field(d.surface.vertex_fields, "velocity")->unit, "m/s");
  EXPECT_EQ(d.points.radius, 0.1);
  EXPECT_EQ(d.points.palette, constant_part().points.palette);
  EXPECT_EQ(on_points(d, "speed"), (std::vector<double>{5, 1}));
  EXPECT_EQ(d.volume.origin, Vec3(-1, 0.1, 2));
  EXPECT_EQ(d.volume.kinds, constant_part().volume.kinds);
  EXPECT_EQ(d.volume.staggered, constant_part().volume.staggered);
  const std::vector<double> pressure = on_points(d, "pressure");  // of the cell that a point is in
  ASSERT_EQ(pressure.size(), 2U);
  EXPECT_EQ(pressure[0], 7);
  EXPECT_TRUE(std::isnan(pressure[1]));
  EXPECT_TRUE(on_vertices(d, "nothing").empty());
  const std::vector<double> near = on_vertices(d, "pressure");  // no cell is near the triangle
  ASSERT_EQ(near.size(), 3U);
  EXPECT_TRUE(std::isnan(near[0]));
}

TEST_F(DrawableFrames, RefuseWhatDoesNotFitTogether) {
  const auto refused = [&](const Drawable& wrong, const std::string& words) {
    write(wrong);
    const auto data = read();
    ASSERT_FALSE(data) << words;
    EXPECT_NE(data.error().message.find(words), std::string::npos) << data.error().message;
    EXPECT_NE(data.error().message.find("frame_000000.lope"), std::string::npos) << data.error().message;
  };
  Drawable wrong = changing_part();
  wrong.surface.positions.resize(6);
  wrong.surface.vertex_fields.clear();
  wrong.surface.out_of_walls.clear();
  refused(wrong, "do not fit its vertices");
  wrong = changing_part();
  wrong.surface.material_coordinates.resize(12);
  refused(wrong, "the array material_coordinates of 'thing'");
  wrong = changing_part();
  wrong.surface.vertex_fields[0].values.resize(6);
  refused(wrong, "'velocity' of 'thing'");
  wrong = changing_part();
  wrong.points.fields[0].values.resize(3);
  refused(wrong, "does not fit its 2 points");
  wrong = changing_part();
  wrong.volume.fields[0].values = {1, 2};
  refused(wrong, "does not fit its 1 cells");
  wrong = changing_part();
  wrong.surface.out_of_walls.resize(3);
  refused(wrong, "out_of_walls");
}

}  // namespace
}  // namespace lope::io
