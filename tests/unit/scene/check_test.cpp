#include <lope/scene/check.h>
#include <lope/scene/kinds/solid_check.h>

#include <algorithm>

#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

const std::string cube =
    "[[body]]\nname = \"a\"\nshape = { box = { size = [1, 1, 1], lattice = [4, 4, 4] } }\n";

struct Checked {
  Scene scene;
  step::Model model;
};

Checked prepared(const std::string& text) {
  auto scene = load_scene_text(text, "test.toml");
  EXPECT_TRUE(scene) << scene.error().message;
  auto model = build_model(*scene);
  EXPECT_TRUE(model) << model.error().message;
  return {std::move(*scene), std::move(*model)};
}

CheckReport checked(const std::string& text) {
  const Checked input = prepared(text);
  return check(input.scene, input.model);
}

bool tells(const CheckReport& report, Severity severity, const std::string& piece) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const CheckFinding& finding) {
    return finding.severity == severity && finding.message.find(piece) != std::string::npos;
  });
}

std::string all(const CheckReport& report) { return describe(report); }

TEST(Check, ASoundSceneHasNoFindings) {
  const CheckReport report = checked("[time]\nduration = 1\n" + cube);
  EXPECT_TRUE(report.findings.empty()) << all(report);
  EXPECT_FALSE(report.failed());
  EXPECT_EQ(report.unknowns, 192u);
  EXPECT_EQ(report.steps, 40u);
  EXPECT_EQ(report.frames, 41u);
  EXPECT_NEAR(report.bodies.at(0).numbers.at("mass"), 1000, 1e-9);
  EXPECT_NE(all(report).find("no trouble found"), std::string::npos);
}

TEST(Check, OverlappingBodiesAreNamed) {
  const std::string second =
      "[[body]]\nname = \"b\"\nshape = { box = { size = [1, 1, 1], lattice = [4, 4, 4], center = [";
  EXPECT_TRUE(
      tells(checked(cube + second + "0.9, 0, 0] } }\n"), Severity::Warning, "bodies 'a' and 'b' overlap"));
  EXPECT_FALSE(checked(cube + second + "1.5, 0, 0] } }\n").troubled());
}

TEST(Check, WhatStartsTangledIsNamedWhereBarriersKeepThingsApart) {
  const std::string second =
      "[[body]]\nname = \"b\"\nshape = { box = { size = [1, 1, 1], lattice = [4, 4, 4], center = [";
  const std::string barrier = "[contact]\nmodel = \"barrier\"\n";
  const CheckReport tangled = checked(barrier + cube + second + "0.9, 0.1, 0.1] } }\n");
  EXPECT_TRUE(tangled.failed());
  EXPECT_TRUE(tells(tangled, Severity::Error, "body 'a' starts tangled with body 'b'")) << all(tangled);
  EXPECT_TRUE(tells(checked(barrier + cube + second + "1, 0, 0] } }\n"), Severity::Error, "tangled")) << "touching is a crossing";
  EXPECT_FALSE(checked(barrier + cube + second + "1.001, 0, 0] } }\n").troubled());
  EXPECT_FALSE(tells(checked(cube + second + "0.9, 0.1, 0.1] } }\n"), Severity::Error, "tangled")) << "penalties push it out";
}

TEST(Check, RatiosBetweenBodiesAreToldWhenHuge) {
  const std::string second =
      "[[body]]\nname = \"b\"\nshape = { box = { size = [1, 1, 1], lattice = [3, 3, 3], center = [3, 0, 0] } "
      "}\n";
  const CheckReport report = checked(cube + "material = \"foam\"\n" + second + "material = \"steel\"\n");
  EXPECT_TRUE(tells(report, Severity::Warning, "differ in stiffness"));
  EXPECT_FALSE(tells(report, Severity::Warning, "differ in density"));
}

TEST(Check, StiffnessJumpsInsideABodyAreTold) {
  const CheckReport report = checked(
      cube +
      "material = \"foam\"\n[[body.region]]\nname = \"r\"\nwhere = { side = \"x-min\", fraction = 0.5 }\n"
      "material = \"steel\"\n");
  EXPECT_TRUE(tells(report, Severity::Warning, "stiffnesses of the elements around vertex")) << all(report);
}

TEST(Check, InvertedFlatAndUnusedAreErrors) {
  Checked input = prepared(cube);
  std::swap(kinds::solid(input.model).mesh.tetrahedra[3][0], kinds::solid(input.model).mesh.tetrahedra[3][1]);
  kinds::solid(input.model).mesh.vertices.push_back(Vec3(5, 5, 5));
  const CheckReport report = check(input.scene, input.model);
  EXPECT_TRUE(tells(report, Severity::Error, "1 elements are inverted (the first is number 3)"))
      << all(report);
  EXPECT_TRUE(tells(report, Severity::Error, "1 vertices belong to no element")) << all(report);
  EXPECT_TRUE(report.failed());
}

