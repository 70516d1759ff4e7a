#include <lope/io/mesh_io.h>
#include <lope/io/series.h>
#include <lope/io/usd.h>

#include <cstring>

#include <unit/io/samples.h>

namespace lope::io {
namespace {

SeriesBody body_of(const std::string& name, const geometry::Mesh& mesh) {
  SeriesBody body{name, mesh.vertices, mesh.triangles, mesh.tetrahedra, {}, {}};
  Field height{"height", 1, {}}, position{"position", 3, {}}, number{"number", 1, {}};
  for (const Vec3& v : mesh.vertices) {
    height.values.push_back(v[2]);
    for (int k = 0; k < 3; ++k) position.values.push_back(v[k]);
  }
  const std::size_t cells = mesh.tetrahedra.empty() ? mesh.triangles.size() : mesh.tetrahedra.size();
  for (std::size_t i = 0; i < cells; ++i) number.values.push_back(static_cast<double>(i));
  body.point_fields = {height, position};
  body.cell_fields = {number};
  return body;
}

TEST(Series, VtuFilesHoldTheBodiesAndTheIndexNamesThem) {
  const TemporaryFolder folder;
  const geometry::Mesh solid = cube_mesh(2), shell = cube_surface(1);
  VtuSeries series(folder / "out", "run", Precision::Double);
  for (int frame = 0; frame < 2; ++frame) {
    const std::vector<SeriesBody> bodies = {body_of("bar", solid), body_of("a <b>", shell)};
    ASSERT_TRUE(series.add_frame(frame, 0.025 * frame, bodies));
  }
  expect_equal(*read_mesh(folder / "out/run_000001_0_bar.vtu"), solid);
  expect_equal(*read_mesh(folder / "out/run_000001_1_a__b_.vtu"), shell);
  const std::string index = *read_file(folder / "out/run.pvd");
  EXPECT_NE(
      index.find(
          "<DataSet timestep=\"0.025\" group=\"a &lt;b&gt;\" part=\"1\" name=\"a &lt;b&gt;\" file=\"run_000001_1_a__b_.vtu\"/>"),
      std::string::npos)
      << index;
  EXPECT_NE(index.find("file=\"run_000000_0_bar.vtu\""), std::string::npos);
}

// A vector has three components, a symmetric tensor six: ParaView tells them by that.
TEST(Series, VtuFilesHoldVectorsAndTensors) {
  const TemporaryFolder folder;
  const geometry::Mesh solid = cube_mesh(1);
  SeriesBody body = body_of("bar", solid);
  body.cell_fields.push_back({"stress", 6, std::vector<double>(6 * solid.tetrahedra.size(), 1.0)});
  ASSERT_TRUE(VtuSeries(folder.path(), "run").add_frame(0, 0, std::vector<SeriesBody>{body}));
  const std::string file = *read_file(folder / "run_000000_0_bar.vtu");
  const std::size_t points = file.find("<PointData>"), cells = file.find("<CellData>"), end = file.find("<Points>");
  const std::size_t vector = file.find("Name=\"position\" NumberOfComponents=\"3\""),
                    tensor = file.find("Name=\"stress\" NumberOfComponents=\"6\"");
  EXPECT_TRUE(points < vector && vector < cells) << file.substr(0, end);
  EXPECT_TRUE(cells < tensor && tensor < end) << file.substr(0, end);
  body.cell_fields.back().values.pop_back();
  EXPECT_FALSE(VtuSeries(folder.path(), "run").add_frame(0, 0, std::vector<SeriesBody>{body}));
}

TEST(Series, PlyFilesHoldVectorsByTheirComponents) {
  const TemporaryFolder folder;
  const geometry::Mesh solid = cube_mesh(1);
  ASSERT_TRUE(write_ply_frame(folder.path(), "s", 0, std::vector<SeriesBody>{body_of("a", solid)}));
  const std::string file = *read_file(folder / "s_a_000000.ply");
  EXPECT_NE(file.find("property float height\nproperty float position_x\nproperty float position_y\n"
                      "property float position_z\nelement face"),
            std::string::npos);
  constexpr std::size_t columns = 7;
  const std::size_t data = file.find("end_header\n") + 11;
  for (std::size_t i = 0; i < solid.vertices.size(); ++i) {
    float row[columns];
    std::memcpy(row, file.data() + data + i * sizeof row, sizeof row);
    EXPECT_EQ(row[3], row[2]);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(row[4 + k], row[k]);
  }
}

TEST(Series, SurfacesUseOnlyTheirVertices) {
  const TemporaryFolder folder;
  const geometry::Mesh solid = cube_mesh(2);
  const std::vector<SeriesBody> bodies = {body_of("a", solid), body_of("b", solid)};
  ASSERT_TRUE(write_obj_frame(folder.path(), "s", 7, bodies));
  ASSERT_TRUE(write_ply_frame(folder.path(), "s", 7, bodies));
  const auto surface = geometry::boundary_triangles(solid.tetrahedra);
  for (const auto& [file, copies] : {std::pair{"s_000007.obj", 2U}, {"s_a_000007.ply", 1U}, {"s_b_000007.ply", 1U}}) {
    const auto mesh = read_mesh(folder / file);
    ASSERT_TRUE(mesh) << mesh.error().message;
    EXPECT_EQ(mesh->vertices.size(), copies * 26U);
    ASSERT_EQ(mesh->triangles.size(), copies * surface.size());
    for (std::size_t t = 0; t < mesh->triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k) {
        const Vec3& expected = solid.vertices[surface[t % surface.size()][k]];
        EXPECT_LT((mesh->vertices[mesh->triangles[t][k]] - expected).norm(), 1e-6);
      }
    }
  }
}

TEST(Series, BodiesWithoutASurfaceAreTheirPoints) {
  const TemporaryFolder folder;
  const std::vector<Vec3> points{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 2, 0)};
  SeriesBody body;
  body.name = "dust";
  body.positions = points;
  body.point_fields = {{"heat", 1, {1, 2, 3}}};
  const geometry::Mesh solid = cube_mesh(1);
  const std::vector<SeriesBody> bodies{body_of("a", solid), body};
  ASSERT_TRUE(write_obj_frame(folder.path(), "s", 0, bodies));
  const std::string obj = *read_file(folder / "s_000000.obj");
  EXPECT_NE(obj.find("o dust\nv 0 0 0\nv 1 0 0\nv 1 2 0\np 9\np 10\np 11\n"), std::string::npos) << obj;
  ASSERT_TRUE(write_ply_frame(folder.path(), "s", 0, bodies));
  const std::string ply = *read_file(folder / "s_dust_000000.ply");
  EXPECT_NE(ply.find("element vertex 3\n"), std::string::npos);
  EXPECT_NE(ply.find("property float heat\nelement face 0\n"), std::string::npos);
}

