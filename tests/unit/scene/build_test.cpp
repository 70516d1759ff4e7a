#include <lope/scene/body_mesh.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <support/kinds.h>

namespace lope::scene {
namespace {

// A bar of 9 × 3 × 3 nodes, spacing 0.125.
const std::string bar =
    "[[body]]\n"
    "name = \"bar\"\n"
    "shape = { box = { min = [0, 0, 0], max = [1, 0.25, 0.25], lattice = [9, 3, 3] } }\n";

Expected<step::Model> built(const std::string& text) {
  const auto scene = load_scene_text(text, "test.toml");
  if (!scene) return forward_error(scene);
  return build_model(*scene);
}

matter::SolidBody first_body(const std::string& text) {
  const auto model = built(text);
  EXPECT_TRUE(model) << model.error().message;
  return model ? kinds::solid(*model) : matter::SolidBody();
}

std::string failure(const std::string& text) {
  const auto model = built(text);
  return model ? "accepted" : model.error().message;
}

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

TEST(Build, MakesTheModel) {
  const auto model = built("gravity = [1, 2, 3]\n[time]\nstep = \"10 ms\"\nscheme = \"bdf-2\"\n" + bar +
                           "material = { model = \"arap\", young = 1e6, poisson = 0.25, density = 500 }\n"
                           "damping = { mass = 0.5, stiffness = \"1 ms\" }\n");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->gravity, Vec3(1, 2, 3));
  EXPECT_EQ(model->step, 0.01);
  EXPECT_EQ(model->scheme, step::Scheme::Bdf2);
  const matter::SolidBody& body = kinds::solid(*model);
  EXPECT_EQ(body.mesh.vertices.size(), 81u);
  EXPECT_EQ(body.materials.at(0).density, material::Density::Arap);
  EXPECT_DOUBLE_EQ(body.materials.at(0).mu, 4e5);
  EXPECT_DOUBLE_EQ(body.materials.at(0).lambda, 4e5);
  EXPECT_EQ(body.density_of_material.at(0), 500);
  EXPECT_EQ(body.mass_damping, 0.5);
  EXPECT_EQ(body.stiffness_damping, 1e-3);
  EXPECT_TRUE(body.initial_positions.empty() && body.initial_velocities.empty());
}

TEST(Build, SetsTheStoppingTest) {
  using optimize::StoppingTest;
  const auto stopping = [](const std::string& solver) {
    const auto model = built("[solver]\n" + solver + bar);
    EXPECT_TRUE(model) << model.error().message;
    return model->solver.stopping;
  };
  EXPECT_EQ(stopping("").test, StoppingTest::Displacement);
  EXPECT_DOUBLE_EQ(stopping("").tolerance, 1e-4);  // of an extent of 1
  EXPECT_DOUBLE_EQ(stopping("accuracy = \"1 mm\"\n").tolerance, 1e-3);
  EXPECT_EQ(stopping("tolerance = \"characteristic\"\n").test, StoppingTest::CharacteristicGlobal);
  EXPECT_EQ(stopping("tolerance = \"characteristic\"\n").tolerance, 1e-5);
  EXPECT_EQ(stopping("tolerance = \"gradient\"\nepsilon = 2\n").test, StoppingTest::GradientNorm);
  EXPECT_EQ(stopping("tolerance = \"gradient\"\nepsilon = 2\n").tolerance, 2);
}

TEST(Build, TransformsInOrder) {
  const matter::SolidBody body = first_body(
      "[[body]]\nshape = { box = { size = [4, 1, 2], lattice = [3, 3, 3] } }\n"
      "transform = { fit = 1.0, scale = 2, rotate = { axis = [0, 0, 1], angle = \"90 deg\" }, translate = "
      "[5, 0, 0] }\n");
  const geometry::Bounds box = geometry::bounds(body.mesh.vertices);
  EXPECT_TRUE(box.min.isApprox(Vec3(4.5, 0, 0), 1e-12) || (box.min - Vec3(4.5, 0, 0)).norm() < 1e-12);
  EXPECT_LT((box.max - Vec3(5, 2, 1)).norm(), 1e-12);
}

TEST(Build, EdgeIsMeantAfterTheTransform) {
  const matter::SolidBody body = first_body(
      "[[body]]\nshape = { box = { size = [4, 4, 4] } }\nedge = 0.25\ntransform = { fit = 1.0 }\n");
  EXPECT_EQ(body.mesh.vertices.size(), 125u);
}

TEST(Build, EveryVertexIsUsedAndEveryElementPositive) {
  for (const char* shape :
       {"sphere = { radius = 0.5 }", "rectangle = { size = [1, 2] }", "disc = { radius = 1 }",
        "polygon = { points = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]] }"}) {
    const matter::SolidBody body = first_body(fmt::format("[[body]]\nedge = 0.3\nshape = {{ {} }}\n", shape));
    ASSERT_GT(element_count(body.mesh), 0u) << shape;
    std::set<int> used;
    for (std::size_t e = 0; e < element_count(body.mesh); ++e) {
      EXPECT_GT(element_measure(body.mesh, e), 0) << shape;
      if (body.dimension == 3) {
        used.insert(body.mesh.tetrahedra[e].begin(), body.mesh.tetrahedra[e].end());
      } else {
        used.insert(body.mesh.triangles[e].begin(), body.mesh.triangles[e].end());
      }
    }
    EXPECT_EQ(used.size(), body.mesh.vertices.size()) << shape;
  }
}

// Vertices of the first handle for a given `where`.
std::vector<int> chosen(const std::string& where) {
  const matter::SolidBody body = first_body(bar + "[[body.handle]]\nwhere = " + where + "\npin = true\n");
  return body.handles.empty() ? std::vector<int>() : body.handles[0].vertices;
}

TEST(Where, ChoosesByGeometry) {
  EXPECT_EQ(chosen("{ all = true }").size(), 81u);
  EXPECT_EQ(chosen("{ side = \"x-min\" }").size(), 9u);
  EXPECT_EQ(chosen("{ side = \"x-max\", width = 0 }").size(), 9u);
  EXPECT_EQ(chosen("{ side = \"x-max\", width = \"12.5 cm\" }").size(), 18u);
  EXPECT_EQ(chosen("{ side = \"y-min\", fraction = 0.5 }").size(), 54u);
  EXPECT_EQ(chosen("{ box = { min = [0, 0, 0], max = [0.125, 0, 0.25] } }").size(), 6u);
  EXPECT_EQ(chosen("{ sphere = { center = [0, 0, 0], radius = 0.125 } }").size(), 4u);
  EXPECT_EQ(chosen("{ plane = { point = [0.875, 0, 0], normal = [2, 0, 0] } }").size(), 18u);
  EXPECT_EQ(chosen("{ vertices = [3, 1, 3] }"), (std::vector<int>{1, 3}));
  EXPECT_EQ(chosen("{ nearest = [-1, 0, 0] }").size(), 1u);
}

TEST(Where, RegionsHaveNamesAndMaterials) {
  const matter::SolidBody body =
      first_body(bar +
                 "[[body.region]]\nname = \"end\"\nwhere = { side = \"x-max\", width = 0.25 }\n"
                 "material = { young = 1e8 }\n"
                 "[[body.handle]]\nwhere = \"end\"\npin = true\n");
  ASSERT_EQ(body.materials.size(), 2u);
  EXPECT_GT(body.materials[1].mu, 100 * body.materials[0].mu);
  const auto stiff = std::count(body.material_of_element.begin(), body.material_of_element.end(), 1);
  EXPECT_EQ(4 * stiff, static_cast<std::ptrdiff_t>(body.material_of_element.size()));
  EXPECT_EQ(body.handles.at(0).vertices.size(), 27u);
}

TEST(Where, NothingChosenIsAnErrorWithTheLine) {
  const std::string message =
      failure(bar + "[[body.handle]]\nwhere = { sphere = { center = [9, 9, 9], radius = 1 } }\npin = true\n");
  EXPECT_TRUE(message.starts_with("test.toml:5:9: ")) << message;
  EXPECT_TRUE(has(message, "chooses no vertex") && has(message, "[1, 0.25, 0.25]")) << message;
}

TEST(Where, NumbersAndTagsMustExist) {
  EXPECT_TRUE(failure(bar + "[[body.handle]]\nwhere = { vertices = [81] }\npin = true\n")
                  .starts_with("test.toml:5:9"));
  EXPECT_TRUE(has(failure(bar + "[[body.handle]]\nwhere = { tag = 7 }\npin = true\n"), "no region numbers"));
}

const std::string left = "[[body.handle]]\nname = \"left\"\nwhere = { side = \"x-min\" }\n";

TEST(Handles, TwoCannotClaimAVertexAtOnce) {
  const std::string all = "[[body.handle]]\nwhere = { all = true }\npin = true\n";
  const std::string message = failure(bar + left + "pin = true\n" + all);
  EXPECT_TRUE(message.starts_with("test.toml:8:1: ")) << message;
  EXPECT_TRUE(has(message, "claims 9 vertices") && has(message, "test.toml:4:1")) << message;
  EXPECT_NE(failure(bar + left + "pin = true\nrelease = 1\n" + all), "accepted");
  EXPECT_EQ(failure(bar + left + "pin = true\nrelease = 1\n" + all + "begin = 1\n"), "accepted");
}

TEST(Handles, ReleaseSetsTheEnd) {
  const matter::SolidBody body = first_body(bar + left + "pin = true\nrelease = \"500 ms\"\n");
  EXPECT_EQ(body.handles.at(0).end, 0.5);
}

TEST(Initial, VelocitiesTurnAboutTheCenterOfMass) {
  const matter::SolidBody body =
      first_body(bar + "velocity = [1, 0, 0]\nangular_velocity = [0, 0, \"2 rad/s\"]\n");
  ASSERT_EQ(body.initial_velocities.size(), body.mesh.vertices.size());
  const Vec3 center(0.5, 0.125, 0.125);
  for (std::size_t i = 0; i < body.mesh.vertices.size(); ++i) {
    const Vec3 arm = body.mesh.vertices[i] - center;
    EXPECT_LT((body.initial_velocities[i] - Vec3(1 - 2 * arm.y(), 2 * arm.x(), 0)).norm(), 1e-12);
  }
}

TEST(Initial, RandomPositionsFillTheBoxAndDependOnTheSeed) {
  const auto start = [](const std::string& initial) {
    return first_body(bar + "initial = " + initial + "\n").initial_positions;
  };
  const auto one = start("\"random\""), same = start("{ state = \"random\", seed = 1 }");
  EXPECT_EQ(one, same);
  EXPECT_NE(one, start("{ state = \"random\", seed = 2 }"));
  const geometry::Bounds box = geometry::bounds(one);
  EXPECT_TRUE(box.min.minCoeff() >= 0 && box.max.x() <= 1 && box.max.y() <= 0.25);
  EXPECT_GT(box.extent().x(), 0.8);
  const geometry::Bounds cube = geometry::bounds(start("{ state = \"random\", extent = 2 }"));
  EXPECT_GT(cube.extent().minCoeff(), 1.5);
}

TEST(Initial, PointPutsAllVerticesInTheCenterButNotWhatIsHeld) {
  const matter::SolidBody body = first_body(bar + "initial = \"point\"\n" + left + "pin = true\n");
  const auto& held = body.handles.at(0).vertices;
  for (std::size_t i = 0; i < body.initial_positions.size(); ++i) {
    const bool fixed = std::binary_search(held.begin(), held.end(), static_cast<int>(i));
    EXPECT_EQ(body.initial_positions[i], fixed ? body.mesh.vertices[i] : Vec3(0.5, 0.125, 0.125));
  }
}

// Mesh files
// -----------------------------------------------------------------------------------------------------

class MeshFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / fmt::format("lope_scene_{}_{:08x}.mesh", test->name(), std::random_device()());
  }
  void TearDown() override { std::filesystem::remove(path_); }
  // Two tetrahedra on a triangle, the second with the given corners (from 1).
  std::string scene(const std::string& second, const std::string& extra = "") {
    std::ofstream(path_)
        << "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
           "0 0 -1 0\nTetrahedra\n2\n1 2 3 4 1\n" +
               second + " 2\nEnd\n";
    return fmt::format("[[body]]\nshape = {{ mesh = \"{}\" }}\n", path_.string()) + extra;
  }
  std::filesystem::path path_;
};

