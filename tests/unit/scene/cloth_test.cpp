// Cloth in the scene file: shapes, fabrics, mesh files with texture coordinates, what is refused and what is said.
#include <lope/base/log.h>
#include <lope/io/sheet_io.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/scene/check.h>
#include <lope/scene/kinds/cloth_presets.h>
#include <lope/scene/obstacles.h>
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

TEST(ClothScene, TubesAndFunnels) {
  const auto of_shape = [](const std::string& shape) {
    return "[[body]]\nkind = \"cloth\"\nshape = { " + shape + " }\nedge = 0.02\n";
  };
  const step::Model tube = model_of(of_shape("tube = { radius = 0.2, length = 0.5, center = [1, 2, 3] }"));
  const geometry::Bounds box = geometry::bounds(cloth(tube).sheet.vertices);
  EXPECT_LT((box.center() - Vec3(1, 2, 3)).norm(), 1e-3);
  EXPECT_NEAR(box.extent()[1], 0.5, 1e-12);
  const step::Model funnel =
      model_of(of_shape("funnel = { bottom_radius = 0.3, top_radius = 0.1, length = 0.4 }"));
  EXPECT_EQ(geometry::sheet_pieces(cloth(funnel).sheet), 1);
  refused(of_shape("tube = { radius = 0.2 }"), "length");
  refused(of_shape("funnel = { bottom_radius = 0, top_radius = 0.1, length = 1 }"), "bottom_radius");
}

const std::string skirt = R"([[body]]
name = "skirt"
kind = "cloth"
edge = "5 cm"
[[body.panel]]
name = "front"
shape = { polygon = { points = [[-0.3, 0], [0.3, 0], [0.2, 0.5], [-0.2, 0.5]] } }
edge = [{ name = "right", from = 1, to = 2 }, { name = "left", from = 3, to = 0 }]
transform = { translate = [0, 0, 0.1] }
[[body.panel]]
name = "back"
shape = { rectangle = { size = [0.5, 0.52] } }
transform = { rotate = { angle = "180 deg" }, translate = [0, 0.25, -0.1] }
[[body.seam]]
first = "front.left"
second = "back.right"
[[body.seam]]
first = "front.right"
second = "back.left"
)";

std::string with(std::string text, const std::string& old, const std::string& other) {
  return text.replace(text.find(old), old.size(), other);
}

TEST(ClothScene, PanelsAreSewn) {
  const step::Model model = model_of(skirt);
  const matter::ClothBody& body = cloth(model);
  EXPECT_DOUBLE_EQ(body.sewing, 0.5);
  EXPECT_EQ(geometry::sheet_pieces(body.sheet), 1);
  EXPECT_GT(body.sheet.flat.size(), body.sheet.vertices.size());
  EXPECT_DOUBLE_EQ(cloth(model_of(with(skirt, "edge = \"5 cm\"", "edge = 0.05\nsewing = \"2 s\""))).sewing,
                   2);
}

TEST(ClothScene, BadPanelsAreNamed) {
  refused(with(skirt, "0.52", "0.8"),
          "the seam of front.left and back.right: its sides are 0.5099 m and 0.8 m long");
  refused(with(skirt, "\"back.right\"", "\"back.top right\""),
          "has no edge 'top right'; it has: bottom, right, top, left");
  refused(with(skirt, "\"back.right\"", "\"back\""), "PANEL.EDGE");
  refused(with(skirt, "name = \"back\"", "name = \"front\""), "another panel");
  refused(with(skirt, "name = \"back\"", "name = \"b.ack\""), "no dot");
  refused(with(skirt, "[0.5, 0.52]", "[0.5, 0]"), "greater than 0");
  refused(with(skirt, "edge = \"5 cm\"", "shape = { disc = { radius = 1 } }"), "shape and panels");
  refused("[[body]]\nkind = \"cloth\"\n", "needs a shape or panels");
  refused(square + "sewing = 1\n", "only with panels");
  refused(with(skirt, "edge = \"5 cm\"", "edge = 2"), "longer than the cloth");
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

// What is drawn is what is met.
TEST(ClothScene, BarriersMayBeAroundFormulas) {
  const step::Model model = model_of(square + R"(
[[obstacle]]
shape = { sphere = { radius = 0.2, center = [1, 0, 0] } }
transform = { rotate = { axis = [0, 0, 1], angle = "90 deg" }, translate = [0, 0, -0.5] }
contact = "barrier"
)");
  const step::Obstacle& ball = model.obstacles.at(0);
  ASSERT_EQ(ball.contact, step::ContactKind::Barrier);
  ASSERT_TRUE(ball.surface);
  EXPECT_GT(ball.surface->triangles.size(), 500U);
  for (const Vec3& p : ball.surface->vertices) EXPECT_NEAR((p - Vec3(0, 1, -0.5)).norm(), 0.2, 1e-9);
  EXPECT_EQ(obstacle_surface(ball, {}).vertices, ball.surface->vertices);
  EXPECT_FALSE(cloth(model).surface.triangles.empty());
  const auto with_shape = [](const std::string& shape) { return square + "[[obstacle]]\nshape = { " + shape + " }\ncontact = \"barrier\"\n"; };
  refused(with_shape("half_space = {}"), "a half_space has none where it does not end; say \"constraint\"");
  refused(with_shape("union = [{ sphere = { radius = 1 } }, { half_space = {} }]"), "a union has none");
  refused(with_shape("vdb = \"cloud.vdb\""), "a vdb has none; say \"penalty\"");
}

std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

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
  // Two triangles that are bent unfold without stretch, and the log says so.
  std::string said;
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  const auto bent = io::read_sheet(write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\nf 1 2 3\nf 1 3 4\n"));
  set_log_sink({});
  ASSERT_TRUE(bent) << bent.error().message;
  EXPECT_TRUE(geometry::check_sheet(*bent));
  EXPECT_NEAR(
      (bent->flat[index_of(bent->flat_triangles[1][2])] - bent->flat[index_of(bent->flat_triangles[1][0])])
          .norm(),
      std::sqrt(2.0), 1e-3);
  EXPECT_NE(said.find("flattened (patches: 1, cuts: 0)"), std::string::npos) << said;
  const auto closed =
      io::read_sheet(write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"));
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("the piece of vertex 0 is closed"), std::string::npos)
      << closed.error().message;
}

// A patch of a file, whose upper side has two edges, and a rectangle above it, which gets three vertices there.
TEST_F(ObjFile, PanelsMayBeFiles) {
  const std::string file =
      write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\n");
  const auto scene = [&](int from, int to) {
    return fmt::format(R"([[body]]
kind = "cloth"
edge = 0.2
[[body.panel]]
name = "file"
shape = {{ mesh = "{}" }}
edge = [{{ name = "top", from = {}, to = {} }}]
[[body.panel]]
name = "above"
shape = {{ rectangle = {{ size = [1, 0.5] }} }}
transform = {{ translate = [0.5, 1.25, 0] }}
[[body.seam]]
first = "file.top"
second = "above.bottom"
)",
                       file, from, to);
  };
  const step::Model model = model_of(scene(2, 4));
  EXPECT_EQ(geometry::sheet_pieces(cloth(model).sheet), 1);
  EXPECT_EQ(cloth(model).sheet.flat.size(), cloth(model).sheet.vertices.size() + 3);
  refused(scene(2, 9), "the panel has 5 vertices, counted from 0");
  refused(scene(2, 2), "ends where it begins");
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
