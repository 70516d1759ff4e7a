// Cloth in the scene file: shapes, fabrics, mesh files with texture coordinates, what is refused and what is said.
#include <lope/io/sheet_io.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/scene/check.h>
#include <lope/scene/kinds/cloth_presets.h>
#include <lope/scene/scene.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

const std::string square = "[[body]]\nname = \"cloth\"\nkind = \"cloth\"\nshape = { rectangle = { size = [1, 0.5] } }\nedge = 0.05\n";

step::Model model_of(const std::string& text) {
  const auto scene = load_scene_text(text, "scene.toml");
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  const auto model = build_model(*scene);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return *model;
}

const matter::ClothBody& cloth(const step::Model& model) { return as<matter::ClothBody>(model.bodies.at(0)); }

void refused(const std::string& text, const std::string& expected) {
  const auto scene = load_scene_text(text, "scene.toml");
  if (scene) {
    const auto model = build_model(*scene);
    ASSERT_FALSE(model) << text;
    EXPECT_NE(model.error().message.find(expected), std::string::npos) << model.error().message;
  } else {
    EXPECT_NE(scene.error().message.find(expected), std::string::npos) << scene.error().message;
  }
}

TEST(ClothScene, PresetsAreFabrics) {
  for (const ClothPreset& preset : cloth_presets()) {
    const step::Model model = model_of(square + "material = \"" + std::string(preset.name) + "\"\n");
    const matter::ClothMaterial& material = cloth(model).material;
    EXPECT_DOUBLE_EQ(material.area_density, preset.weight);
    EXPECT_DOUBLE_EQ(material.bending.warp, preset.bend_warp);
    // Pulled along the warp, the weft free: C₁₁ − C₁₂²/C₂₂.
    EXPECT_NEAR(material.membrane.warp - std::pow(material.membrane.coupling, 2) / material.membrane.weft, preset.warp,
                1e-9 * preset.warp);
    EXPECT_GT(material.membrane.warp * material.membrane.weft, std::pow(material.membrane.coupling, 2));
  }
}

TEST(ClothScene, KeysReachTheBody) {
  const step::Model model = model_of(square + R"(
transform = { scale = 2, rotate = { axis = [1, 0, 0], angle = "90 deg" }, translate = [0, 1, 0] }
material = { model = "stvk", weight = "100 g/m^2", warp = "2 kN/m", shear = "50 N/m", bend_warp = "8e-6 N*m", grain = "45 deg", stretch_limit = 0.1, bending = "dihedral" }
air = { drag = 2, wind = [1, 2, 3] }
damping = { mass = 0.5, stiffness = 0.001 }
velocity = [0, 0, 1]
[[body.handle]]
where = { side = "x-min", width = 0.001 }
pin = true
[[obstacle]]
name = "floor"
shape = { half_space = { point = [0, -3, 0], normal = [0, 1, 0] } }
)");
  const matter::ClothBody& body = cloth(model);
  EXPECT_EQ(body.material.membrane.model, material::MembraneModel::StVenantKirchhoff);
  EXPECT_DOUBLE_EQ(body.material.area_density, 0.1);
  EXPECT_DOUBLE_EQ(body.material.membrane.warp, body.material.membrane.weft);
  EXPECT_DOUBLE_EQ(body.material.bending.weft, 8e-6);
  EXPECT_EQ(body.material.bending.model, matter::BendingModel::Dihedral);
  EXPECT_NEAR(body.material.grain, 0.25 * 3.14159265358979, 1e-12);
  EXPECT_DOUBLE_EQ(body.material.membrane.largest_stretch, 1.1);
  EXPECT_EQ(body.air.wind, Vec3(1, 2, 3));
  EXPECT_DOUBLE_EQ(body.mass_damping, 0.5);
  EXPECT_DOUBLE_EQ(body.stiffness_damping, 0.001);
  EXPECT_EQ(body.initial_velocities.size(), body.sheet.vertices.size());
  EXPECT_EQ(body.handles.size(), 1U);
  const geometry::Bounds box = geometry::bounds(body.sheet.vertices);
  EXPECT_NEAR(box.extent()[0], 2, 1e-12);
  EXPECT_NEAR(box.extent()[2], 1, 1e-12);
  EXPECT_NEAR(box.max[1], 1, 1e-12);
  EXPECT_EQ(model.obstacles.size(), 1U);
}

TEST(ClothScene, WhatMakesNoSenseIsRefused) {
  refused("[[body]]\nkind = \"cloth\"\nshape = { box = { size = [1, 1, 1] } }\n", "box");
  refused(square + "material = { weight = 0.1 }\n", "needs a preset");
  refused(square + "material = \"steel\"\n", "steel");
  refused(square + "air = { wind = [1, 0, 0] }\n", "drag");
  refused(square + "uv_unit = 1\n", "only with a mesh");
  refused(square + "self_contact = true\n", "self_contact");
  refused("[[body]]\nkind = \"cloth\"\nshape = { rectangle = { size = [1, 0] } }\n", "greater than 0");
  refused("[[body]]\nkind = \"cloth\"\nshape = { disc = { radius = 0.1 } }\nedge = 1\n", "longer than the cloth");
  refused("[[body]]\nkind = \"cloth\"\nshape = { disc = { radius = 100 } }\nedge = \"0.1 mm\"\n", "too many");
}

