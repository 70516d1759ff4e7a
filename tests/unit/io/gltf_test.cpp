// Binary glTF read back by its specification: chunks, accessors, morph targets played at the times of frames.
#include <lope/io/gltf.h>

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>
#include <unit/io/exported_run.h>

namespace lope::io {
namespace {

using nlohmann::json;

struct Glb {
  json document;
  std::string data;

  explicit Glb(const std::filesystem::path& path) {
    const std::string bytes = *read_file(path);
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 4, false), 2U);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 8, false), bytes.size());
    const std::size_t length = number_at<std::uint32_t>(bytes, 12, false);
    EXPECT_EQ(bytes.substr(16, 4), "JSON");
    EXPECT_EQ(length % 4, 0U);
    document = json::parse(bytes.substr(20, length));
    const std::size_t rest = number_at<std::uint32_t>(bytes, 20 + length, false);
    EXPECT_EQ(bytes.substr(24 + length, 4), std::string("BIN\0", 4));
    EXPECT_EQ(28 + length + rest, bytes.size());
    data = bytes.substr(28 + length);
    EXPECT_EQ(document["buffers"][0]["byteLength"], data.size());
  }

  template <class T>
  std::vector<T> values(const json& accessor_number) const {
    const json& accessor = document["accessors"][accessor_number.get<std::size_t>()];
    const json& view = document["bufferViews"][accessor["bufferView"].get<std::size_t>()];
    static const std::map<std::string, std::size_t> components{{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}};
    const std::size_t count = accessor["count"].get<std::size_t>() * components.at(accessor["type"]);
    EXPECT_EQ(accessor["componentType"], (std::is_same_v<T, float> ? 5126 : 5125));
    EXPECT_EQ(view["byteLength"], count * sizeof(T));
    EXPECT_EQ(view["byteOffset"].get<std::size_t>() % 4, 0U);
    std::vector<T> result(count);
    for (std::size_t k = 0; k < count; ++k)
      result[k] = number_at<T>(data, view["byteOffset"].get<std::size_t>() + k * sizeof(T), false);
    return result;
  }

  const json& node(const std::string& name) const {
    for (const json& node : document["nodes"]) {
      if (node["name"] == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return document["nodes"][0];
  }
  const json& primitive(const std::string& name) const {
    return document["meshes"][node(name)["mesh"].get<std::size_t>()]["primitives"][0];
  }
  const json& material(const std::string& name) const {
    return document["materials"][primitive(name)["material"].get<std::size_t>()];
  }
  // What an animated number is at a time, key values in between linear or the last ones.
  std::vector<float> animated(const std::string& name, const std::string& path, float time) const {
    const auto number = static_cast<std::size_t>(&node(name) - &document["nodes"][0]);
    if (!document.contains("animations")) return {};
    const json& animation = document["animations"][0];
    for (const json& channel : animation["channels"]) {
      if (channel["target"]["node"] != number || channel["target"]["path"] != path) continue;
      const json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
      const std::vector<float> times = values<float>(sampler["input"]),
                               all = values<float>(sampler["output"]);
      const std::size_t each = all.size() / times.size();
      std::size_t key = 0;
      while (key + 1 < times.size() && times[key + 1] <= time) ++key;
      std::vector<float> result(all.begin() + static_cast<std::ptrdiff_t>(key * each),
                                all.begin() + static_cast<std::ptrdiff_t>((key + 1) * each));
      if (sampler["interpolation"] == "STEP" || key + 1 == times.size() || time < times[key]) return result;
      const float t = (time - times[key]) / (times[key + 1] - times[key]);
      for (std::size_t k = 0; k < each; ++k) result[k] += t * (all[(key + 1) * each + k] - result[k]);
      return result;
    }
    return {};
  }
  std::vector<float> positions(const std::string& name, float time) const {
    const json& its = primitive(name);
    std::vector<float> result = values<float>(its["attributes"]["POSITION"]);
    const std::vector<float> weights = animated(name, "weights", time);
    EXPECT_EQ(weights.size(), its.contains("targets") ? its["targets"].size() : 0U);
    for (std::size_t target = 0; target < weights.size(); ++target) {
      const std::vector<float> moved = values<float>(its["targets"][target]["POSITION"]);
      for (std::size_t k = 0; k < result.size(); ++k) result[k] += weights[target] * moved[k];
    }
    return result;
  }
};

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-6) << k;
}

