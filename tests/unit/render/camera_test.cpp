#include <lope/render/camera.h>

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lope::render {
namespace {

double number(int low, int high) { return *rc::gen::inRange(1000 * low, 1000 * high) / 1000.0; }

std::vector<Vec3> corners(const geometry::Bounds& box) {
  std::vector<Vec3> result;
  for (int i = 0; i < 8; ++i) {
    result.emplace_back(i & 1 ? box.max.x() : box.min.x(), i & 2 ? box.max.y() : box.min.y(),
                        i & 4 ? box.max.z() : box.min.z());
  }
  return result;
}

RC_GTEST_PROP(Camera, FramingContainsTheBoundsTightly, ()) {
  geometry::Bounds box;
  box.add({number(-50, 50), number(-50, 50), number(-50, 50)});
  box.add(box.min + Vec3(number(0, 20), number(0, 20), number(0, 20)) + Vec3::Constant(0.001));
  FramingOptions options;
  options.up =
      *rc::gen::element(Vec3(Vec3::UnitX()), Vec3(Vec3::UnitY()), Vec3(Vec3::UnitZ()), Vec3(1, 2, 3));
  options.azimuth_degrees = number(-360, 360);
  options.elevation_degrees = number(-80, 80);
  options.fov_degrees = number(5, 100);
  options.aspect = number(1, 4) / 2;
  options.margin = 0.1;
  const Camera camera = frame_bounds(box, options);
  double most_x = 0, most_y = 0;
  for (const Vec3& corner : corners(box)) {
    const Vec3 p = project(camera, options.aspect, corner);
    RC_ASSERT(p.z() > 0);
    most_x = std::max(most_x, std::abs(p.x()));
    most_y = std::max(most_y, std::abs(p.y()));
  }
  RC_ASSERT(most_x <= 0.9 + 1e-9);
  RC_ASSERT(most_y <= 0.9 + 1e-9);
  RC_ASSERT(std::max(most_x, most_y) >= 0.9 - 1e-6);
}

RC_GTEST_PROP(Camera, RoomForALegendStaysFree, ()) {
  geometry::Bounds box;
  box.add({0, 0, 0});
  box.add({number(1, 20), number(1, 20), number(1, 20)});
  FramingOptions options;
  options.azimuth_degrees = number(-180, 180);
  options.legend_room = 0.2;
  const Camera camera = frame_bounds(box, options);
  const Camera flat = frame_flat(box, options.aspect, 0.1, 0.2);
  for (const Vec3& corner : corners(box)) {
    for (const Camera* each : {&camera, &flat}) {
      const Vec3 p = project(*each, options.aspect, corner);
      RC_ASSERT(p.x() <= 0.6 + 1e-9);
      RC_ASSERT(p.x() >= -1 - 1e-9);
      RC_ASSERT(std::abs(p.y()) <= 1 + 1e-9);
    }
  }
}

TEST(Camera, FlatFramingContainsTheBodyUpright) {
  geometry::Bounds box;
  box.add({-3, 1, 0});
  box.add({5, 2, 0});
  for (const double aspect : {0.5, 1.0, 1.78}) {
    const Camera camera = frame_flat(box, aspect);
    for (const Vec3& corner : corners(box)) {
      const Vec3 p = project(camera, aspect, corner);
      EXPECT_LE(std::abs(p.x()), 1);
      EXPECT_LE(std::abs(p.y()), 1);
    }
    EXPECT_GT(project(camera, aspect, {5, 2, 0}).x(), project(camera, aspect, {-3, 2, 0}).x());
    EXPECT_GT(project(camera, aspect, {5, 2, 0}).y(), project(camera, aspect, {5, 1, 0}).y());
  }
}

TEST(Camera, DegenerateBoundsStillGiveACamera) {
  geometry::Bounds point;
  point.add({1, 2, 3});
  for (const geometry::Bounds& box : {geometry::Bounds{}, point}) {
    const Camera camera = frame_bounds(box);
    EXPECT_TRUE(camera.eye.allFinite());
    EXPECT_GT((camera.eye - camera.target).norm(), 0);
    EXPECT_GT(frame_flat(box, 1.5).ortho_height, 0);
  }
}

TEST(Camera, AxesAreOrthonormalEvenLookingAlongUp) {
  Camera camera;
  camera.eye = Vec3(0, 5, 0);
  camera.target = Vec3::Zero();
  const CameraAxes frame = axes(camera);
  EXPECT_NEAR(frame.right.norm(), 1, 1e-12);
  EXPECT_NEAR(frame.right.dot(frame.forward), 0, 1e-12);
  EXPECT_NEAR(frame.up.dot(frame.forward), 0, 1e-12);
}

}  // namespace
}  // namespace lope::render