TEST(Check, NaNIsAnError) {
  Checked input = prepared(cube);
  kinds::solid(input.model).mesh.vertices[4].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "not finite (the first is number 4)"));
}

TEST(Check, SliversAreWarnings) {
  Checked input = prepared("[[body]]\nshape = { box = { size = [1, 1, 1], lattice = [3, 3, 3] } }\n");
  // The middle node of the cube close to one of its faces flattens the tetrahedra there.
  for (Vec3& vertex : kinds::solid(input.model).mesh.vertices) {
    if (vertex.norm() < 1e-9) vertex.x() = 0.4999;
  }
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Warning, "slivers"));
}

TEST(Check, DensityAndStiffnessMustBePositive) {
  Checked input = prepared(cube);
  kinds::solid(input.model).density_of_material[0] = 0;
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "its density is 0"));
  kinds::solid(input.model).density_of_material[0] = 1;
  kinds::solid(input.model).materials[0].mu = -1;
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "its shear modulus is -1"));
}

TEST(Check, HandlesThatHoldNothingAreErrors) {
  Checked input = prepared(cube);
  kinds::solid(input.model).handles.resize(1);
  const CheckReport report = check(input.scene, input.model);
  EXPECT_TRUE(tells(report, Severity::Error, "handle 0 holds no vertex")) << all(report);
}

TEST(Check, ADurationThatIsNoWholeNumberOfStepsIsTold) {
  EXPECT_TRUE(tells(checked("[time]\nstep = 0.1\nduration = 0.25\nframe_rate = 10\n" + cube), Severity::Warning,
                    "the run ends at 0.3 s"));
}

TEST(Check, FramesBeyondTheDiskAreTold) {
  const CheckReport report = checked(
      "[time]\nduration = 2.4e7\n[[body]]\nshape = { box = { size = [1, 1, 1], lattice = [9, 9, 9] } }\n");
  EXPECT_TRUE(tells(report, Severity::Warning, "the 960000001 frames need about")) << all(report);
}

TEST(Check, AWhollyFixedBodyIsTold) {
  EXPECT_TRUE(tells(checked(cube + "[[body.handle]]\nwhere = { all = true }\npin = true\n"),
                    Severity::Warning, "nothing is left to solve"));
}

TEST(Check, RacingHandlesAreTold) {
  const std::string handle = "[[body.handle]]\nwhere = { side = \"x-min\" }\nmove = { velocity = [-";
  EXPECT_TRUE(tells(checked(cube + handle + "50, 0, 0] }\n"), Severity::Warning,
                    "moves by 1.25 m in the step at 0 s"));
  EXPECT_TRUE(checked(cube + handle + "1, 0, 0] }\n").findings.empty());
}

TEST(Check, FrameRatesThatDoNotFitAreTold) {
  EXPECT_TRUE(tells(checked("[time]\nframe_rate = 24\n" + cube), Severity::Warning, "every 2 steps"));
  EXPECT_TRUE(checked("[time]\nframe_rate = 20\n" + cube).findings.empty());
}

std::string beam(const std::string& edge) {
  return "[[body]]\nname = \"beam\"\nshape = { box = { size = [1, 0.1, 0.1] } }\n" + edge;
}

TEST(Check, TooFewCellsAcrossAreTold) {
  const CheckReport coarse = checked(beam("edge = 0.1\n"));
  EXPECT_TRUE(tells(coarse, Severity::Warning, "has 1 cells across its thinnest part (0.1 m)"))
      << all(coarse);
  EXPECT_TRUE(tells(coarse, Severity::Warning, "edge = 0.033")) << all(coarse);
  EXPECT_FALSE(tells(checked(beam("edge = \"3.3 cm\"\n")), Severity::Warning, "across"));
  const CheckReport flat =
      checked("[[body]]\nname = \"strip\"\nshape = { rectangle = { size = [1, 0.1] } }\nedge = 0.05\n");
  EXPECT_TRUE(tells(flat, Severity::Warning, "body 'strip': has 2 cells across")) << all(flat);
}

TEST(Check, DefaultsHaveThreeCellsAcross) {
  for (const std::string shape :
       {"box = { size = [1, 0.1, 0.1] }", "rectangle = { size = [1, 0.05] }", "sphere = { radius = 1 }",
        "torus = { ring_radius = 1, tube_radius = 0.1 }", "cylinder = { radius = 0.05, length = 1 }",
        "hollow_sphere = { radius = 1, inner_radius = 0.8 }",
        "polygon = { points = [[0, 0], [1, 0], [1, 0.1], [0.1, 0.1], [0.1, 1], [0, 1]] }"}) {
    const CheckReport report = checked("[[body]]\nshape = { " + shape + " }\n");
    EXPECT_FALSE(tells(report, Severity::Warning, "across")) << shape << "\n" << all(report);
    EXPECT_LT(report.bodies.front().numbers.at("elements"), 400000) << shape;
  }
}

