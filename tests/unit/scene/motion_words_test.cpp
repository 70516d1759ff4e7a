#include <lope/scene/handle_motion.h>
#include <lope/scene/scene.h>

#include <numbers>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

constexpr double pi = std::numbers::pi;

// The motion of a handle at the side x-max of a unit cube about the origin.
geometry::Motion motion(const std::string& words) {
  const auto scene = load_scene_text(
      "[[body]]\nshape = { box = { size = [1, 1, 1], lattice = [2, 2, 2] } }\n[[body.handle]]\n"
      "where = { side = \"x-max\" }\n" +
          words,
      "test.toml");
  EXPECT_TRUE(scene) << scene.error().message;
  const auto model = build_model(*scene);
  EXPECT_TRUE(model) << model.error().message;
  return kinds::solid(*model).handles.at(0).motion;
}

void expect_at(const geometry::Motion& motion, double t, const Vec3& start, const Vec3& expected) {
  EXPECT_LT((motion.position(start, t) - expected).norm(), 1e-12)
      << "at " << t << ": " << motion.position(start, t).transpose();
}

const Vec3 corner(0.5, 0.5, 0.5);

TEST(Words, PinHolds) { expect_at(motion("pin = true\n"), 7, corner, corner); }

TEST(Words, MoveByVelocityGoesOn) {
  expect_at(motion("move = { velocity = [1, 0, 0] }\n"), 7, corner, corner + Vec3(7, 0, 0));
}

TEST(Words, MoveByVelocityForAWhileStops) {
  expect_at(motion("move = { velocity = [2, 0, 0], duration = 3 }\n"), 7, corner, corner + Vec3(6, 0, 0));
}

TEST(Words, MoveByDisplacementArrives) {
  const geometry::Motion moved = motion("move = { displacement = [0, 4, 0], duration = \"2 s\" }\n");
  expect_at(moved, 1, corner, corner + Vec3(0, 2, 0));
  expect_at(moved, 9, corner, corner + Vec3(0, 4, 0));
}

TEST(Words, RotateTurnsAboutTheBodyTheHandleOrAPoint) {
  const std::string quarter = "angle = \"90 deg\", duration = 1, axis = [0, 0, 1]";
  expect_at(motion("rotate = { " + quarter + " }\n"), 1, corner, Vec3(-0.5, 0.5, 0.5));
  expect_at(motion("rotate = { " + quarter + ", center = \"handle\" }\n"), 1, corner, Vec3(0, 0, 0.5));
  expect_at(motion("rotate = { " + quarter + ", center = [0.5, 0, 0] }\n"), 1, corner, Vec3(0, 0, 0.5));
}

TEST(Words, RotateByRateGoesOn) {
  EXPECT_NEAR(motion("rotate = { rate = \"1 turn/s\" }\n").angle.at(2.5), 5 * pi, 1e-12);
}

TEST(Words, ScriptsFollowTheirKeys) {
  const geometry::Motion mirrored =
      motion("script = { times = [0, 1], displacement = [[0, 0, 0], [1, 0, 0]], after = \"mirror\" }\n");
  expect_at(mirrored, 0.25, corner, corner + Vec3(0.25, 0, 0));
  expect_at(mirrored, 1.75, corner, corner + Vec3(0.25, 0, 0));
}

TEST(Words, AddUp) {
  const geometry::Motion both = motion(
      "move = { velocity = [1, 0, 0] }\nscript = { times = [1, 2], displacement = [[0, 0, 0], [0, 3, 0]] }\n"
      "rotate = { rate = 0.5 }\n");
  EXPECT_LT((both.displacement.at(1.5) - Vec3(1.5, 1.5, 0)).norm(), 1e-12);
  EXPECT_LT((both.displacement.at(9) - Vec3(9, 3, 0)).norm(), 1e-12);
  EXPECT_NEAR(both.angle.at(9), 4.5, 1e-12);
}

TEST(Words, SumOfCurvesIsTheSumEverywhere) {
  const auto curve = [] {
    const int keys = *rc::gen::inRange(1, 5);
    geometry::Curve<double> made;
    double time = 0;
    for (int i = 0; i < keys; ++i) {
      time += *rc::gen::inRange(1, 9) / 4.0;
      made.times.push_back(time);
      made.values.push_back(*rc::gen::inRange(-9, 9));
    }
    made.after = *rc::gen::element(geometry::AfterLastKey::Hold, geometry::AfterLastKey::Extend);
    return made;
  };
  rc::check([&] {
    const geometry::Curve<double> a = curve(), b = curve(), both = sum(a, b);
    for (double t = 0; t < 15; t += 0.37) RC_ASSERT(std::abs(both.at(t) - a.at(t) - b.at(t)) < 1e-9);
  });
}

TEST(Words, LtssTurnsAroundAsThePublishedProgramDoes) {
  const auto scene =
      load_scene(LOPE_SOURCE_DIR "/scenes/ltss.toml", {"body.0.shape.box={size=[1,1,1],lattice=[3,3,3]}"});
  ASSERT_TRUE(scene) << scene.error().message;
  const auto model = build_model(*scene);
  ASSERT_TRUE(model) << model.error().message;
  const double h = model->step;
  double x = 0, velocity = -1.2;
  for (int step = 1; step <= 240; ++step) {
    // The rule of the benchmark: velocities flip at the start of a step when the left end has reached a
    // limit.
    if (x <= -1.2 + 1e-9 || x >= 0.4 - 1e-9) velocity = x < 0 ? 1.2 : -1.2;
    x += velocity * h;
    const geometry::Motion& left = kinds::solid(*model).handles.at(0).motion;
    const geometry::Motion& right = kinds::solid(*model).handles.at(1).motion;
    ASSERT_NEAR(left.displacement.at(step * h).x(), x, 1e-9) << "step " << step;
    ASSERT_NEAR(right.displacement.at(step * h).x(), -x, 1e-9) << "step " << step;
    ASSERT_NEAR(left.angle.at(step * h), -0.4 * pi * step * h, 1e-9);
    ASSERT_NEAR(right.angle.at(step * h), 0.4 * pi * step * h, 1e-9);
  }
}

}  // namespace
}  // namespace lope::scene
