// Obstacles in the scene file: shapes, motions, what is refused and what is said about overlaps; copies of
// bodies.
#include <lope/scene/check.h>
#include <lope/scene/frame_writer.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/scene.h>

#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

const std::string body = R"(
[[body]]
name = "cube"
shape = { box = { size = [1, 1, 1], center = [0, 0.5, 0], lattice = [3, 3, 3] } }
)";

Expected<Scene> load(const std::string& text) { return load_scene_text(body + text, "scene.toml"); }

step::Model model_of(const std::string& text) {
  const auto scene = load(text);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  return build_model(*scene).value();
}

void refused(const std::string& text, const std::string& expected) {
  const auto scene = load(text);
  ASSERT_FALSE(scene) << text;
  EXPECT_NE(scene.error().message.find(expected), std::string::npos) << scene.error().message;
}

struct ShapeCase {
  const char* shape;
  Vec3 inside, outside;
};

TEST(Obstacles, EveryShapeHasAnInside) {
  const ShapeCase cases[] = {
      {"half_space = { point = [0, 1, 0], normal = [0, 2, 0] }", {0, 0.5, 0}, {0, 1.5, 0}},
      {"sphere = { radius = 0.5, center = [1, 0, 0] }", {1.2, 0, 0}, {0.4, 0, 0}},
      {"box = { size = [1, 2, 3] }", {0.4, 0.9, 1.4}, {0.6, 0, 0}},
      {"box = { min = [0, 0, 0], max = [1, 1, 1] }", {0.9, 0.9, 0.9}, {-0.1, 0.5, 0.5}},
      {"cylinder = { radius = 0.5, length = 2 }", {0, 0.9, 0.4}, {0, 1.1, 0}},
      {"capsule = { radius = 0.5, length = 2 }", {0, 1.4, 0}, {0, 1.6, 0}},
      {"torus = { ring_radius = 1, tube_radius = 0.2 }", {1.1, 0, 0}, {0, 0, 0}},
      {"cone = { radius = 1, length = 1 }", {0, 0.9, 0}, {0.6, 0.6, 0}},
      {"union = [ { sphere = { radius = 1 } }, { box = { size = [4, 1, 1] } } ]", {1.8, 0, 0}, {1.8, 0.8, 0}},
  };
  for (const ShapeCase& c : cases) {
    const step::Model model = model_of(std::string("[[obstacle]]\nshape = { ") + c.shape + " }\n");
    ASSERT_EQ(model.obstacles.size(), 1u);
    EXPECT_EQ(model.obstacles[0].name, "obstacle0");
    EXPECT_EQ(model.obstacles[0].contact, step::ContactKind::Constraint);
    EXPECT_LT(model.obstacles[0].shape->value(c.inside), 0) << c.shape;
    EXPECT_GT(model.obstacles[0].shape->value(c.outside), 0) << c.shape;
    const step::Model turned =
        model_of(std::string("[[obstacle]]\ninside = true\nshape = { ") + c.shape + " }\n");
    EXPECT_GT(turned.obstacles[0].shape->value(c.inside), 0) << c.shape;
    EXPECT_LT(turned.obstacles[0].shape->value(c.outside), 0) << c.shape;
  }
}

