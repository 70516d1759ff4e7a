// `lope bench accuracy` on two small models: the displacement accuracy is what it says (NUMERICS §6).
#include <lope/geometry/level_set/analytic.h>

#include <papers/calibration.h>
#include <verification/models.h>

namespace lope::verification {
namespace {

// A bar that is bent and twisted at one end and then let go.
step::Model whipped_bar() {
  step::Model model;
  model.step = 0.025;
  model.bodies = {solid(box({1, 0.2, 0.2}, {17, 4, 4}), 3, 2e5, 0.4)};
  for (const double side : {-1.0, 1.0}) {
    matter::Handle handle;
    for (std::size_t i = 0; i < kinds::solid(model).mesh.vertices.size(); ++i) {
      if (side * kinds::solid(model).mesh.vertices[i][0] > 0.49) handle.vertices.push_back(static_cast<int>(i));
    }
    if (side > 0) {
      handle.motion.angle = {{0, 1}, {0, 4.0}, geometry::AfterLastKey::Extend};
      handle.motion.displacement = {
          {0, 1}, {Vec3::Zero(), Vec3(-0.4, 0.5, 0)}, geometry::AfterLastKey::Extend};
      handle.end = 0.3;
    }
    kinds::solid(model).handles.push_back(handle);
  }
  return model;
}

TEST(Calibration, DisplacementAccuracyHoldsForEveryMethod) {
  const step::Model model = whipped_bar();
  const auto methods = bench::calibrated_methods();
  const auto found = bench::calibrate(model, methods, 24);
  ASSERT_EQ(found.size(), methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    EXPECT_EQ(found[m].steps, 24);
    EXPECT_EQ(found[m].unconverged, 0) << optimize::name_of(methods[m]);
    EXPECT_LE(found[m].at_round_off, 12) << optimize::name_of(methods[m]);
    EXPECT_EQ(found[m].trouble(), "") << optimize::name_of(methods[m]);
  }
}

// A soft ball that falls, slips, rolls and sticks: where estimates lead there are other contacts than those they know, and other friction. What
// the second look finds there is part of what a method reports.
TEST(Calibration, HoldsWhereContactsChange) {
  for (const double speed : {1.0, 3.0}) {
    step::Model model;
    model.step = 1.0 / 24;
    model.bodies = {solid(geometry::tetrahedralize(geometry::Sphere{Vec3(0, 0.6, 0), 0.5}, 0.22, {}).value(),
                          3, 5e4, 0.4)};
    matter::SolidBody& ball = kinds::solid(model);
    ball.initial_velocities.assign(ball.mesh.vertices.size(), Vec3(speed, -2, 0));
    step::Obstacle& floor = model.obstacles.emplace_back();
    floor.name = "floor";
    floor.shape = geometry::level_set(geometry::HalfSpace{Vec3::Zero(), Vec3::UnitY()}).value();
    floor.friction = 0.3;
    const std::vector methods = {optimize::Method::Newton, optimize::Method::LbfgsH, optimize::Method::Dot};
    const auto found = bench::calibrate(model, methods, 24);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      EXPECT_EQ(found[m].unconverged, 0) << optimize::name_of(methods[m]);
      EXPECT_EQ(found[m].trouble(), "") << optimize::name_of(methods[m]) << ", " << speed << " m/s";
    }
  }
}

// The judgement itself can fail.
TEST(Calibration, TroubleIsNamed) {
  bench::Calibration c;
  c.steps = 100;
  c.own.ratios.assign(98, 1.0);
  c.own.ratios.insert(c.own.ratios.end(), {4.0, 5.0});
  c.common.ratios.assign(100, 0.1);
  c.error_over_accuracy.assign(100, 1.0);
  EXPECT_NE(c.trouble().find("own estimate in 2.0%"), std::string::npos) << c.trouble();
  EXPECT_NE(c.trouble().find("CG estimate is 0.1"), std::string::npos) << c.trouble();
  EXPECT_EQ(c.trouble().find("accuracy"), std::string::npos) << c.trouble();
}

}  // namespace
}  // namespace lope::verification