TEST(ClothScene, MeetsItselfAndOthersByBarriersOnly) {
  const std::string other = "[[body]]\nname = \"other\"\nkind = \"cloth\"\nshape = { disc = { radius = 0.2, center = [0, 0, 1] } }\nedge = 0.05\n";
  EXPECT_FALSE(cloth(model_of(square + other)).contact_body().mesh);
  const step::Model model = model_of(square + "self_contact = true\nthickness = \"1 mm\"\n" + other + "[contact]\nmodel = \"barrier\"\n");
  const matter::SelfContactBody body = cloth(model).contact_body();
  ASSERT_TRUE(body.mesh);
  EXPECT_EQ(body.mesh->triangles.size(), cloth(model).sheet.triangles.size());
  EXPECT_TRUE(body.with_itself);
  EXPECT_DOUBLE_EQ(body.thickness, 1e-3);
}

class ObjFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_.string();
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / fmt::format("lope_cloth_{:08x}.obj", std::random_device()());
};

TEST_F(ObjFile, TextureCoordinatesAreTheFlatShape) {
  // A folded square of two triangles; mirrored texture coordinates, half as large.
  const std::string two = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\nvt 0 0\nvt 0 0.5\nvt 0.5 0.5\nvt 0.5 0\nvt 9 9\n"
                          "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n";
  const auto sheet = io::read_sheet(write(two), 2.0);
  ASSERT_TRUE(sheet) << sheet.error().message;
  EXPECT_TRUE(geometry::check_sheet(*sheet));
  EXPECT_EQ(sheet->flat.size(), 4U);
  EXPECT_NEAR((sheet->flat[1] - sheet->flat[0]).norm(), 1, 1e-12);
  // As large as in space.
  const auto scaled = io::read_sheet(write(two));
  ASSERT_TRUE(scaled);
  const double area = 0.5 + 0.5 * std::sqrt(3.0);
  double flat = 0;
  for (const auto& t : scaled->flat_triangles)
    flat += 0.5 * geometry::twice_area(scaled->flat[static_cast<std::size_t>(t[0])], scaled->flat[static_cast<std::size_t>(t[1])],
                                       scaled->flat[static_cast<std::size_t>(t[2])]);
  EXPECT_NEAR(flat, area, 1e-12);
  // In a scene.
  const step::Model model = model_of("[[body]]\nkind = \"cloth\"\nshape = { mesh = \"" + path_.string() + "\" }\n");
  EXPECT_EQ(cloth(model).sheet.triangles.size(), 2U);
}

TEST_F(ObjFile, FlatSheetsNeedNoTextureCoordinates) {
  const auto flat = io::read_sheet(write("v 0 1 0\nv 2 1 0\nv 2 1 3\nf 1 2 3\n"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(geometry::check_sheet(*flat));
  EXPECT_NEAR(geometry::twice_area(flat->flat[0], flat->flat[1], flat->flat[2]), 6, 1e-12);
  const auto bent = io::read_sheet(write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\nf 1 2 3\nf 1 3 4\n"));
  ASSERT_FALSE(bent);
  EXPECT_NE(bent.error().message.find("unwrap"), std::string::npos);
}

TEST_F(ObjFile, BadOnesAreNamed) {
  const auto message = [&](const std::string& text) {
    const auto read = io::read_sheet(write(text));
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(message("v 0 0 0\nf 1 2 3\n").find("which is not there"), std::string::npos);
  EXPECT_NE(message("v 0 0 0\nv 1 0 0\nf 1 2\n").find("fewer than 3"), std::string::npos);
  EXPECT_NE(message("v 0 0 0\n").find("no faces"), std::string::npos);
  EXPECT_NE(message("v 0 0 zero\n").find("z coordinate"), std::string::npos);
  // Flipped against its neighbour.
  refused("[[body]]\nname = \"shirt\"\nkind = \"cloth\"\nshape = { mesh = \"" +
              write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 2 0\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n") + "\" }\n",
          "flipped");
}

TEST(ClothScene, CheckCountsIt) {
  const auto scene = load_scene_text(square, "scene.toml");
  ASSERT_TRUE(scene) << scene.error().message;
  const CheckReport report = check(*scene, build_model(*scene).value());
  ASSERT_EQ(report.bodies.size(), 1U);
  EXPECT_NE(report.bodies[0].about.find("0.075 kg"), std::string::npos) << report.bodies[0].about;
}

}  // namespace
}  // namespace lope::scene
