#include <lope/scene/scene.h>
#include <lope/scene/validate.h>

#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace lope::scene {
namespace {

const std::string minimal =
    "[[body]]\n"
    "name = \"bar\"\n"
    "shape = { box = { size = [1, \"20 cm\", 0.2] } }\n";

Scene loaded(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto scene = load_scene_text(text, "dir/test.toml", overrides);
  EXPECT_TRUE(scene) << scene.error().message;
  return scene.value_or(Scene());
}

std::string failure(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto scene = load_scene_text(text, "test.toml", overrides);
  return scene ? "accepted" : scene.error().message;
}

const Value& first_body(const Scene& scene) { return scene.resolved["body"].items.front(); }

TEST(Load, FillsDefaultsIn) {
  const Scene scene = loaded(minimal);
  EXPECT_EQ(scene.name, "test");
  EXPECT_EQ(scene.resolved["time"].number_at("step"), 0.025);
  EXPECT_EQ(scene.frame_rate, 40);
  EXPECT_EQ(scene.resolved.vector_at("gravity"), Vec3(0, -9.80665, 0));
  EXPECT_EQ(scene.bodies.at(0).name, "bar");
  EXPECT_EQ(scene.bodies.at(0).dimension, 3);
  EXPECT_EQ(first_body(scene)["material"].number_at("young"), 1e5);
  EXPECT_EQ(first_body(scene)["shape"]["box"].vector_at("size"), Vec3(1, 0.2, 0.2));
  EXPECT_EQ(scene.output.directory, "runs/test");
  EXPECT_EQ(scene.render.width, 1280);
}

TEST(Load, ReadsWordsLiberally) {
  const Scene scene = loaded(minimal + "material = \"Soft Rubber\"\n");
  EXPECT_EQ(first_body(scene)["material"].text_at("preset"), "soft-rubber");
}

TEST(Load, ExplicitConstantsWinOverThePreset) {
  const Scene scene = loaded(minimal + "material = { preset = \"steel\", young = \"1 kPa\" }\n");
  EXPECT_EQ(first_body(scene)["material"].number_at("young"), 1000);
  EXPECT_EQ(first_body(scene)["material"].number_at("density"), 7850);
}

TEST(Load, RegionMaterialsInheritFromTheBody) {
  const Scene scene = loaded(minimal +
                             "[[body.region]]\nname = \"core\"\nwhere = { side = \"x-min\" }\n"
                             "material = { young = 1e7 }\n");
  const Value& material = first_body(scene)["region"].items.at(0)["material"];
  EXPECT_EQ(material.number_at("young"), 1e7);
  EXPECT_EQ(material.number_at("poisson"), 0.4);
  EXPECT_EQ(material.number_at("density"), 1000);
}

TEST(Load, FlatShapesAreTwoDimensional) {
  const Scene scene = loaded(
      "[[body]]\nshape = { rectangle = { size = [1, 2] } }\n"
      "[[body.handle]]\nwhere = { all = true }\nrotate = { rate = 1 }\n");
  EXPECT_EQ(scene.bodies.at(0).dimension, 2);
  EXPECT_EQ(first_body(scene)["handle"].items.at(0)["rotate"].vector_at("axis"), Vec3(0, 0, 1));
}

TEST(Resolved, LoadsBackToTheSameScene) {
  const std::string text =
      minimal +
      "color = \"teal\"\nmaterial = \"steel\"\nangular_velocity = [0, \"1 turn/s\", 0]\n"
      "[[body.region]]\nname = \"end\"\nwhere = { side = \"x-max\", fraction = \"10 %\" }\n"
      "[[body.handle]]\nwhere = \"end\"\nrelease = \"1 s\"\n"
      "script = { times = [0, 1], displacement = [[0, 0, 0], [1, 0, 0]] }\n"
      "[[body]]\nshape = { mesh = \"../a.msh\" }\n";
  const Scene scene = loaded(text);
  const auto again = load_scene_text(resolved_toml(scene), "elsewhere/resolved.toml");
  ASSERT_TRUE(again) << again.error().message << "\n" << resolved_toml(scene);
  EXPECT_TRUE(scene.resolved == again->resolved) << resolved_toml(scene) << "\n" << resolved_toml(*again);
  EXPECT_EQ(again->name, "test");
}

TEST(Load, NamesAreFitForFiles) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "a\\\\b", "a\\nb", "a\\u0000", " a", "a "}) {
    const std::string table = fmt::format("[scene]\nname = \"{}\"\n", name);
    EXPECT_TRUE(failure(table + minimal).starts_with("test.toml:2:8: scene.name: is "))
        << failure(table + minimal);
  }
  EXPECT_EQ(loaded(fmt::format("[scene]\nname = \"{}\"\n{}", "Größe 7 (neu)", minimal)).name,
            "Größe 7 (neu)");
  const std::string longest(100, 'n');
  EXPECT_EQ(loaded(minimal, {"body.0.name=" + longest}).bodies.at(0).name, longest);
  EXPECT_NE(failure(minimal, {"body.0.name=" + longest + "n"}).find("has 101 bytes"), std::string::npos);
  const auto nameless = load_scene_text(minimal, ".toml");
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message.find("by default it is the file's name"), std::string::npos);
}

