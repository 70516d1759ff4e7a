#include <lope/scene/document.h>
#include <lope/scene/kind.h>
#include <lope/scene/presets.h>
#include <lope/scene/schema.h>
#include <lope/scene/validate.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lope::scene {
namespace {

TEST(Schema, EveryKeyIsDescribedAndHasAHome) {
  std::set<std::string> paths;
  for (const Key& key : schema()) {
    EXPECT_TRUE(paths.insert(key.kind + " " + key.path).second) << key.path << " is there twice";
    EXPECT_FALSE(key.description.empty()) << key.path;
    EXPECT_EQ(key.description.find('|'), std::string::npos) << key.path << ": would break the page's tables";
    std::string parent = key.parent();
    if (parent.ends_with("[]")) parent.resize(parent.size() - 2);
    EXPECT_TRUE(parent.empty() || find_key(parent, key.kind)) << key.path << " has no parent table";
    EXPECT_EQ(key.presence == Presence::Filled, !key.fallback.empty()) << key.path;
    if (key.type == Type::Choice || key.type == Type::ChoiceList) {
      EXPECT_FALSE(key.choices.empty()) << key.path;
    }
    if (!key.shorthand.empty()) {
      EXPECT_TRUE(find_key(key.path + "." + key.shorthand, key.kind)) << key.path;
    }
  }
}

// Where each default stands in a smallest scene that has its table: all of them pass their own checks.
TEST(Schema, EveryDefaultIsLegal) {
  for (const Key& key : schema()) {
    if (key.presence != Presence::Filled || key.type == Type::Table) continue;
    const auto parsed = parse_toml("x = " + key.fallback, key.path);
    ASSERT_TRUE(parsed) << key.path << ": " << parsed.error().message;
    const Value& value = (*parsed)["x"];
    if (value.kind == ValueKind::Number) {
      EXPECT_TRUE(key.range.contains(value.number)) << key.path;
    }
    if (key.type == Type::Choice) {
      EXPECT_NE(std::find(key.choices.begin(), key.choices.end(), value.text), key.choices.end()) << key.path;
    }
  }
}

TEST(Schema, RangesSpeak) {
  const Range open{0, std::numeric_limits<double>::infinity(), true, true};
  EXPECT_FALSE(open.contains(0));
  EXPECT_TRUE(open.contains(1e-300));
  EXPECT_EQ(open.text("s"), "greater than 0 s");
  EXPECT_EQ((Range{0, 1, false, false}).text(""), "between 0 and 1");
}

TEST(Presets, ArePhysical) {
  for (const MaterialPreset& preset : material_presets()) {
    EXPECT_GT(preset.young, 0) << preset.name;
    EXPECT_GT(preset.density, 0) << preset.name;
    EXPECT_TRUE(preset.poisson > -1 && preset.poisson < 0.5) << preset.name;
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_EQ(find_preset(preset.name), &preset) << "two presets called " << preset.name;
  }
  EXPECT_EQ(find_preset("unobtainium"), nullptr);
}

std::string file_content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// To renew the page after a change of the schema: LOPE_WRITE_REFERENCE=1 build/release/bin/test_scene
TEST(Reference, TheCommittedPageIsTheGeneratedOne) {
  const std::string path = LOPE_SOURCE_DIR "/docs/scene_reference.md";
  if (std::getenv("LOPE_WRITE_REFERENCE")) std::ofstream(path) << reference_page();
  EXPECT_EQ(file_content(path), reference_page())
      << "renew it: LOPE_WRITE_REFERENCE=1 test_scene --gtest_filter=Reference.*";
}

TEST(Reference, NamesEveryKey) {
  const std::string page = reference_page();
  for (const Key& key : schema())
    EXPECT_NE(page.find(fmt::format("`{}`", key.name())), std::string::npos) << key.path;
}

// Below a body every kind has its own keys, in the reference and in the schema for editors.
TEST(Reference, DescribesEveryKind) {
  const nlohmann::json tree = nlohmann::json::parse(json_schema());
  const auto& choices = tree.at("properties").at("body").at("items").at("oneOf");
  ASSERT_EQ(choices.size(), kinds().size());
  for (std::size_t k = 0; k < kinds().size(); ++k) {
    const std::string word(kinds()[k]->word());
    EXPECT_EQ(choices[k].at("properties").at("kind").at("enum"), nlohmann::json({word}));
    EXPECT_NE(reference_page().find(fmt::format("with `kind = \"{}\"`", word)), std::string::npos);
  }
  for (std::size_t k = 0; k < kinds().size(); ++k)
    EXPECT_EQ(choices[k].at("properties").contains("material"), kinds()[k]->word() != "liquid");
  EXPECT_EQ(find_key("body[].material", "liquid"), nullptr);
  EXPECT_NE(find_key("body[].material", "solid"), nullptr);
}

}  // namespace
}  // namespace lope::scene
