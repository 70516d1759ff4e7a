// Liquids in the scene file: what they fill, how fine their grid is, what is refused and what is said before
// a run.
#include <lope/matter/liquid/pressure_methods.h>
#include <lope/scene/check.h>
#include <lope/scene/run.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

const std::string tank = R"(
[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [2, 1, 1] } }
inside = true
)";
const std::string water = R"(
[[body]]
kind = "liquid"
shape = { box = { min = [0, 0, 0], max = [0.5, 0.5, 1] } }
)";

Expected<Scene> load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return load_scene_text(text, "scene.toml", overrides);
}

step::Model model_of(const std::string& text) {
  const auto scene = load(text);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  const auto model = build_model(*scene);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return *model;
}

void refused(const std::string& text, const std::string& expected) {
  const auto scene = load(text);
  ASSERT_FALSE(scene) << text;
  EXPECT_NE(scene.error().message.find(expected), std::string::npos) << scene.error().message;
}

CheckReport check_of(const std::string& text) {
  const auto scene = load(text);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  return check(*scene, build_model(*scene).value());
}

bool says(const CheckReport& report, Severity severity, const std::string& words) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const CheckFinding& finding) {
    return finding.severity == severity && finding.message.find(words) != std::string::npos;
  });
}

TEST(LiquidScene, ResolutionCountsCellsOfTheContainer) {
  const step::Model model = model_of("[liquid]\nresolution = 40\n" + water + tank);
  ASSERT_EQ(model.bodies.size(), 1U);
  const auto& liquid = kinds::liquid(model).description;
  EXPECT_DOUBLE_EQ(liquid.dx, 0.05);
  EXPECT_EQ(liquid.origin, Vec3::Zero());
  EXPECT_TRUE(liquid.separating);
  EXPECT_EQ(liquid.transfer.kind, matter::VelocityTransfer::Apic);
  ASSERT_EQ(liquid.sources.size(), 1U);
  EXPECT_LT(liquid.sources[0].shape->value(Vec3(0.2, 0.2, 0.5)), 0);
  step::Simulation simulation(model);
  EXPECT_EQ(kinds::liquid(simulation.state()).count(), 10U * 10U * 20U * 8U);
}

TEST(LiquidScene, EveryShapeCanBeFull) {
  const std::vector<std::pair<std::string, Vec3>> shapes{
      {"sphere = { radius = 0.3, center = [1, 0.5, 0.5] }", {1, 0.5, 0.5}},
      {"cylinder = { radius = 0.2, length = 0.5, center = [1, 0.5, 0.5] }", {1, 0.5, 0.5}},
      {"capsule = { radius = 0.2, length = 0.3, center = [1, 0.5, 0.5] }", {1, 0.5, 0.5}},
      {"torus = { ring_radius = 0.3, tube_radius = 0.1, center = [1, 0.5, 0.5] }", {1.3, 0.5, 0.5}},
      {"hollow_sphere = { radius = 0.4, inner_radius = 0.2, center = [1, 0.5, 0.5] }", {1.3, 0.5, 0.5}},
  };
  for (const auto& [shape, inside] : shapes) {
    const step::Model model = model_of("[liquid]\nresolution = 20\n[[body]]\nkind = \"liquid\"\nshape = { " +
                                       shape + " }\n" + tank);
    EXPECT_LT(kinds::liquid(model).description.sources[0].shape->value(inside), 0) << shape;
    EXPECT_GT(kinds::liquid(model).description.sources[0].shape->value(Vec3(0.05, 0.05, 0.05)), 0) << shape;
  }
  const step::Model flat = model_of(R"(
[liquid]
resolution = 20
[[body]]
kind = "liquid"
shape = { polygon = { points = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]] } }
transform = { translate = [0.2, 0] }
[[obstacle]]
shape = { sphere = { center = [0.5, 0.5], radius = 1 } }
inside = true
)");
  EXPECT_EQ(kinds::liquid(flat).description.dimension, 2);
  EXPECT_LT(kinds::liquid(flat).description.sources[0].shape->value(Vec3(0.7, 0.5, 0)), 0);
  EXPECT_GT(kinds::liquid(flat).description.sources[0].shape->value(Vec3(0.35, 0.8, 0)), 0);
}

TEST(LiquidScene, EmittersNeedNoBody) {
  const std::string emitter = R"(
[liquid]
cell = "5 cm"
dimension = 3
[[emitter]]
shape = { sphere = { center = [1, 0.8, 0.5], radius = 0.1 } }
velocity = [0, -1, 0]
end = 2
)";
  const step::Model model = model_of(emitter + tank);
  ASSERT_EQ(kinds::liquid(model).description.emitters.size(), 1U);
  EXPECT_EQ(kinds::liquid(model).description.emitters[0].end, 2);
  EXPECT_FALSE(check_of(emitter + tank).failed());
}

TEST(LiquidScene, ResolvedScenesLoadBack) {
  const auto scene = load("[liquid]\nwalls = \"sticking\"\ntransfer = \"flip\"\n" + water + tank);
  ASSERT_TRUE(scene) << scene.error().message;
  const auto again = load(resolved_toml(*scene));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(scene->resolved == again->resolved);
}