TEST_F(Export, GltfMovesMeshesByMorphTargets) {
  const auto folder = exported("gltf");
  ASSERT_TRUE(folder) << folder.error().message;
  const Glb file(*folder / "run.glb");
  EXPECT_EQ(file.document["asset"]["version"], "2.0");
  EXPECT_EQ(file.document["scenes"][0]["nodes"].size(), 3U);
  const json& cube = file.primitive("cube");
  EXPECT_EQ(cube["mode"], 4);
  EXPECT_EQ(cube["targets"].size(), std::size_t{frames - 1});
  const auto indices = file.values<std::uint32_t>(cube["indices"]);
  EXPECT_EQ(std::vector<std::int32_t>(indices.begin(), indices.end()), flat(cube_at(0).triangles));
  for (int k = 0; k < frames; ++k)
    expect_near(file.positions("cube", 0.1F * static_cast<float>(k)), flat(cube_at(k).vertices));
  std::vector<float> between = flat(cube_at(1).vertices);
  for (std::size_t k = 1; k < between.size(); k += 3) between[k] += 0.125F;
  expect_near(file.positions("cube", 0.15F), between);
  // The bounds that the format wants are those of the numbers.
  const json& accessor = file.document["accessors"][cube["attributes"]["POSITION"].get<std::size_t>()];
  const geometry::Bounds box = geometry::bounds(cube_at(0).vertices);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(accessor["min"][k].get<float>(), static_cast<float>(box.min[static_cast<Eigen::Index>(k)]));
    EXPECT_EQ(accessor["max"][k].get<float>(), static_cast<float>(box.max[static_cast<Eigen::Index>(k)]));
  }
  const json color = file.material("cube")["pbrMetallicRoughness"]["baseColorFactor"];
  EXPECT_NEAR(color[0].get<double>(), 1, 1e-6);
  EXPECT_NEAR(color[1].get<double>(), 0.214041, 1e-6);
  EXPECT_EQ(color[3], 1);
}

TEST_F(Export, GltfShowsWhatChangesFrameByFrame) {
  const auto folder = exported("gltf");
  ASSERT_TRUE(folder) << folder.error().message;
  const Glb file(*folder / "run.glb");
  EXPECT_EQ(file.node("water")["children"].size(), std::size_t{frames});
  for (int k = 0; k < frames; ++k) {
    const std::string water = fmt::format("water {}", k), sand = fmt::format("sand {}", k);
    const geometry::Mesh shape = cube_surface(1 + k % 2);
    std::vector<Vec3> on_surface;
    for (const int vertex : surface_of(shape.vertices.size(), shape.triangles, {}).vertices)
      on_surface.push_back(shape.vertices[static_cast<std::size_t>(vertex)]);
    EXPECT_EQ(file.positions(water, 0), flat(on_surface));
    EXPECT_EQ(file.primitive(sand)["mode"], 0);
    EXPECT_FALSE(file.primitive(sand).contains("indices"));
    EXPECT_EQ(file.positions(sand, 0), repeated({0.5F, static_cast<float>(k), 0.25F}, 5));
    EXPECT_EQ(file.values<float>(file.primitive(sand)["attributes"]["_VELOCITY"]), repeated({0, 1, 0}, 5));
    const std::size_t mesh = file.node(sand)["mesh"];
    EXPECT_EQ(file.document["meshes"][mesh]["extras"]["radius"], 0.01);
    for (int at = 0; at < frames; ++at)
      EXPECT_EQ(file.animated(water, "scale", 0.1F * static_cast<float>(at) + 0.01F),
                repeated({at == k ? 1.0F : 0.0F}, 3))
          << k << " at " << at;
  }
}

