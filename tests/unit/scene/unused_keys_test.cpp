// Nothing that a user writes is read and then ignored: a key that has no meaning where it stands is refused,
// with its place. Defaults that have none are left out of the resolved scene, which therefore loads back.
#include <lope/scene/scene.h>
#include <lope/step/simulation.h>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

// Lines are counted from these.
const std::string solid = "[[body]]\nshape = { box = { size = [1, 1, 1] } }\n";                    // 2 lines
const std::string equilibrium = "[time]\nscheme = \"static\"\n";                                     // 2 lines
const std::string disc = "[[body]]\nshape = { disc = { radius = 1 } }\n";                          // 2 lines
const std::string tank = "[[obstacle]]\nshape = { box = { size = [4, 4, 4] } }\ninside = true\n";  // 3 lines
const std::string water = "[liquid]\nresolution = 8\n[[body]]\nkind = \"liquid\"\n";               // 4 lines
const std::string full = water + "shape = { box = { size = [1, 1, 1] } }\n";                       // 5 lines
const std::string ball = "[[obstacle]]\nshape = { sphere = { radius = 1, center = [9, 9, 9] } }\n";
const std::string flat_water = water + "shape = { disc = { radius = 1 } }\n";

struct Unused {
  const char* name;
  std::string text;
  std::string place;  // file, line and key
};
void PrintTo(const Unused& unused, std::ostream* out) { *out << unused.name; }

class UnusedKey : public testing::TestWithParam<Unused> {};

