// Material points in the scene file: materials, jets, handles, what is refused and what is said before a run.
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/scene/check.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace lope::scene {
namespace {

const std::string grid = "[mpm]\ncell = 0.1\n";
std::string block(const std::string& more = "", const std::string& name = "block") {
  return "[[body]]\nname = \"" + name +
         "\"\nkind = \"mpm\"\nshape = { box = { min = [0, 0, 0], max = [1, 0.5, 0.5] } }\n" + more + "\n";
}

matter::MpmBody body_of(const std::string& text) {
  const auto scene = load_scene_text(text, "scene.toml");
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  const auto model = build_model(*scene);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  EXPECT_EQ(model->bodies.size(), 1U);
  return as<matter::MpmBody>(model->bodies[0]);
}

void refused(const std::string& text, const std::string& expected) {
  const auto scene = load_scene_text(text, "scene.toml");
  std::string message;
  if (!scene) {
    message = scene.error().message;
  } else {
    const auto model = build_model(*scene);
    ASSERT_FALSE(model) << text;
    message = model.error().message;
  }
  EXPECT_NE(message.find(expected), std::string::npos) << message;
}

TEST(MpmScene, AllBodiesAreOneSetOfPointsInTheirColours) {
  const std::string text = grid + block("color = \"#ff0000\"") +
                           "[[body]]\nname = \"ball\"\nkind = \"mpm\"\nshape = { sphere = { center = [0, 2, "
                           "0], radius = 0.5 } }\n";
  const matter::MpmBody body = body_of(text);
  ASSERT_EQ(body.description.parts.size(), 2U);
  EXPECT_EQ(body.description.parts[1].name, "ball");
  EXPECT_EQ(body.description.dx, 0.1);
  const auto scene = load_scene_text(text, "scene.toml");
  ASSERT_EQ(scene->bodies.size(), 1U);
  const auto& colors = scene->bodies[0].part_colors;
  ASSERT_EQ(colors.size(), 2U);
  EXPECT_EQ(*colors[0], Vec3(1, 0, 0));
  ASSERT_TRUE(colors[1].has_value());
  EXPECT_NE(*colors[1], *colors[0]);
}

TEST(MpmScene, PresetsAndConstantsMakeAMaterial) {
  const matter::mpm::Material sand =
      body_of(grid + block("material = \"sand\"")).description.parts[0].material;
  EXPECT_EQ(sand.plasticity.flow, material::Flow::DruckerPrager);
  EXPECT_TRUE(sand.flows_within);
  EXPECT_FALSE(body_of(grid + "flow = \"after\"\n" + block("material = \"sand\""))
                   .description.parts[0]
                   .material.flows_within);
  EXPECT_FALSE(body_of(grid + "scheme = \"explicit\"\n" + block("material = \"sand\""))
                   .description.parts[0]
                   .material.flows_within);
  EXPECT_FALSE(body_of(grid + block("material = \"snow\"")).description.parts[0].material.flows_within);
  EXPECT_FALSE(body_of(grid + block("material = \"aluminium\"")).description.parts[0].material.flows_within);
  const matter::mpm::Material own =
      body_of(grid + block("material = { preset = \"sauce\", yield = 100 }")).description.parts[0].material;
  EXPECT_EQ(own.plasticity.yield, 100);
  EXPECT_EQ(own.density, 2700);
  EXPECT_TRUE(own.flows_within);
  refused(grid + block("material = { preset = \"soft\", yield = 100 }"),
          "has no meaning with flow = \"none\"");
  refused(grid + block("material = { preset = \"soft\", flow = \"von-mises\" }"),
          "material.yield: is missing");
  refused(grid + block("material = { preset = \"sand\", model = \"fixed-corotated\" }"), "sand needs model");
}

TEST(MpmScene, WhatHoldsTogetherIsShownByItsSurface) {
  const auto has_skin = [](const std::string& more) {
    return body_of(grid + block(more)).description.parts[0].has_skin;
  };
  EXPECT_TRUE(has_skin(""));
  EXPECT_TRUE(has_skin("material = \"sauce\""));
  EXPECT_FALSE(has_skin("material = \"snow\""));
  EXPECT_FALSE(has_skin("material = \"sand\""));
  EXPECT_TRUE(has_skin("material = \"snow\"\nshown = \"surface\""));
  EXPECT_FALSE(has_skin("shown = \"points\""));
  const std::string flat =
      "[[body]]\nkind = \"mpm\"\nshape = { rectangle = { min = [0, 0], max = [1, 1] } }\n";
  EXPECT_FALSE(body_of(grid + flat).description.parts[0].has_skin);
  refused(grid + flat + "shown = \"surface\"\n", "surfaces are drawn in space only");
}

TEST(MpmScene, Jets) {
  const matter::MpmBody body =
      body_of("[time]\nduration = 4\n" + grid + block("velocity = [2, 0, 0]\njet = { begin = 1, end = 3 }") +
              block("", "other"));
  ASSERT_TRUE(body.description.parts[0].jet.has_value());
  EXPECT_EQ(body.description.parts[0].jet->begin, 1);
  EXPECT_EQ(body.description.parts[0].jet->end, 3);
  EXPECT_FALSE(body.description.parts[1].jet.has_value());
  refused(grid + block("jet = {}"), "velocity: is missing; a jet needs it");
  refused(grid + block("velocity = [1, 0, 0]\njet = { begin = 2, end = 1 }"), "must be later than begin");
  refused(
      grid +
          block("velocity = [1, 0, 0]\njet = {}\n[[body.handle]]\nwhere = { side = \"x-min\" }\npin = true"),
      "has no meaning for a jet");
}

TEST(MpmScene, HandlesChooseTheirPoints) {
  const matter::MpmBody body =
      body_of(grid + block("", "other") +
              block("[[body.handle]]\nwhere = { side = \"x-min\", width = 0.2 }\npin = true\n"
                    "[[body.handle]]\nwhere = { side = \"x-max\", width = 0.2 }\n"
                    "move = { velocity = [1, 0, 0] }\nbegin = 0.5\nrelease = 0.75"));
  ASSERT_EQ(body.description.scripts.size(), 2U);
  const matter::mpm::Script& moved = body.description.scripts[1];
  EXPECT_EQ(moved.part, 1);
  EXPECT_EQ(moved.begin, 0.5);
  EXPECT_EQ(moved.end, 0.75);
  EXPECT_EQ(moved.motion.position(Vec3::Zero(), 0.5), Vec3(0.5, 0, 0));
  const matter::mpm::Filling<3> filling(body.description.parts[1], 1, 0.1, body.description.seed);
  for (const int i : moved.points) EXPECT_GT(filling.points()[static_cast<std::size_t>(i)][0], 0.79);
  EXPECT_NEAR(static_cast<double>(moved.points.size()), 0.2 * static_cast<double>(filling.size()),
              0.04 * static_cast<double>(filling.size()));
}

TEST(MpmScene, RefusesHandlesThatCannotBe) {
  const std::string pin = "\npin = true\n";
  refused(grid + block("[[body.handle]]\nwhere = { box = { min = [5, 5, 5], max = [6, 6, 6] } }" + pin),
          "chooses no material point");
  refused(grid + block("[[body.handle]]\nwhere = { vertices = [1] }" + pin), "material points have none");
  refused(grid + block("[[body.handle]]\nwhere = { side = \"x-min\" }"), "needs a motion");
  refused(grid + block("[[body.handle]]\nwhere = { side = \"x-min\", width = 0.6 }" + pin +
                       "[[body.handle]]\nwhere = { side = \"x-max\", width = 0.6 }" + pin),
          "material points that already belong to the handle");
}

TEST(MpmScene, RefusesCellsThatDoNotFitIntoTheMachine) {
  refused("[mpm]\ncell = 1e-5\n" + block(), "GB, and");
  refused("[mpm]\ncell = 1e-5\n" + block(), "mpm.cell: cells of 1e-05 m would take about");
  // Jets bring as much as they have time for.
  refused("[time]\nduration = 1e6\n[mpm]\ncell = 0.01\n" + block("velocity = [10, 0, 0]\njet = {}"),
          "GB, and");
}

TEST(MpmScene, RefusesBodiesWithoutPoints) {
  const auto thin = [](const std::string& more) {
    return "[[body]]\nname = \"leaf\"\nkind = \"mpm\"\nshape = { box = { min = [0, 0, 0], max = [1, 1e-12, 1] } }\n" + more;
  };
  refused(grid + block() + thin(""), "body 'leaf' has no material points");
  refused(grid + block() + thin("[[body.handle]]\nwhere = { side = \"x-min\" }\npin = true\n"),
          "body 'leaf' has no material points");
  refused(grid + "[[body]]\nkind = \"mpm\"\nshape = { rectangle = { min = [0, 0], max = [1, 1e-12] } }\n",
          "has no material points");
}

TEST(MpmScene, RefusesWhatHasNoMass) {
  refused(grid + block("material = { preset = \"soft\", density = 0 }"), "material.density");
  refused(grid + block("particles = 0"), "particles");
  refused("[mpm]\ncell = 0\n" + block(), "mpm.cell");
}

TEST(MpmScene, RefusesWhatIsNotThere) {
  refused(block(), "a scene with material points needs it: [mpm]");
  refused(grid + block() + "[solver]\nmethod = \"dot\"\n", "'dot' cannot do material points");
}

TEST(MpmScene, CheckCountsPointsAndWarnsOfThinObstacles) {
  const auto scene = load_scene_text(
      grid + block() +
          "[[obstacle]]\nname = \"sheet\"\nshape = { box = { min = [0, -1, 0], max = [1, -0.9, 1] } }\n",
      "scene.toml");
  ASSERT_TRUE(scene);
  const CheckReport report = check(*scene, build_model(*scene).value());
  ASSERT_EQ(report.bodies.size(), 1U);
  EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(), [](const CheckFinding& finding) {
    return finding.severity == Severity::Warning &&
           finding.message.find("'sheet' is 0.1 m thin") != std::string::npos;
  }));
}