// A mesh in millimetres.
TEST(Check, ImplausibleSizesAndMassesAreTold) {
  const std::string body =
      "[[body]]\nname = \"part\"\nshape = { box = { size = [200, 30, 100], lattice = [9, 4, 5] } }\n";
  const CheckReport report = checked(body);
  EXPECT_TRUE(tells(report, Severity::Warning, "is 200 m large and weighs 6e+08 kg")) << all(report);
  EXPECT_TRUE(tells(report, Severity::Warning, "transform = { scale = 0.001 }")) << all(report);
  EXPECT_FALSE(checked(body + "transform = { scale = 0.001 }\n").troubled());
  EXPECT_TRUE(
      tells(checked(body + "transform = { scale = 1e-7 }\n"), Severity::Warning, "is only 2e-05 m large"));
}

TEST(Check, MotionsTooFastForTheStepAreTold) {
  const std::string handle = "[[body.handle]]\nwhere = { side = \"x-min\" }\n";
  const auto shaken = [&](const std::string& times) {
    return checked(cube + handle + "script = { times = " + times +
                   ", displacement = [[0, 0, 0], [0.01, 0, 0], [0, 0, 0]], after = \"loop\" }\n");
  };
  EXPECT_TRUE(tells(shaken("[0, 0.05, 0.1]"), Severity::Warning,
                    "repeats its motion every 0.1 s, which are 4 steps"));
  EXPECT_FALSE(shaken("[0, 0.5, 1]").troubled());
  const CheckReport keys =
      checked(cube + handle +
              "script = { times = [0, 0.01, 1], displacement = [[0, 0, 0], [0.01, 0, 0], [0, 0, 0]] }\n");
  EXPECT_TRUE(tells(keys, Severity::Warning, "has keys 0.01 s apart")) << all(keys);
  const CheckReport turn = checked(cube + handle + "rotate = { rate = \"3600 deg/s\" }\n");
  EXPECT_TRUE(tells(turn, Severity::Warning, "turns by 90° in a step")) << all(turn);
}

TEST(Check, BounceIsForetold) {
  const std::string ground =
      "[[obstacle]]\nshape = { half_space = { point = [0, -1, 0], normal = [0, 1, 0] } }\n";
  const CheckReport long_steps = checked(cube + "material = \"rubber\"\n" + ground);
  EXPECT_TRUE(tells(long_steps, Severity::Note, "expect it to come back with")) << all(long_steps);
  EXPECT_NE(all(long_steps).find("no trouble found"), std::string::npos);
  EXPECT_TRUE(checked("[time]\nstep = 1e-5\nduration = 1e-3\n" + cube + "material = \"rubber\"\n" + ground)
                  .findings.empty());
  EXPECT_TRUE(checked(cube).findings.empty());
}

TEST(Check, ContactRulesOutMethodsWithoutIt) {
  const std::string solver = "[solver]\nmethod = \"admm-pd\"\n";
  const std::string second =
      "[[body]]\nname = \"b\"\nshape = { box = { size = [1, 1, 1], lattice = [4, 4, 4], center = [3, 0, 0] } "
      "}\n";
  EXPECT_FALSE(checked(solver + cube).failed());
  EXPECT_TRUE(tells(checked(solver + cube + second), Severity::Error, "say contact = false"));
  EXPECT_FALSE(checked(solver + cube + second + "contact = false\n").failed());
}

TEST(Memory, CountsTheVoxelsOfObstacles) {
  const std::string bowl = cube +
                           "transform = { translate = [0, 9, 0] }\n[[obstacle]]\ncontact = \"penalty\"\n" +
                           "shape = { mesh = \"" LOPE_SOURCE_DIR "/scenes/meshes/bowl.ply\" }\n";
  EXPECT_EQ(checked(cube).memory.voxels, 0);
  const CheckReport usual = checked(bowl);
  EXPECT_GT(usual.memory.voxels, 4 * 64 * 64);
  EXPECT_LT(usual.memory.voxels, 4 * 70 * 70 * 70);
  EXPECT_GT(usual.memory.iterative(), usual.memory.voxels);
}

TEST(Memory, GrowsAsExpected) {
  const auto estimate = [](int n) {
    matter::SolidBody body;
    body.mesh.vertices.resize(static_cast<std::size_t>(n));
    body.mesh.tetrahedra.resize(static_cast<std::size_t>(5 * n));
    return estimate_memory(body);
  };
  EXPECT_NEAR(estimate(80000).factor / estimate(10000).factor, 16, 1e-9);
  EXPECT_NEAR(estimate(80000).matrix / estimate(10000).matrix, 8, 0.3);
  EXPECT_GT(estimate(10000).direct(), estimate(10000).iterative());
}

}  // namespace
}  // namespace lope::scene