TEST_F(MeshFile, IsTakenAsItIs) {
  const matter::SolidBody body =
      first_body(scene("1 3 2 5", "[[body.handle]]\nwhere = { tag = 2 }\npin = true\n"));
  EXPECT_EQ(body.mesh.vertices.size(), 5u);
  EXPECT_EQ(body.mesh.tetrahedra.size(), 2u);
  EXPECT_EQ(body.handles.at(0).vertices, (std::vector<int>{0, 1, 2, 4}));
}

TEST_F(MeshFile, InvertedElementsAreNamed) {
  const std::string message = failure(scene("1 2 3 5"));
  EXPECT_TRUE(message.starts_with("test.toml:2:")) << message;
  EXPECT_TRUE(has(message, path_.string()) && has(message, "tetrahedron 1") && has(message, "is inverted"))
      << message;
}

TEST_F(MeshFile, FlatElementsAreNamed) {
  const std::string message = failure(scene("1 2 3 3"));
  EXPECT_TRUE(has(message, "test.toml:2:") && has(message, path_.string())) << message;
  EXPECT_NE(message, "accepted");
}

TEST_F(MeshFile, MissingFilesAreNamed) {
  const std::string message = failure("[[body]]\nshape = { mesh = \"no_such.msh\" }\n");
  EXPECT_TRUE(message.starts_with("test.toml:2:18: body 'body0'")) << message;
  EXPECT_TRUE(has(message, "no_such.msh")) << message;
}

TEST_F(MeshFile, AFlatBodyNeedsTriangles) {
  EXPECT_TRUE(has(failure(scene("1 3 2 5", "dimension = 2\n")), "triangles only"));
}

TEST(Build, TheResolvedSceneBuildsTheSameModel) {
  const auto scene = load_scene_text(bar + left + "rotate = { rate = \"1 turn/s\" }\n", "test.toml");
  ASSERT_TRUE(scene);
  const auto again = load_scene_text(resolved_toml(*scene), "other.toml");
  ASSERT_TRUE(again) << again.error().message;
  const auto one = build_model(*scene), two = build_model(*again);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(kinds::solid(*one).mesh.vertices, kinds::solid(*two).mesh.vertices);
  EXPECT_EQ(kinds::solid(*one).handles[0].vertices, kinds::solid(*two).handles[0].vertices);
  EXPECT_EQ(kinds::solid(*one).handles[0].motion.angle.values, kinds::solid(*two).handles[0].motion.angle.values);
}

}  // namespace
}  // namespace lope::scene