TEST_F(Export, GltfIsNeitherTurnedNorScaled) {
  ExportOptions turned, scaled;
  turned.z_up = true;
  scaled.scale = 100;
  for (const ExportOptions& how : {turned, scaled}) {
    const auto refused = exported("gltf", how);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("in metres and y points up"), std::string::npos);
  }
}

SeriesBody body_of(const geometry::Mesh& mesh) { return {"cube", mesh.vertices, mesh.triangles, {}, {}, {}}; }

TEST(Gltf, RestCostsNothing) {
  const TemporaryFolder folder;
  GltfFile file(folder.path(), "run", 4);
  const std::vector<int> places{0, 0, 2, 2};
  for (std::size_t k = 0; k < places.size(); ++k) {
    const geometry::Mesh cube = cube_at(places[k]);
    ASSERT_TRUE(file.add_frame(static_cast<std::int64_t>(k), 3 + 0.5 * static_cast<double>(k),
                               std::vector<SeriesBody>{body_of(cube)}));
  }
  ASSERT_TRUE(file.finish());
  const Glb made(folder / "run.glb");
  EXPECT_EQ(made.primitive("cube")["targets"].size(), 1U);
  for (std::size_t k = 0; k < places.size(); ++k)
    expect_near(made.positions("cube", 0.5F * static_cast<float>(k)), flat(cube_at(places[k]).vertices));
}

// Where the texture has a seam, a vertex becomes two.
TEST(Gltf, TextureCoordinatesSplitVertices) {
  const TemporaryFolder folder;
  const std::vector<Vec3> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const std::vector<geometry::Triangle> triangles{{0, 1, 2}, {0, 2, 3}};
  const std::vector<float> texture{0, 0, 1, 0, 1, 1, 0, 0, 5, 5, 0, 1};
  SeriesBody body{"cloth", square, triangles, {}, {}, {}};
  body.material = "glass";
  body.texture = texture;
  GltfFile file(folder.path(), "run", 1);
  ASSERT_TRUE(file.add_frame(0, 0, std::vector<SeriesBody>{body}));
  ASSERT_TRUE(file.finish());
  const Glb made(folder / "run.glb");
  const json& primitive = made.primitive("cloth");
  const auto indices = made.values<std::uint32_t>(primitive["indices"]);
  const auto found = made.values<float>(primitive["attributes"]["TEXCOORD_0"]),
             x = made.positions("cloth", 0);
  EXPECT_EQ(x.size(), 3U * 5);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(found[2 * indices[k]], texture[2 * k]);
    EXPECT_EQ(found[2 * indices[k] + 1], 1 - texture[2 * k + 1]);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(x[3 * indices[k] + c],
                square[static_cast<std::size_t>(triangles[k / 3][k % 3])][static_cast<Eigen::Index>(c)]);
  }
  EXPECT_EQ(made.material("cloth")["alphaMode"], "BLEND");
  EXPECT_FALSE(made.document.contains("animations"));
  body.texture = std::span(texture).first(6);
  const auto refused = file.add_frame(1, 1, std::vector<SeriesBody>{body});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("do not fit its triangles"), std::string::npos);
}

TEST(Gltf, WhatIsTooLargeIsRefusedWithItsSize) {
  const TemporaryFolder folder;
  const std::vector<Vec3> points(100000, Vec3::Zero());
  std::vector<Vec3> moved = points;
  GltfFile file(folder.path(), "run", 50, std::size_t{4} << 20);
  Expected<void> added;
  int taken = 0;
  for (; taken < 50; ++taken) {
    for (Vec3& x : moved) x[0] += 1;
    added = file.add_frame(taken, taken, std::vector<SeriesBody>{{"sand", moved, {}, {}, {}, {}}});
    if (!added) break;
  }
  ASSERT_FALSE(added);
  EXPECT_EQ(taken, 3);  // the fourth: 4.8 MB
  EXPECT_NE(added.error().message.find("these 50 frames would be about 57 MB, and at most 4 MB"),
            std::string::npos)
      << added.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder / "run.glb"));
}

}  // namespace
}  // namespace lope::io