TEST(LiquidScene, RefusesWhatMakesNoSense) {
  refused(water + tank, "liquid: is missing");
  refused("[liquid]\n" + tank, "body: is missing");
  refused("[liquid]\nresolution = 64\ncell = 0.1\n" + water + tank, "keep one of them");
  refused("[liquid]\nwalls = \"slippery\"\n" + water + tank, "one of separating, sticking");
  refused("[liquid]\nresolution = 0\n" + water + tank, "between 4 and 4096");
  refused("[liquid]\ncfl = -1\n" + water + tank, "liquid.cfl");
  refused("[liquid]\ndomain = { min = [0, 0, 0], max = [1, 0, 1] }\n" + water + tank,
          "max must be greater than min");
  refused("[liquid]\nname = \"body0\"\n" + water + tank, "names must differ");
  refused("[liquid]\n" + water + "edge = 0.1\n" + tank, "has no meaning for a liquid");
  refused("[liquid]\ndimension = 2\n" + water + tank, "the bodies have 3");
  refused("[liquid]\n[[emitter]]\nshape = { half_space = {} }\nvelocity = [0, 1, 0]\n", "has no end");
  refused(
      "[liquid]\n[[emitter]]\nshape = { sphere = { radius = 1 } }\nvelocity = [0, 1, 0]\nbegin = 2\nend = "
      "1\n",
      "must be later than begin");
  // A wall without thickness.
  refused("[liquid]\n" + water + "[[obstacle]]\nshape = { box = { min = [0, 0, 0], max = [0, 1, 1] } }\n",
          "max must be greater than min");
}

TEST(LiquidScene, TakesEverySolverOfThePressureByItsWord) {
  EXPECT_FALSE(kinds::liquid(model_of("[liquid]\n" + water + tank)).description.solver);
  for (const matter::PressureMethodInfo& info : matter::pressure_methods()) {
    const std::string words = "[liquid]\nsolver = \"" + std::string(info.name) + "\"\n";
    if (info.linear) refused(words + water + tank, "does not let the liquid go of walls");
    const step::Model model = model_of(words + (info.linear ? "walls = \"sticking\"\n" : "") + water + tank);
    EXPECT_EQ(kinds::liquid(model).description.solver, info.method) << info.name;
  }
  refused("[liquid]\nsolver = \"truncate\"\n" + water + tank, "truncated");
}

TEST(LiquidScene, SaysWhatObstaclesCover) {
  const std::string half =
      "[[body]]\nkind = \"liquid\"\nshape = { box = { min = [-1, 0, 0], max = [1, 0.5, 1] } }\n";
  const std::string outside =
      "[[body]]\nkind = \"liquid\"\nshape = { box = { min = [3, 0, 0], max = [4, 1, 1] } }\n";
  const CheckReport covered = check_of("[liquid]\nresolution = 20\n" + half + tank);
  EXPECT_FALSE(covered.failed());
  EXPECT_TRUE(says(covered, Severity::Warning, "50 % of its bodies is inside obstacles"));
  EXPECT_TRUE(check_of("[liquid]\nresolution = 20\n" + outside + tank).failed());
  const CheckReport fine = check_of("[liquid]\nresolution = 20\n" + water + tank);
  EXPECT_TRUE(fine.findings.empty()) << describe(fine);
  EXPECT_EQ(fine.bodies.at(0).numbers.at("particles"), 5 * 5 * 10 * 8);
  EXPECT_EQ(fine.bodies.at(0).numbers.at("cells"), 5 * 5 * 10);
  EXPECT_NE(describe(fine).find("2000 particles in 250 cells"), std::string::npos) << describe(fine);
  EXPECT_EQ(describe(fine).find(" 0 unknowns"), std::string::npos) << describe(fine);
}

TEST(LiquidScene, SaysThatSealedLiquidMayBeSqueezed) {
  const std::string full =
      "[liquid]\nresolution = 16\n[[body]]\nkind = \"liquid\"\nshape = { box = { min = [0, 0, 0], max = [2, "
      "1, 1] } }\n";
  const std::string piston =
      "[[obstacle]]\nname = \"piston\"\nshape = { box = { min = [-1, -1, -1], max = [0, 2, 2] } }\nmove = { "
      "velocity = "
      "[0.1, 0, 0] }\n";
  const std::string source =
      "[[emitter]]\nshape = { sphere = { radius = 0.2, center = [1, 0.5, 0.5] } }\nvelocity = [1, 0, 0]\n";
  EXPECT_TRUE(
      says(check_of(full + tank + piston), Severity::Warning, "move against each other ('tank', 'piston')"));
  EXPECT_TRUE(says(check_of(full + tank + source), Severity::Warning, "emitters have no room"));
  EXPECT_FALSE(check_of(full + tank).troubled()) << describe(check_of(full + tank));
  EXPECT_FALSE(check_of(full + tank + "move = { velocity = [0.1, 0, 0] }\n").troubled());
  EXPECT_FALSE(says(check_of("[liquid]\nresolution = 16\n" + water + tank + piston), Severity::Warning,
                    "free surface"));
}

TEST(LiquidScene, SaysThatAnObstacleLeaves) {
  const std::string ball =
      "[[obstacle]]\nname = \"ball\"\nshape = { sphere = { center = [1.5, 0.5, 0.5], radius = 0.1 } }\n"
      "move = { velocity = [5, 0, 0] }\n";
  EXPECT_TRUE(says(check_of("[liquid]\nresolution = 20\n" + water + tank + ball), Severity::Warning,
                   "obstacle 'ball' leaves the domain"));
}

TEST(LiquidScene, ATankWithoutEndNeedsADomain) {
  const std::string floor = "[[obstacle]]\nshape = { half_space = {} }\n";
  const step::Model open = model_of("[liquid]\ncell = 0.1\n" + water + floor);
  EXPECT_GT(kinds::liquid(open).description.domain.extent().minCoeff(), 1);
  const step::Model given =
      model_of("[liquid]\ncell = 0.1\ndomain = { min = [-1, -1, -1], max = [1, 1, 1] }\n" + water + floor);
  EXPECT_EQ(kinds::liquid(given).description.domain.min, Vec3::Constant(-1));
}

}  // namespace
}  // namespace lope::scene