// Corners that lie at different places of the texture share the vertex, and no line of the texture is there twice.
TEST(Series, ObjAndUsdHoldTextureCoordinates) {
  const TemporaryFolder folder;
  const std::vector<Vec3> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const std::vector<geometry::Triangle> triangles{{0, 1, 2}, {0, 2, 3}};
  const std::vector<float> texture{0, 0, 1, 0, 1, 1, 0, 0, 5, 5, 0, 1};
  SeriesBody cloth{"cloth", square, triangles, {}, {}, {}};
  cloth.texture = texture;
  const std::vector<SeriesBody> bodies{{"plain", square, triangles, {}, {}, {}}, cloth, cloth};
  EXPECT_EQ(obj_bytes(bodies).substr(obj_bytes(bodies).find("o cloth")),
            "o cloth\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 5 5\nvt 0 1\n"
            "f 5/1 6/2 7/3\nf 5/1 7/4 8/5\n"
            "o cloth\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 5 5\nvt 0 1\n"
            "f 9/6 10/7 11/8\nf 9/6 11/9 12/10\n");
  EXPECT_EQ(folder.file("a.obj", obj_bytes(bodies)).extension(), ".obj");
  EXPECT_EQ(read_mesh(folder / "a.obj")->triangles.size(), 6U);
  UsdStage stage(folder.path(), "run", {});
  for (int frame = 0; frame < 2; ++frame) ASSERT_TRUE(stage.add_frame(frame, 0.1 * frame, std::vector<SeriesBody>{cloth}));
  ASSERT_TRUE(stage.finish());
  const std::string text = *read_file(folder / "run.usda");
  EXPECT_NE(text.find("texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 0), (5, 5), (0, 1)] (\n            interpolation = "
                      "\"faceVarying\"\n        )\n"),
            std::string::npos)
      << text;
}

TEST(Series, RefusesFieldsThatDoNotFit) {
  const TemporaryFolder folder;
  const geometry::Mesh solid = cube_mesh(1);
  SeriesBody body = body_of("a", solid);
  body.cell_fields[0].values.pop_back();
  VtuSeries series(folder.path(), "s");
  const auto added = series.add_frame(0, 0, std::vector<SeriesBody>{body});
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("'number' of body 'a'"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace lope::io
