// Steps as lines of the statistics: every kind of matter in the same two lists.
#include <lope/scene/run.h>
#include <lope/scene/scene.h>
#include <lope/scene/statistics.h>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

nlohmann::json first_step(const std::string& text) {
  const auto scene = load_scene_text(text, "scene.toml");
  EXPECT_TRUE(scene) << scene.error().message;
  const step::Model model = build_model(*scene).value();
  return to_json(step::Simulation(model).advance(), model);
}

// Nothing is lost where names are alike.
TEST(Statistics, HandlesOfTheSameNameGoByTheirNumbers) {
  std::string text = "[[body]]\nshape = { box = { size = [1, 0.2, 0.2], lattice = [4, 2, 2] } }\n";
  for (const char* side : {"x-min", "x-max"})
    text += fmt::format("[[body.handle]]\nname = \"clamp\"\nwhere = {{ side = \"{}\" }}\npin = true\n", side);
  const nlohmann::json line = first_step(text);
  const nlohmann::json& handles = line.at("bodies")[0].at("handles");
  EXPECT_EQ(handles.size(), 2U);
  EXPECT_TRUE(handles.contains("0") && handles.contains("1")) << handles;
}

TEST(Statistics, ASolidAndALiquidAreBodiesAndIslands) {
  const nlohmann::json line = first_step(R"(
[liquid]
resolution = 8
[[body]]
name = "bar"
shape = { box = { min = [0, 4, 0], max = [1, 4.2, 0.2], lattice = [4, 2, 2] } }
[[body.handle]]
name = "clamp"
where = { side = "x-min" }
pin = true
[[body.handle]]
where = { side = "x-max" }
pin = true
[[body]]
kind = "liquid"
shape = { box = { min = [0, 0, 0], max = [1, 0.5, 1] } }
[[obstacle]]
shape = { box = { min = [0, 0, 0], max = [1, 6, 1] } }
inside = true
)");
  ASSERT_EQ(line.at("bodies").size(), 2U);
  const nlohmann::json &bar = line.at("bodies")[0], &water = line.at("bodies")[1];
  EXPECT_EQ(bar.at("kind"), "solid");
  EXPECT_EQ(bar.at("island"), 0);
  EXPECT_EQ(bar.at("inverted_elements"), 0);
  EXPECT_EQ(bar.at("angular_momentum").size(), 3U);
  ASSERT_EQ(bar.at("handles").size(), 2U);
  EXPECT_GT(bar.at("handles").at("clamp").at("force")[1].get<double>(), 0) << "holds the bar up";
  EXPECT_EQ(bar.at("handles").at("1").at("torque").size(), 3U) << "without a name: by its number";
  EXPECT_EQ(water.at("kind"), "liquid");
  EXPECT_EQ(water.at("island"), 1);
  EXPECT_GT(water.at("particles").get<int>(), 0);
  EXPECT_GE(water.at("substeps").get<int>(), 1);
  EXPECT_EQ(water.at("pressure").at("squeeze").at("middle").size(), 3U);
  EXPECT_GT(water.at("energy").at("gravity").get<double>(), 0);
  EXPECT_FALSE(water.contains("angular_momentum"));

  ASSERT_EQ(line.at("islands").size(), 2U);
  const nlohmann::json &solid = line.at("islands")[0], &liquid = line.at("islands")[1];
  EXPECT_EQ(solid.at("bodies"), nlohmann::json({"bar"}));
  EXPECT_EQ(solid.at("measures"), "remaining displacement (m)");
  EXPECT_EQ(liquid.at("bodies"), nlohmann::json({water.at("name")}));
  EXPECT_EQ(liquid.at("measures"), "residual of the pressure (m/s), slowest substep");
  EXPECT_EQ(liquid.at("solve").at("outcome"), "converged");
  EXPECT_LE(liquid.at("solve").at("measure").get<double>(), liquid.at("solve").at("tolerance").get<double>());
}

}  // namespace
}  // namespace lope::scene