// However they lie: a plate that is turned has a box that is not thin, and so has a shell.
TEST(MpmScene, CheckFindsThinObstaclesByTheirWalls) {
  const auto warnings = [](const std::string& obstacle) {
    const auto scene = load_scene_text(grid + block() + "[[obstacle]]\nname = \"it\"\n" + obstacle, "scene.toml");
    EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
    const CheckReport report = check(*scene, build_model(*scene).value());
    return std::count_if(report.findings.begin(), report.findings.end(), [](const CheckFinding& finding) {
      return finding.message.find("'it' is") != std::string::npos && finding.message.find("m thin") != std::string::npos;
    });
  };
  const std::string turned = "transform = { rotate = { axis = [1, 0, 1], angle = \"40 deg\" }, translate = [0, -2, 0] }\n";
  EXPECT_EQ(warnings("shape = { box = { size = [2, 0.05, 2] } }\n" + turned), 1);
  EXPECT_EQ(warnings("shape = { box = { size = [2, 0.5, 2] } }\n" + turned), 0);
  EXPECT_EQ(warnings("shape = { torus = { ring_radius = 1, tube_radius = 0.06, center = [0, -2, 0] } }\n"), 1);
  EXPECT_EQ(warnings("shape = { torus = { ring_radius = 1, tube_radius = 0.3, center = [0, -2, 0] } }\n"), 0);
  EXPECT_EQ(warnings("shape = { half_space = { point = [0, -1, 0], normal = [0, 1, 0] } }\n"), 0);
}

TEST(MpmScene, CheckWarnsOfBodiesThinnerThanACell) {
  const auto warned = [](const std::string& thickness) {
    const auto scene = load_scene_text(
        grid + "[[body]]\nname = \"film\"\nkind = \"mpm\"\nshape = { box = { min = [0, 0, 0], max = [1, " + thickness + ", 1] } }\n",
        "scene.toml");
    EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
    const CheckReport report = check(*scene, build_model(*scene).value());
    return std::any_of(report.findings.begin(), report.findings.end(), [](const CheckFinding& finding) {
      return finding.severity == Severity::Warning && finding.message.find("body 'film' is") != std::string::npos;
    });
  };
  EXPECT_TRUE(warned("0.03"));
  EXPECT_FALSE(warned("0.2"));
}

TEST(MpmScene, Positions) {
  EXPECT_EQ(body_of(grid + block()).description.positions, matter::mpm::Positions::Forward);
  EXPECT_EQ(body_of(grid + "positions = \"backward\"\n" + block()).description.positions, matter::mpm::Positions::Backward);
}

}  // namespace
}  // namespace lope::scene