TEST(Obstacles, AreTurnedMovedAndScripted) {
  const step::Model model = model_of(R"(
[[obstacle]]
shape = { box = { size = [2, 0.2, 0.2] } }
transform = { rotate = { axis = [0, 0, 1], angle = "90 deg" }, translate = [5, 0, 0] }
move = { velocity = [1, 0, 0] }
begin = "1 s"
friction = 0.5
)");
  const step::Obstacle& rod = model.obstacles[0];
  EXPECT_LT(rod.shape->value({5, 0.9, 0}), 0);
  EXPECT_GT(rod.shape->value({5.9, 0, 0}), 0);
  EXPECT_NEAR((rod.pose(0.5).place(Vec3(5, 0, 0)) - Vec3(5, 0, 0)).norm(), 0, 1e-15);
  EXPECT_NEAR((rod.pose(3).place(Vec3(5, 0, 0)) - Vec3(7, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(rod.friction, 0.5);
}

TEST(Obstacles, BadOnesAreRefusedWithTheReason) {
  refused("[[obstacle]]\nshape = { sphere = { radius = -1 } }", "greater than 0 m");
  refused("[[obstacle]]\nshape = { ball = { radius = 1 } }", "ball");
  refused("[[obstacle]]\nname = \"cube\"\nshape = { sphere = { radius = 1 } }", "names must differ");
  refused("[[obstacle]]\nshape = { mesh = \"x.ply\" }\ncontact = \"constraint\"", "cannot be a constraint");
  refused("[[obstacle]]\nshape = { sphere = { radius = 1 } }\nstiffness = 1000", "only with contact");
  refused("[[obstacle]]\nshape = { sphere = { radius = 1 } }\nvoxel = 0.1", "only with shape.mesh");
  refused("[[obstacle]]\nshape = { box = { size = [1, 1] } }", "three edge lengths");
  refused("[[obstacle]]\nshape = { sphere = { radius = 1 } }\nmove = { displacement = [1, 0, 0] }",
          "duration");
  const auto missing = build_model(load("[[obstacle]]\nshape = { mesh = \"no_such_file.ply\" }").value());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("no_such_file.ply"), std::string::npos) << missing.error().message;
}

CheckReport checked(const std::string& text) {
  const Scene scene = load(text).value();
  return check(scene, build_model(scene).value());
}

bool says(const CheckReport& report, const std::string& words) {
  return describe(report).find(words) != std::string::npos;
}

TEST(Obstacles, CheckNamesWhatStartsInsideAndHowDeep) {
  const std::string floor =
      "[[obstacle]]\nname = \"floor\"\nshape = { half_space = { point = [0, 0.25, 0] } }\n";
  const CheckReport told = checked(floor);
  EXPECT_FALSE(told.failed());
  EXPECT_TRUE(says(told, "body 'cube' starts inside obstacle 'floor': 9 vertices, by up to 0.25 m"))
      << describe(told);
  EXPECT_TRUE(checked(floor + "[contact]\nstart = \"refuse\"\n").failed());
  EXPECT_FALSE(says(checked("[[obstacle]]\nshape = { half_space = {} }\n"), "starts inside"));
}

TEST(Obstacles, MethodsThatCannotHonourConstraintsAreRefused) {
  const std::string raw = "[solver]\nmethod = \"newton-raw\"\n",
                    floor = "[[obstacle]]\nshape = { half_space = {} }\n";
  EXPECT_TRUE(checked(raw + floor).failed());
  EXPECT_TRUE(says(checked(raw + floor), "cannot keep bodies out of obstacles"));
  EXPECT_FALSE(checked(raw + floor + "contact = \"penalty\"\n").failed());
  for (const char* method : {"auto", "newton", "newton-pcg", "gast15"}) {
    EXPECT_FALSE(checked(std::string("[solver]\nmethod = \"") + method + "\"\n" + floor).failed()) << method;
  }
}

TEST(Copies, FillALattice) {
  const auto scene = load("copies = { count = [2, 1, 3], spacing = [2, 0, 3], turned = true }\n");
  ASSERT_TRUE(scene) << scene.error().message;
  ASSERT_EQ(scene->bodies.size(), 6u);
  EXPECT_EQ(scene->bodies[5].name, "cube5");
  const step::Model model = build_model(*scene).value();
  const Vec3 last = geometry::bounds(kinds::solid(model, 5).mesh.vertices).center();
  EXPECT_GT(last[0], 1);
  EXPECT_GT(last[2], 5);
  // The resolved scene spells them out and loads back.
  const auto again = load_scene_text(resolved_toml(*scene), "resolved.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(resolved_toml(*again), resolved_toml(*scene));
}

// For motion blur: of what moves, where velocities are written at all.
TEST(Obstacles, FramesHoldTheirVelocities) {
  const std::string text = R"(
[time]
step = 0.1
[[obstacle]]
name = "ram"
shape = { box = { size = [0.2, 0.2, 0.2], center = [3, 0, 0] } }
move = { velocity = [0, 2, 0] }
[[obstacle]]
name = "wheel"
shape = { sphere = { radius = 0.5, center = [-5, 0, 0] } }
rotate = { axis = [0, 0, 1], rate = 0.01, center = [-5, 0, 0] }
[[obstacle]]
name = "rock"
shape = { sphere = { radius = 0.5, center = [9, 0, 0] } }
)";
  for (const bool wanted : {true, false}) {
    const auto scene = load(text + (wanted ? "" : "[output]\nfields = [\"von_mises\"]\n"));
    ASSERT_TRUE(scene) << scene.error().message;
    step::Simulation simulation(build_model(*scene).value());
    ASSERT_TRUE(simulation.advance().converged());
    const io::Frame frame = FrameWriter(*scene, simulation).snapshot(1);
    const auto* ram = frame.data.values<float>("ram/vertex/velocity");
    const auto* wheel = frame.data.values<float>("wheel/vertex/velocity");
    EXPECT_EQ(frame.data.values<float>("rock/vertex/velocity"), nullptr);
    EXPECT_EQ(ram != nullptr, wanted);
    EXPECT_EQ(wheel != nullptr, wanted);
    if (!ram || !wheel) continue;
    const auto &at = *frame.data.values<float>("ram/position"), &on = *frame.data.values<float>("wheel/position");
    ASSERT_EQ(ram->size(), at.size());
    for (std::size_t k = 0; k < ram->size(); ++k) EXPECT_NEAR((*ram)[k], k % 3 == 1 ? 2 : 0, 1e-6);
    ASSERT_EQ(wheel->size(), on.size());
    for (std::size_t k = 0; k < on.size(); k += 3) {
      EXPECT_NEAR((*wheel)[k], -0.01 * on[k + 1], 1e-5);
      EXPECT_NEAR((*wheel)[k + 1], 0.01 * (on[k] + 5), 1e-5);
    }
  }
}

}  // namespace
}  // namespace lope::scene