TEST(Load, StepsAreCounted) {
  for (const char* duration : {"1e300", "1e18", "2.6e7"}) {
    const std::string message = failure("[time]\nduration = " + std::string(duration) + "\n" + minimal);
    EXPECT_TRUE(message.starts_with("test.toml:2:12: time.duration")) << message;
    EXPECT_NE(message.find("a run has at most 1e+09"), std::string::npos) << message;
  }
  EXPECT_EQ(loaded("[time]\nduration = 2.4e7\n" + minimal).duration, 2.4e7);
}

TEST(Load, MeshFilesAreRelativeToTheSceneFileOrTheWorkingDirectory) {
  const std::string text = "[[body]]\nshape = { mesh = \"a.msh\" }\n";
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(first_body(loaded(text))["shape"].text_at("mesh"), (here / "dir" / "a.msh").string());
  EXPECT_EQ(first_body(loaded(text, {"body.0.shape.mesh=b.msh"}))["shape"].text_at("mesh"),
            (here / "b.msh").string());
}

// Overrides
// -----------------------------------------------------------------------------------------------------

TEST(Override, SetsTypedValues) {
  const Scene scene = loaded(minimal, {"time.step=10 ms", "body.bar.edge=0.02", "body.0.material=steel",
                                       "gravity=[0, 0, 0]", "scene.name=42", "render.ground=false"});
  EXPECT_EQ(scene.resolved["time"].number_at("step"), 0.01);
  EXPECT_EQ(first_body(scene).number_at("edge"), 0.02);
  EXPECT_EQ(first_body(scene)["material"].number_at("young"), 200e9);
  EXPECT_EQ(scene.resolved.vector_at("gravity"), Vec3(0, 0, 0));
  EXPECT_EQ(scene.name, "42");
  EXPECT_FALSE(scene.render.ground);
}

TEST(Override, OpensShorthands) {
  const Scene scene = loaded(minimal + "material = \"steel\"\n", {"body.bar.material.young=1 GPa"});
  EXPECT_EQ(first_body(scene)["material"].number_at("young"), 1e9);
  EXPECT_EQ(first_body(scene)["material"].number_at("density"), 7850);
}

TEST(Override, AnotherAlternativeReplacesThePresentOne) {
  const Scene sphere = loaded(minimal, {"body.0.shape.sphere.radius=2"});
  EXPECT_EQ(first_body(sphere)["shape"]["sphere"].number_at("radius"), 2);
  EXPECT_FALSE(first_body(sphere)["shape"].has("box"));
  EXPECT_FALSE(first_body(loaded(minimal, {"body.bar.shape.mesh=a.msh"}))["shape"].has("box"));
}

TEST(Override, LaterOnesWin) {
  EXPECT_EQ(loaded(minimal, {"time.duration=1", "time.duration=2"}).duration, 2);
}

struct Mistake {
  const char* name;
  std::string text;
  std::vector<std::string> overrides;
  std::vector<std::string> expected;  // pieces of the message
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, GetOneClearLine) {
  const std::string message = failure(GetParam().text, GetParam().overrides);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& piece : GetParam().expected) {
    EXPECT_NE(message.find(piece), std::string::npos) << "no '" << piece << "' in: " << message;
  }
}