TEST_P(UnusedKey, IsRefusedWithItsPlace) {
  const auto scene = load_scene_text(GetParam().text, "a.toml");
  ASSERT_FALSE(scene) << "accepted";
  const std::string& message = scene.error().message;
  const auto [line, key] = std::pair(GetParam().place.substr(0, GetParam().place.find(' ')),
                                     GetParam().place.substr(GetParam().place.find(' ') + 1));
  EXPECT_EQ(message.rfind("a.toml:" + line + ":", 0), 0U) << message;
  EXPECT_NE(message.find(": " + key + ": "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, UnusedKey,
    testing::Values(
        Unused{"barriers of one body", "[contact]\nmodel = \"barrier\"\n" + solid, "2 contact.model"},
        Unused{"reach of penalties", "[contact]\nreach = 0.01\n" + solid + "self_contact = true\n",
               "2 contact.reach"},
        Unused{"barrier without end",
               solid + "[[obstacle]]\nshape = { half_space = {} }\ncontact = \"barrier\"\n",
               "5 obstacle.0.contact"},
        Unused{"flat barrier",
               disc + "[[obstacle]]\nshape = { box = { size = [1, 1] } }\ncontact = \"barrier\"\n",
               "5 obstacle.0.contact"},
        Unused{"liquid material", full + "material = \"steel\"\n" + tank, "6 body.0.material"},
        Unused{"liquid damping", full + "damping = { mass = 1 }\n" + tank, "6 body.0.damping"},
        Unused{"liquid color", full + "color = \"red\"\n" + tank, "6 body.0.color"},
        Unused{"liquid initial", full + "initial = \"point\"\n" + tank, "6 body.0.initial"},
        Unused{"liquid self contact", full + "self_contact = false\n" + tank, "6 body.0.self_contact"},
        Unused{"liquid contact", full + "contact = false\n" + tank, "6 body.0.contact"},
        Unused{"liquid lattice",
               water + "shape = { box = { size = [1, 1, 1], lattice = [3, 3, 3] } }\n" + tank,
               "5 body.0.shape.box.lattice"},
        Unused{"liquid pattern",
               water + "shape = { box = { size = [1, 1, 1], pattern = \"kuhn\" } }\n" + tank,
               "5 body.0.shape.box.pattern"},
        Unused{
            "flip share",
            "[liquid]\nflip = 0.9\n[[body]]\nkind = \"liquid\"\nshape = { sphere = { radius = 1 } }\n" + tank,
            "2 liquid.flip"},
        Unused{"method without solid", "[solver]\nmethod = \"newton\"\n" + full + tank, "2 solver.method"},
        Unused{"accuracy without solid", "[solver]\naccuracy = 0.1\n" + full + tank, "2 solver.accuracy"},
        Unused{"scheme without solid", "[time]\nscheme = \"bdf-2\"\n" + full + tank, "2 time.scheme"},
        Unused{"start without solid", "[contact]\nstart = \"refuse\"\n" + full + tank, "2 contact.start"},
        Unused{"friction without solid", full + tank + "friction = 0.5\n", "9 obstacle.0.friction"},
        Unused{"contact without solid", full + tank + "contact = \"penalty\"\n", "9 obstacle.0.contact"},
        Unused{"interpolation of a formula", solid + ball + "interpolation = \"quadratic\"\n",
               "5 obstacle.0.interpolation"},
        Unused{"voxel of a formula", solid + ball + "voxel = 0.1\n", "5 obstacle.0.voxel"},
        Unused{"beginning of no motion", solid + ball + "begin = 1\n", "5 obstacle.0.begin"},
        Unused{"friction of bodies that do not touch", "[contact]\nfriction = 0.5\n" + solid,
               "2 contact.friction"},
        Unused{"stiffness of bodies that do not touch", "[contact]\nstiffness = 5\n" + solid,
               "2 contact.stiffness"},
        Unused{"two accuracies", "[solver]\naccuracy = 0.1\nrelative_accuracy = 0.1\n" + solid,
               "3 solver.relative_accuracy"},
        Unused{"accuracy of another test",
               "[solver]\ntolerance = \"gradient\"\nrelative_accuracy = 0.1\n" + solid,
               "3 solver.relative_accuracy"},
        Unused{"seed of a point", solid + "initial = { state = \"point\", seed = 4 }\n",
               "3 body.0.initial.seed"},
        Unused{"seed of copies", solid + "copies = { count = [1, 1, 1], spacing = [1, 1, 1], seed = 4 }\n",
               "3 body.0.copies.seed"},
        Unused{"axis without angle",
               solid + "[[body.handle]]\nwhere = { all = true }\n"
                       "script = { times = [0], displacement = [[0, 0, 0]], axis = [1, 0, 0] }\n",
               "5 body.0.handle.0.script.axis"},
        Unused{"vdb without a liquid", "[output]\nformats = [\"vtu\", \"vdb\"]\n" + solid,
               "2 output.formats"},
        Unused{"vdb of a flat liquid", "[output]\nformats = [\"vdb\"]\n" + flat_water + tank,
               "2 output.formats"},
        Unused{"cells without a liquid", "[output]\nfields = [\"cells\"]\n" + solid, "2 output.fields"},
        Unused{"stress without a solid", "[output]\nfields = [\"stress\"]\n" + full + tank,
               "2 output.fields"},
        Unused{"stress of a liquid", "[render]\ncolor_by = \"stress\"\n" + full + tank, "2 render.color_by"},
        Unused{"displacement of a liquid", "[output]\nfields = [\"displacement\"]\n" + full + tank,
               "2 output.fields"},
        Unused{"damping of an equilibrium", equilibrium + solid + "damping = { mass = 0, stiffness = 0.1 }\n",
               "5 body.0.damping"},
        Unused{"friction of velocities in an equilibrium",
               equilibrium + "[contact]\nfriction_model = \"gast15\"\n" + solid, "4 contact.friction_model"},
        Unused{"a method that tells no equilibrium", equilibrium + "[solver]\nmethod = \"admm-pd\"\n" + solid,
               "4 solver.method"},
        Unused{"velocity of an equilibrium", equilibrium + solid + "velocity = [1, 0, 0]\n",
               "5 body.0.velocity"},
        Unused{"spin of an equilibrium", equilibrium + solid + "angular_velocity = [1, 0, 0]\n",
               "5 body.0.angular_velocity"},
        Unused{"height of no ground", "[render]\nground = false\nground_height = 1\n" + solid,
               "3 render.ground_height"},
        Unused{"camera of the plane", "[render]\ncamera = { up = [1, 0, 0] }\n" + disc, "2 render.camera"},
        Unused{"sky of the plane", "[render]\nbackground = \"red\"\n" + disc, "2 render.background"}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
      return name;
    });

TEST(UnusedDefaults, AreNotInTheResolvedScene) {
  for (const std::string& text : {full + tank, flat_water + tank, solid + ball, disc, equilibrium + solid,
                                  full + "[[body]]\nshape = { sphere = { radius = 1 } }\n" + tank + ball}) {
    const auto scene = load_scene_text(text, "a.toml");
    ASSERT_TRUE(scene) << scene.error().message;
    const auto again = load_scene_text(resolved_toml(*scene), "resolved.toml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->resolved == scene->resolved);
    EXPECT_TRUE(build_model(*again)) << build_model(*again).error().message;
  }
  const std::string resolved = resolved_toml(load_scene_text(full + tank, "a.toml").value());
  for (const char* key : {"material", "damping", "scheme", "method", "friction", "flip", "interpolation"})
    EXPECT_EQ(resolved.find(key), std::string::npos) << key << " in\n" << resolved;
}

// What was read and ignored, and is used now.
TEST(UsedKeys, TheLimitOfIterationsHoldsForThePressure) {
  const std::string resting = water + "shape = { box = { min = [-2, -2, -2], max = [1, 0, 2] } }\n";
  const auto scene = load_scene_text("[solver]\nmax_iterations = 3\n" + resting + tank, "a.toml");
  ASSERT_TRUE(scene) << scene.error().message;
  step::Model model = build_model(*scene).value();
  EXPECT_EQ(kinds::liquid(model).description.max_iterations, 3);
  kinds::liquid(model).description.tolerance = 1e-30;
  const step::StepReport report = step::Simulation(model).advance();
  ASSERT_EQ(report.islands.size(), 1U);
  EXPECT_FALSE(report.islands[0].solve.converged());
  EXPECT_LE(report.islands[0].solve.iterations, 3 * report.bodies.at(0).count("substeps"));
}

TEST(UsedKeys, StressIsDrawnByItsVonMisesValue) {
  for (const char* field : {"stress", "von_mises"}) {
    const auto scene = load_scene_text(fmt::format("[render]\ncolor_by = \"{}\"\n", field) + solid, "a.toml");
    ASSERT_TRUE(scene) << scene.error().message;
    EXPECT_EQ(scene->render.color_by, "von_mises");
    EXPECT_TRUE(writes_field(*scene, "von_mises"));
    EXPECT_FALSE(writes_field(*scene, "stress"));
  }
}

TEST(UsedKeys, AFloorHasItsColour) {
  const std::string floor = solid + "[[obstacle]]\nshape = { half_space = { point = [0, -1, 0] } }\n";
  for (const char* color : {"", "color = \"#00ff00\"\n"}) {
    const auto scene = load_scene_text(floor + color, "a.toml");
    ASSERT_TRUE(scene) << scene.error().message;
    const auto again = load_scene_text(resolved_toml(*scene), "resolved.toml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(scene->floor_color.has_value(), *color != 0);
    EXPECT_EQ(scene->floor_color, again->floor_color);
  }
}

TEST(UsedKeys, TheSkyHasItsColour) {
  EXPECT_FALSE(load_scene_text(solid, "a.toml")->render.background);
  const auto scene = load_scene_text("[render]\nbackground = \"#ff0000\"\n" + solid, "a.toml");
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_EQ(scene->render.background, Vec3(1, 0, 0));
}

}  // namespace
}  // namespace lope::scene
