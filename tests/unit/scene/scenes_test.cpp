// Every scene that comes with Lope loads, and says what it is.
#include <lope/scene/scene.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

std::vector<std::string> scene_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LOPE_SOURCE_DIR "/scenes")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Scenes : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenes, LoadAndResolve) {
  const auto scene = load_scene(GetParam());
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_EQ(scene->name, std::filesystem::path(GetParam()).stem().string());
  EXPECT_FALSE(scene->description.empty());
  const auto again = load_scene_text(resolved_toml(*scene), "resolved.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(scene->resolved == again->resolved);
}

TEST_P(Scenes, BeginWithACommentThatSaysWhatTheyShow) {
  std::string line;
  std::ifstream file(GetParam());
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_TRUE(line.starts_with("# ") && line.size() > 20) << line;
}

// The handles, regions and motions hold on any mesh: tried on a coarse box (or rectangle) of the same size.
TEST_P(Scenes, BuildOnACoarseMesh) {
  const auto scene = load_scene(GetParam());
  ASSERT_TRUE(scene) << scene.error().message;
  if (scene->resolved.has("liquid")) {
    const auto coarse = load_scene(GetParam());
    ASSERT_TRUE(coarse) << coarse.error().message;
    const auto model = build_model(*coarse);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_TRUE(kinds::has_liquid(*model));
  } else if (scene->resolved.has("mpm")) {
    const auto coarse = load_scene(GetParam(), {"mpm.cell=0.05"});
    ASSERT_TRUE(coarse) << coarse.error().message;
    const auto model = build_model(*coarse);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->bodies.size(), 1u);
  } else if (const Value* shape = scene->resolved["body"].items[0].find("shape");
             shape && shape->has("box")) {
    const auto coarse = load_scene(GetParam(), {"body.0.shape.box.lattice=[9, 5, 5]"});
    ASSERT_TRUE(coarse) << coarse.error().message;
    const auto model = build_model(*coarse);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(kinds::solid(*model).mesh.vertices.size(), 225u);
  } else {
    const auto coarse = load_scene(GetParam(), {"body.0.edge=0.1"});
    ASSERT_TRUE(coarse) << coarse.error().message;
    const auto model = build_model(*coarse);
    ASSERT_TRUE(model) << model.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenes, ::testing::ValuesIn(scene_files()), [](const auto& tested) {
  std::string name = std::filesystem::path(tested.param).stem().string();
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

}  // namespace
}  // namespace lope::scene