const std::string handle = minimal + "[[body.handle]]\n";  // the next line is line 5

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    ::testing::Values(
        Mistake{"empty", "", {}, {"test.toml:1:1: body: is missing", "[[body]]"}},
        Mistake{"syntax", "[[body]\n", {}, {"test.toml:1:", "TOML syntax"}},
        Mistake{"typo",
                minimal + "matrial = \"steel\"\n",
                {},
                {"test.toml:4:1: body.0.matrial: unknown key; did you mean 'material'?"}},
        Mistake{"misplaced", minimal + "young = 1e5\n", {}, {"test.toml:4:1", "belongs to 'body.material'"}},
        Mistake{"nonsense", minimal + "qqqqqq = 1\n", {}, {"test.toml:4:1", "known here: name, kind"}},
        Mistake{"typo in shape",
                "[[body]]\nshape = { bxo = { size = [1, 1, 1] } }\n",
                {},
                {"test.toml:2:11: body.0.shape.bxo: unknown key; did you mean 'box'?"}},
        Mistake{"unit",
                "[time]\nstep = \"25 cm\"\n" + minimal,
                {},
                {"test.toml:2:8: time.step: \"25 cm\" is a length; expected a time"}},
        Mistake{"type",
                "[time]\nstep = true\n" + minimal,
                {},
                {"test.toml:2:8: time.step: expected a time", "found a boolean"}},
        Mistake{"table type", "time = 3\n" + minimal, {}, {"test.toml:1:8: time: expected a table"}},
        Mistake{"range",
                "[time]\nstep = -1\n" + minimal,
                {},
                {"test.toml:2:8: time.step: -1 is out of range; it must be greater than 0 s"}},
        Mistake{"poisson",
                minimal + "material = { preset = \"steel\", poisson = 0.5 }\n",
                {},
                {"test.toml:4:42: body.0.material.poisson: 0.5 is out of range",
                 "between -1 and 0.5, both excluded"}},
        Mistake{"density",
                minimal + "material = { preset = \"steel\", density = 0 }\n",
                {},
                {"test.toml:4:42: body.0.material.density: 0 is out of range", "greater than 0 kg/m^3"}},
        Mistake{"material",
                minimal + "material = \"stel\"\n",
                {},
                {"test.toml:4:12: body.0.material.preset: unknown preset 'stel'; did you mean 'steel'?"}},
        Mistake{"half a material",
                minimal + "material = { young = 1e5, poisson = 0.3 }\n",
                {},
                {"test.toml:4:12: body.0.material.density: is missing; give a preset"}},
        Mistake{"nan", minimal + "edge = nan\n", {}, {"test.toml:4:8: body.0.edge: nan is not finite"}},
        Mistake{"infinite",
                "gravity = [0, -inf, 0]\n" + minimal,
                {},
                {"test.toml:1:15: gravity: -inf is not finite"}},
        Mistake{"nan text",
                minimal + "edge = \"nan m\"\n",
                {},
                {"test.toml:4:8: body.0.edge: ", "finite number"}},
        Mistake{"components",
                "gravity = [1]\n" + minimal,
                {},
                {"test.toml:1:11: gravity:", "found 1 components"}},
        Mistake{"no shape", "[[body]]\nname = \"a\"\n", {}, {"test.toml:1:1: body.0.shape: is missing"}},
        Mistake{"two shapes",
                "[[body]]\nshape = { mesh = \"a\", sphere = { radius = 1 } }\n",
                {},
                {"test.toml:2:9: body.0.shape: has sphere and mesh; keep one"}},
        Mistake{"box both ways",
                "[[body]]\nshape = { box = { size = [1, 1, 1], min = [0, 0, 0] } }\n",
                {},
                {"test.toml:2:17: body.0.shape.box: give either size"}},
        Mistake{
            "flat box", "[[body]]\nshape = { box = { size = [1, 1] } }\n", {}, {"needs three edge lengths"}},
        Mistake{"lattice",
                "[[body]]\nshape = { box = { size = [1, 1, 1], lattice = [3, 3] } }\n",
                {},
                {"test.toml:2:47: body.0.shape.box.lattice: expected 3"}},
        Mistake{
            "dimension", minimal + "dimension = 2\n", {}, {"test.toml:4:13: body.0.dimension: box is three"}},
        Mistake{"mixed dimensions",
                minimal + "[[body]]\nshape = { disc = { radius = 1 } }\n",
                {},
                {"test.toml:4:1", "same dimension"}},
        Mistake{"same names",
                minimal + minimal,
                {},
                {"test.toml:5:8: body.1.name: another body is called 'bar'"}},
        Mistake{"axis",
                "[[body]]\nshape = { cylinder = { radius = 1, length = 1, axis = [0, 0, 0] } }\n",
                {},
                {"test.toml:2:55", "a direction cannot be zero"}},
        Mistake{"no motion",
                handle + "where = { all = true }\n",
                {},
                {"test.toml:4:1: body.0.handle.0: needs a motion: pin"}},
        Mistake{
            "no where", handle + "pin = true\n", {}, {"test.toml:4:1: body.0.handle.0.where: is missing"}},
        Mistake{"no selection",
                handle + "where = {}\npin = true\n",
                {},
                {"test.toml:5:9", "needs one of all, side"}},
        Mistake{"side",
                handle + "where = { side = \"left\" }\npin = true\n",
                {},
                {"test.toml:5:18: body.0.handle.0.where.side: unknown side 'left'", "x-min"}},
        Mistake{"width",
                handle + "where = { all = true, width = 1 }\npin = true\n",
                {},
                {"test.toml:5:31", "only with 'side'"}},
        Mistake{
            "region", handle + "where = \"foot\"\npin = true\n", {}, {"test.toml:5:9", "no region 'foot'"}},
        Mistake{"move",
                handle + "where = { all = true }\nmove = { displacement = [1, 0, 0] }\n",
                {},
                {"test.toml:6:8: body.0.handle.0.move.duration: is missing"}},
        Mistake{"times",
                handle + "where = { all = true }\nscript = { times = [1, 0], angle = [0, 1] }\n",
                {},
                {"test.toml:6:20", "must ascend"}},
        Mistake{"keys",
                handle + "where = { all = true }\nscript = { times = [0, 1], angle = [0] }\n",
                {},
                {"test.toml:6:36: body.0.handle.0.script.angle: has 1 keys for 2 times"}},
        Mistake{"release",
                handle + "where = { all = true }\npin = true\nbegin = 2\nrelease = 1\n",
                {},
                {"test.toml:8:11: body.0.handle.0.release: must be later than begin"}},
        Mistake{"color", minimal + "color = \"tael\"\n", {}, {"test.toml:4:9", "did you mean 'teal'?"}},
        Mistake{"epsilon",
                "[solver]\nepsilon = 1\n" + minimal,
                {},
                {"test.toml:2:11: solver.epsilon", "set accuracy"}},
        Mistake{
            "inverted start",
            minimal + "initial = \"random\"\nmaterial = { preset = \"jelly\", model = \"neo-hookean\" }\n",
            {},
            {"test.toml:4:11: body.0.initial: neo-hookean is not defined"}},
        Mistake{"set: path",
                minimal,
                {"time.stp=1"},
                {"--set time.stp=1: 'stp': unknown key; did you mean 'step'?"}},
        Mistake{"set: body",
                minimal,
                {"body.bat.edge=1"},
                {"--set body.bat.edge=1: no element 'bat'; did you mean 'bar'?"}},
        Mistake{
            "set: index", minimal, {"body.1.edge=1"}, {"no element '1'; there are 0 to 0, also named bar"}},
        Mistake{"set: form", minimal, {"time.step"}, {"--set time.step: expected path.to.key=value"}},
        Mistake{"set: depth", minimal, {"time.step.x=1"}, {"'step' has no keys of its own"}},
        Mistake{"set: whole body", minimal, {"body.0=1"}, {"name a key of '0', for example body.0.name"}},
        Mistake{"set: unit",
                minimal,
                {"time.step=1 m"},
                {"--set time.step=1 m: time.step: \"1 m\" is a length"}}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
      return name;
    });

TEST(Load, TellsAllProblemsAtOnceButNotTooMany) {
  const std::string message = failure(minimal + "a1 = 1\nedge = -1\ncolor = 3\n");
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
  std::string many = minimal;
  for (int i = 0; i < 20; ++i) many += fmt::format("a{} = 1\n", i);
  const std::string shortened = failure(many);
  EXPECT_EQ(std::count(shortened.begin(), shortened.end(), '\n'), most_errors_told);
  EXPECT_NE(shortened.find("and 12 more"), std::string::npos) << shortened;
}

TEST(Load, MissingFileIsAnInputError) {
  const auto scene = load_scene("no_such_scene.toml");
  ASSERT_FALSE(scene);
  EXPECT_EQ(scene.error().trouble, Trouble::Input);
  EXPECT_NE(scene.error().message.find("no_such_scene.toml: no such file"), std::string::npos);
}

}  // namespace
}  // namespace lope::scene
