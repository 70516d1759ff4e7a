#include <lope/scene/check.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace lope::scene {
namespace {

const std::string cube =
    "[[body]]\nname = \"a\"\nshape = { box = { size = [1, 1, 1], lattice = [3, 3, 3] } }\n";

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
  EXPECT_EQ(report.unknowns, 81u);
  EXPECT_EQ(report.steps, 40u);
  EXPECT_EQ(report.frames, 41u);
  EXPECT_NEAR(report.bodies.at(0).mass, 1000, 1e-9);
  EXPECT_NE(all(report).find("no trouble found"), std::string::npos);
}

TEST(Check, OverlappingBodiesAreNamed) {
  const std::string second =
      "[[body]]\nname = \"b\"\nshape = { box = { size = [1, 1, 1], lattice = [3, 3, 3], center = [";
  EXPECT_TRUE(
      tells(checked(cube + second + "0.9, 0, 0] } }\n"), Severity::Warning, "bodies 'a' and 'b' overlap"));
  EXPECT_TRUE(checked(cube + second + "1.5, 0, 0] } }\n").findings.empty());
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
  std::swap(input.model.solids[0].mesh.tetrahedra[3][0], input.model.solids[0].mesh.tetrahedra[3][1]);
  input.model.solids[0].mesh.vertices.push_back(Vec3(5, 5, 5));
  const CheckReport report = check(input.scene, input.model);
  EXPECT_TRUE(tells(report, Severity::Error, "1 elements are inverted (the first is number 3)"))
      << all(report);
  EXPECT_TRUE(tells(report, Severity::Error, "1 vertices belong to no element")) << all(report);
  EXPECT_TRUE(report.failed());
}

TEST(Check, NaNIsAnError) {
  Checked input = prepared(cube);
  input.model.solids[0].mesh.vertices[4].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "not finite (the first is number 4)"));
}

TEST(Check, SliversAreWarnings) {
  Checked input = prepared(cube);
  // The middle node of the cube close to one of its faces flattens the tetrahedra there.
  for (Vec3& vertex : input.model.solids[0].mesh.vertices) {
    if (vertex.norm() < 1e-9) vertex.x() = 0.4999;
  }
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Warning, "slivers"));
}

TEST(Check, DensityAndStiffnessMustBePositive) {
  Checked input = prepared(cube);
  input.model.solids[0].density_of_material[0] = 0;
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "its density is 0"));
  input.model.solids[0].density_of_material[0] = 1;
  input.model.solids[0].materials[0].mu = -1;
  EXPECT_TRUE(tells(check(input.scene, input.model), Severity::Error, "its shear modulus is -1"));
}

TEST(Check, HandlesThatHoldNothingAreErrors) {
  Checked input = prepared(cube);
  input.model.solids[0].handles.resize(1);
  const CheckReport report = check(input.scene, input.model);
  EXPECT_TRUE(tells(report, Severity::Error, "handle 0 holds no vertex")) << all(report);
}

TEST(Check, ADurationThatIsNoWholeNumberOfStepsIsTold) {
  EXPECT_TRUE(tells(checked("[time]\nstep = 0.1\nduration = 0.25\nframe_rate = 10\n" + cube), Severity::Warning,
                    "the run ends at 0.3 s"));
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

TEST(Memory, GrowsAsExpected) {
  const auto estimate = [](int n) {
    step::SolidBody body;
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
