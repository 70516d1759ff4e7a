#include <lope/base/log.h>
#include <lope/io/codec.h>
#include <lope/io/mesh_io.h>
#include <lope/io/print.h>

#include <unit/io/samples.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using geometry::Mesh;

Mesh read(const fs::path& path) {
  const auto mesh = read_mesh(path);
  EXPECT_TRUE(mesh) << mesh.error().message;
  return mesh.value_or(Mesh());
}

// The message of the error that reading these bytes gives; it begins with the path.
std::string complaint(std::string_view name, std::string_view bytes) {
  const TemporaryFolder folder;
  const fs::path path = folder.file(name, bytes);
  const auto mesh = read_mesh(path);
  if (mesh) return "no error";
  EXPECT_EQ(mesh.error().trouble, Trouble::Input);
  EXPECT_EQ(mesh.error().message.find(path.string() + ":"), 0U) << mesh.error().message;
  return std::string(name) + mesh.error().message.substr(path.string().size());
}

void expect_complaint(std::string_view name, std::string_view bytes, std::string_view place,
                      std::string_view words) {
  const std::string message = complaint(name, bytes);
  EXPECT_EQ(message.find(std::string(name) + std::string(place)), 0U) << message;
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

// Two tetrahedra over the triangle 0 1 2 ("up" is vertex 3, "down" 4), as every volume format of the tests
// has them.
void expect_two_tetrahedra(const Mesh& mesh) {
  ASSERT_EQ(mesh.vertices.size(), 5U);
  EXPECT_EQ(mesh.vertices[1], Vec3(1.5, 0, 0));
  EXPECT_EQ(mesh.vertices[4], Vec3(0, 0, -1));
  ASSERT_EQ(mesh.tetrahedra.size(), 2U);
  EXPECT_EQ(mesh.tetrahedra[0], (geometry::Tetrahedron{0, 1, 2, 3}));
  EXPECT_EQ(mesh.tetrahedra[1], (geometry::Tetrahedron{0, 2, 1, 4}));
}

class Written : public testing::TestWithParam<std::tuple<const char*, Encoding>> {};

TEST_P(Written, SurfaceRoundTripIsExact) {
  const auto [extension, encoding] = GetParam();
  const TemporaryFolder folder;
  Mesh mesh = cube_surface(3);
  if (std::string(extension) == ".stl") return;  // floats, and vertices in another order: see below
  // Every vertex of a surface file should be used: keep the numbering.
  ASSERT_TRUE(write_mesh(mesh, folder / (std::string("x") + extension), encoding));
  expect_equal(read(folder / (std::string("x") + extension)), mesh);
}

TEST_P(Written, SolidRoundTripIsExactOrItsSurface) {
  const auto [extension, encoding] = GetParam();
  const std::string format = extension;
  const TemporaryFolder folder;
  Mesh mesh = cube_mesh(3);
  mesh.vertices[5] = Vec3(4.9e-324, -1.7976931348623157e308, 1.0 / 3);
  for (std::size_t i = 0; i < mesh.tetrahedra.size(); ++i)
    mesh.region.push_back(static_cast<int>(i / 7 % 3) - 1);
  ASSERT_TRUE(write_mesh(mesh, folder / ("x" + format), encoding));
  if (format == ".msh" || format == ".vtu" || format == ".mesh") {
    expect_equal(read(folder / ("x" + format)), mesh);
    mesh.triangles = geometry::boundary_triangles(mesh.tetrahedra);
    mesh.region.clear();
    ASSERT_TRUE(write_mesh(mesh, folder / ("y" + format), encoding));
    expect_equal(read(folder / ("y" + format)), mesh);
  } else if (format != ".stl") {
    const Mesh surface = read(folder / ("x" + format));
    const auto boundary = geometry::boundary_triangles(mesh.tetrahedra);
    EXPECT_EQ(surface.vertices.size(), 64U - 8U);  // without the vertices inside
    ASSERT_EQ(surface.triangles.size(), boundary.size());
    for (std::size_t t = 0; t < boundary.size(); ++t) {
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(surface.vertices[surface.triangles[t][k]], mesh.vertices[boundary[t][k]]);
      }
    }
  }
}

TEST_P(Written, EveryTruncationIsAnError) {
  const auto [extension, encoding] = GetParam();
  const std::string format = extension;
  if (format == ".obj") return;  // a shorter OBJ file is an OBJ file
  const TemporaryFolder folder;
  ASSERT_TRUE(write_mesh(cube_mesh(1), folder / ("x" + format), encoding));
  std::string bytes = *read_file(folder / ("x" + format));
  while (bytes.back() == '\n') bytes.pop_back();
  // Sections behind the elements (the end of the XML, "End") may be cut without harm to the mesh.
  const Mesh whole = read(folder / ("x" + format));
  const std::size_t step = bytes.size() / 150 + 1;
  for (std::size_t size = 0; size + 1 < bytes.size(); size += step) {
    const auto mesh = read_mesh(folder.file("y" + format, std::string_view(bytes).substr(0, size)));
    if (mesh) {
      EXPECT_GT(size + 60, bytes.size()) << "cut at " << size;
      EXPECT_EQ(mesh->tetrahedra, whole.tetrahedra);
    } else {
      EXPECT_NE(mesh.error().message.find("y" + format), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Written,
                         testing::Combine(testing::Values(".obj", ".ply", ".stl", ".msh", ".vtu", ".mesh"),
                                          testing::Values(Encoding::Binary, Encoding::Text)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)).substr(1) +
                                  (std::get<1>(test.param) == Encoding::Binary ? "_binary" : "_text");
                         });

TEST(Stl, WeldsIdenticalCorners) {
  const TemporaryFolder folder;
  const Mesh mesh = cube_surface(2);
  for (const Encoding encoding : {Encoding::Binary, Encoding::Text}) {
    ASSERT_TRUE(write_mesh(mesh, folder / "x.stl", encoding));
    const Mesh back = read(folder / "x.stl");
    EXPECT_EQ(back.vertices.size(), 26U);  // 27 of the grid without the one inside
    ASSERT_EQ(back.triangles.size(), mesh.triangles.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k) {
        const Vec3 expected = mesh.vertices[mesh.triangles[t][k]].cast<float>().cast<double>();
        const Vec3 found = back.vertices[back.triangles[t][k]].cast<float>().cast<double>();
        EXPECT_EQ(found, expected);
      }
    }
  }
}

TEST(Stl, BinaryThatBeginsWithSolidIsRecognised) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_mesh(cube_surface(1), folder / "x.stl"));
  std::string bytes = *read_file(folder / "x.stl");
  bytes.replace(0, 6, "solid ");
  EXPECT_EQ(read(folder.file("y.stl", bytes)).triangles.size(), 12U);
}

TEST(Stl, NegativeZeroIsZero) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.stl",
                                     "solid a b\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                                     "vertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n"
                                     "vertex -0 0 0\nvertex 0 1 -0.0\nvertex -1 0 0\nendloop\nendfacet\n"
                                     "endsolid a b\n"));
  EXPECT_EQ(mesh.vertices.size(), 4U);
}

TEST(Obj, PolygonsTexturesAndNegativeIndices) {
  const TemporaryFolder folder;
  const Mesh mesh =
      read(folder.file("x.obj",
                       "# a comment\r\nmtllib m.mtl\r\no thing\r\nv 0 0 0 1.0 0.5 0.2\r\nv 1 0 0\r\n"
                       "v 1 1 +0\r\nv 0 1 0 # another\r\nvt 0 0\r\nvn 0 0 1\r\nusemtl m\r\ns off\r\n"
                       "f 1/1/1 2//1 3/1 4\r\nv 0.5 0.5 1e0\r\nf -5 -4 -1\r\nl 1 2\r\n"));
  EXPECT_EQ(mesh.vertices.size(), 5U);
  EXPECT_EQ(mesh.triangles, (std::vector<geometry::Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 4}}));
}

TEST(Obj, FacesMayComeFirst) {
  const TemporaryFolder folder;
  EXPECT_EQ(read(folder.file("x.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0")).triangles.size(), 1U);
}

TEST(Obj, Complaints) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expect_complaint("x.obj", points + "f 1 2 4\n", ":4:", "vertex 4");
  expect_complaint("x.obj", points + "f 1 2 0\n", ":4:", "numbered from 1");
  expect_complaint("x.obj", points + "f 1 2 -4\n", ":4:", "numbered from 1");
  expect_complaint("x.obj", points + "f 1 2 99999999999999999999\n", ":4:", "no vertex");
  expect_complaint("x.obj", points + "f 1 2\n", ":4:", "at least 3");
  expect_complaint("x.obj", points + "f 1 2 x\n", ":4:", "'x'");
  expect_complaint("x.obj", "v 0 nan 0\n", ":1:", "finite");
  expect_complaint("x.obj", "v 0 0 0\nv 0 1e999 0\n", ":2:", "finite");
  expect_complaint("x.obj", "v 0 0 1,5\n", ":1:", "z coordinate");
  expect_complaint("x.obj", points, ":", "no triangles");
  expect_complaint("x.obj", "", ":", "empty");
}

TEST(Ply, AnyLayout) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file(
      "x.ply",
      "ply\nformat ascii 1.0\ncomment made by hand\nelement camera 1\nproperty list uchar float view\n"
      "element vertex 4\nproperty float nx\nproperty float z\nproperty uchar red\nproperty double "
      "y\nproperty int x\n"
      "element face 2\nproperty uchar flag\nproperty list uchar uint vertex_index\nproperty list uchar float "
      "uv\n"
      "end_header\n2 0.5 0.25\n0 3 255 2 1\n0 6 255 5 4\n0 9 255 8 7\n0 12 1 11 10\n9 3 0 1 2 0\n9 4 0 1 2 3 "
      "2 0 1\n"));
  ASSERT_EQ(mesh.vertices.size(), 4U);
  EXPECT_EQ(mesh.vertices[3], Vec3(10, 11, 12));
  EXPECT_EQ(mesh.triangles, (std::vector<geometry::Triangle>{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}}));
}

TEST(Ply, BigEndian) {
  std::string bytes =
      "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short x\nproperty float y\n"
      "property double z\nelement face 1\nproperty list uchar ushort vertex_indices\nend_header\n";
  const auto put_big = [&](auto value) {
    std::string raw;
    put(raw, value);
    bytes.append(raw.rbegin(), raw.rend());
  };
  for (int i = 0; i < 3; ++i) {
    put_big(static_cast<std::int16_t>(-300 * i));
    put_big(0.5F * static_cast<float>(i));
    put_big(0.1 * i);
  }
  put_big(std::uint8_t{3});
  for (const int i : {2, 1, 0}) put_big(static_cast<std::uint16_t>(i));
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.ply", bytes));
  ASSERT_EQ(mesh.vertices.size(), 3U);
  EXPECT_EQ(mesh.vertices[2], Vec3(-600, 1, 0.2));
  EXPECT_EQ(mesh.triangles.at(0), (geometry::Triangle{2, 1, 0}));
}

TEST(Ply, Complaints) {
  const auto with = [](const std::string& counts, const std::string& body) {
    return "ply\nformat ascii 1.0\nelement vertex " + counts +
           "\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
           "property list uchar int vertex_indices\nend_header\n" +
           body;
  };
  expect_complaint("x.ply", with("3", "0 0 0 1 0 0 0 1 0\n3 0 1 3\n"), ":11:", "from 0 to 2");
  expect_complaint("x.ply", with("3", "0 0 0 1 0 0 0 1 0\n3 0 1 -1\n"), ":11:", "from 0 to 2");
  expect_complaint("x.ply", with("3", "0 0 0 1 0 0 0 inf 0\n3 0 1 2\n"), ":10:", "finite");
  expect_complaint("x.ply", with("3", "0 0 0 1 0 0 0 1 0\n2 0 1\n"), ":11:", "at least 3");
  expect_complaint("x.ply", with("-3", ""), ":3:", "negative");
  expect_complaint("x.ply", with("9000000000000000000", "0 0 0"), ":", "cannot hold so many");
  expect_complaint("x.ply", with("3", "0 0 0 1 0 0 0 1 0\n-3 0 1 2\n"), ":11:", "negative");
  expect_complaint("x.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty half x\nend_header\n",
                   ":4:", "half");
  expect_complaint("x.ply", "ply\nformat tar 1.0\nend_header\n", ":2:", "format");
  expect_complaint("x.ply", "plx\n", ":1:", "ply");
  expect_complaint("x.ply", "ply\nproperty float x\n", ":2:", "before the first element");
}

const std::string nodes_22 = "$Nodes\n5\n10 0 0 0\n3 1.5 0 0\n70000 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n";

TEST(Gmsh, Version22TextSparseTags) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file(
      "x.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"up\"\n$EndPhysicalNames\n" +
                   nodes_22 +
                   "$Elements\n4\n1 15 2 0 1 10\n2 2 2 9 1 10 70000 3\n3 4 2 7 1 10 3 70000 4\n"
                   "8 4 3 8 2 0 10 70000 3 5\n$EndElements\n$NodeData\nwhatever\n$EndNodeData\n"));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.triangles, (std::vector<geometry::Triangle>{{0, 2, 1}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{7, 8}));
}

std::string gmsh_22_binary(bool big_endian) {
  std::string bytes = "$MeshFormat\n2.2 1 8\n";
  const auto add = [&](auto value) {
    std::string raw;
    put(raw, value);
    if (big_endian) std::reverse(raw.begin(), raw.end());
    bytes += raw;
  };
  const auto integers = [&](std::initializer_list<int> values) {
    for (const int value : values) add(value);
  };
  integers({1});
  bytes += "\n$EndMeshFormat\n$Nodes\n5\n";
  const double xyz[5][3] = {{0, 0, 0}, {1.5, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 0; i < 5; ++i) {
    add(i + 1);
    for (const double x : xyz[i]) add(x);
  }
  bytes += "\n$EndNodes\n$Elements\n4\n";
  integers({15, 1, 2, 1, 0, 1, 1});                               // a point
  integers({4, 2, 2, 2, 0, 5, 1, 2, 3, 4, 3, 0, 6, 1, 3, 2, 5});  // tetrahedra of two entities, no group
  integers({1, 1, 0, 4, 1, 2});                                   // a line
  bytes += "\n$EndElements\n";
  return bytes;
}

TEST(Gmsh, Version22Binary) {
  const TemporaryFolder folder;
  for (const bool big_endian : {false, true}) {
    const Mesh mesh = read(folder.file("x.msh", gmsh_22_binary(big_endian)));
    expect_two_tetrahedra(mesh);
    EXPECT_EQ(mesh.region, (std::vector<int>{5, 6}));
  }
}

TEST(Gmsh, Version40Text) {
  const TemporaryFolder folder;
  const std::string bytes =
      "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n1 0 1 2\n1 0 0 0 0 0 0 0\n1 0 0 0 1 1 1 0 0\n"
      "1 0 0 0 1 1 1 2 40 41 1 1\n2 0 0 0 1 1 1 1 50 0\n$EndEntities\n"
      "$Nodes\n2 5\n1 2 1 2\n1 0 0 0 0.5 0.5\n2 1.5 0 0 0.1 0.2\n1 3 0 3\n3 0 1 0\n4 0 0 1\n5 0 0 "
      "-1\n$EndNodes\n"
      "$Elements\n3 3\n1 3 4 1\n1 1 2 3 4\n1 0 15 1\n2 1\n2 3 4 1\n3 1 3 2 5\n$EndElements\n"
      "$Surface\n1\n1 2 3\n$EndSurface\n";
  const Mesh mesh = read(folder.file("x.msh", bytes));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{40, 50}));
}

TEST(Gmsh, Version40Binary) {
  std::string bytes = "$MeshFormat\n4 1 8\n";
  put(bytes, 1);
  bytes += "\n$EndMeshFormat\n$Entities\n";
  for (const std::uint64_t count : {0, 0, 0, 1}) put(bytes, count);
  put(bytes, 3);
  for (int k = 0; k < 6; ++k) put(bytes, 0.0);
  put(bytes, std::uint64_t{1});
  put(bytes, 12);
  put(bytes, std::uint64_t{0});
  bytes += "\n$EndEntities\n$Nodes\n";
  put(bytes, std::uint64_t{1});
  put(bytes, std::uint64_t{5});
  for (const int value : {3, 3, 0}) put(bytes, value);
  put(bytes, std::uint64_t{5});
  const double xyz[5][3] = {{0, 0, 0}, {1.5, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 0; i < 5; ++i) {
    put(bytes, i + 1);
    for (const double x : xyz[i]) put(bytes, x);
  }
  bytes += "\n$EndNodes\n$Elements\n";
  put(bytes, std::uint64_t{1});
  put(bytes, std::uint64_t{2});
  for (const int value : {3, 3, 4}) put(bytes, value);
  put(bytes, std::uint64_t{2});
  for (const int value : {1, 1, 2, 3, 4, 2, 1, 3, 2, 5}) put(bytes, value);
  bytes += "\n$EndElements\n";
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.msh", bytes));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{12, 12}));
}

const std::string head_41 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
const std::string nodes_41 =
    "$Nodes\n2 5 1 5000000000\n2 1 1 2\n1\n2\n0 0 0 0.5 0.5\n1.5 0 0 0.5 0.5\n3 1 0 3\n7\n8\n5000000000\n0 1 "
    "0\n0 0 1\n"
    "0 0 -1\n$EndNodes\n";

TEST(Gmsh, Version41TextHugeTagsAndOtherTypes) {
  std::vector<std::string> messages;
  set_log_sink([&](LogLevel, std::string_view message) { messages.emplace_back(message); });
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file(
      "x.msh",
      head_41 + nodes_41 +
          "$Elements\n3 4 1 4\n1 1 1 2\n1 1 2\n2 2 7\n3 1 4 1\n3 1 2 7 8\n3 2 4 1\n4 1 7 2 5000000000\n"
          "$EndElements\n"));
  set_log_sink({});
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{1, 2}));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages[0].find("left out 2 elements"), std::string::npos);
}

TEST(Gmsh, Complaints) {
  const std::string one = "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 7 8\n$EndElements\n";
  EXPECT_EQ(complaint("x.msh", head_41 + nodes_41 + one), "no error");
  const auto elements = [&](const std::string& line) {
    return head_41 + nodes_41 + "$Elements\n1 1 1 1\n3 1 4 1\n" + line + "\n$EndElements\n";
  };
  expect_complaint("x.msh", elements("1 1 2 7 9"), ":22:", "node 9");
  expect_complaint("x.msh", elements("1 1 2 7 -1"), ":22:", "node -1");
  expect_complaint("x.msh", elements("1 1 2 7"), ":23:", "expected");
  expect_complaint("x.msh", head_41 + one, ":4:", "before $Nodes");
  expect_complaint("x.msh", head_41 + nodes_41, ":", "no $Elements");
  expect_complaint("x.msh", head_41, ":", "no $Nodes");
  expect_complaint("x.msh", "$MeshFormat\n9.9 0 8\n", ":2:", "version");
  expect_complaint("x.msh", "$MeshFormat\nnan 0 8\n", ":2:", "version");
  expect_complaint("x.msh", "$MeshFormat\n4.1 0 16\n", ":2:", "8 bytes");
  expect_complaint("x.msh", "garbage", ":1:", "$MeshFormat");
  expect_complaint("x.msh", head_41 + "$Nodes\n1 999999999999 1 1\n", ":5:", "cannot hold so many");
  expect_complaint("x.msh", head_41 + "$Nodes\n1 -5 1 1\n", ":5:", "negative");
  expect_complaint("x.msh", head_41 + "$Nodes\n1 2 1 2\n2 1 0 2\n1\n1\n0 0 0\n1 1 1\n$EndNodes\n" + one, ":",
                   "twice");
  expect_complaint("x.msh", head_41 + "$Nodes\n1 1 1 1\n2 1 0 1\n1\n0 nan 0\n$EndNodes\n" + one,
                   ":8:", "finite");
  expect_complaint("x.msh", head_41 + "$Comments\nfor ever", ":4:", "$EndComments");
  expect_complaint("x.msh", "$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n", ": byte 20:", "byte-order mark");
}

TEST(Medit, SkipsWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const Mesh mesh =
      read(folder.file("x.mesh",
                       "# comment\nMeshVersionFormatted 1\n\nDimension\n3\nVertices 5\n0 0 0 1\n1.5 0 0 1\n"
                       "0 1 0 1\n0 0 1 1\n0 0 -1 1\nCorners\n2\n1 2\nEdges\n1\n1 2 0\nTetrahedra\n2\n"
                       "1 2 3 4 0\n1 3 2 5 -6\nEnd\n"));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{0, -6}));
}

TEST(Medit, FlatMesh) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.mesh",
                                     "MeshVersionFormatted 2 Dimension 2 Vertices 3 0 0 0 1 0 0 0 1 0 "
                                     "Triangles 1 1 2 3 4 End"));
  EXPECT_EQ(mesh.vertices.at(2), Vec3(0, 1, 0));
  EXPECT_EQ(mesh.region, std::vector<int>{4});
}

TEST(Medit, Complaints) {
  const std::string head = "MeshVersionFormatted 2\nDimension 3\n";
  expect_complaint("x.mesh", head + "Vertices\n1\n0 0 0 0\nTetrahedra\n1\n1 1 1 2 0\n", ":8:", "from 1 to 1");
  expect_complaint("x.mesh", head + "Tetrahedra\n1\n1 1 1 2 0\n", ":5:", "no vertices");
  expect_complaint("x.mesh", head + "Vertices\n99999999\n", ":4:", "cannot hold so many");
  expect_complaint("x.mesh", "MeshVersionFormatted 2\nDimension 4\n", ":2:", "2 or 3");
  expect_complaint("x.mesh", "Vertices 1\n", ":1:", "MeshVersionFormatted");
}

TEST(TetGen, EitherFileAndBothNumberings) {
  for (const int base : {0, 1}) {
    const TemporaryFolder folder;
    const auto n = [&](int i) { return std::to_string(i + base); };
    folder.file("x.node", "# nodes\n5 3 1 1\n" + n(0) + " 0 0 0 9 1\n" + n(1) + " 1.5 0 0 9 1\n" + n(2) +
                              " 0 1 0 9 1\n# middle\n" + n(3) + " 0 0 1 9 1\n" + n(4) +
                              " 0 0 -1 9 0\n# end\n");
    folder.file("x.ele", "2 4 1\n" + n(0) + " " + n(0) + " " + n(1) + " " + n(2) + " " + n(3) + " 3\n" +
                             n(1) + " " + n(0) + " " + n(2) + " " + n(1) + " " + n(4) + " 4\n");
    for (const char* name : {"x.node", "x.ele"}) {
      const Mesh mesh = read(folder / name);
      expect_two_tetrahedra(mesh);
      EXPECT_EQ(mesh.region, (std::vector<int>{3, 4}));
    }
  }
}

TEST(TetGen, Complaints) {
  const auto complain = [](const std::string& nodes, const std::string& elements, const std::string& words) {
    const TemporaryFolder folder;
    folder.file("x.node", nodes);
    if (!elements.empty()) folder.file("x.ele", elements);
    const auto mesh = read_mesh(folder / "x.node");
    ASSERT_FALSE(mesh);
    EXPECT_NE(mesh.error().message.find(words), std::string::npos) << mesh.error().message;
  };
  const std::string nodes = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
  complain(nodes, "", "x.ele: no such file");
  complain(nodes, "1 4 0\n1 1 2 3 5\n", "x.ele:2: a node of an element is 5; it must be from 1 to 4");
  complain(nodes, "1 4 0\n1 0 2 3 4\n", "from 1 to 4");
  complain(nodes, "1 5 0\n1 1 2 3 4\n", "x.ele:1:");
  complain(nodes, "2 4 0\n1 1 2 3 4\n", "truncated");
  complain("4 3 0 0\n1 0 0 0\n3 0 0 0\n", "1 4 0\n", "x.node:3: node 3 follows node 1");
  complain("1 7 0 0\n", "1 4 0\n", "x.node:1: the dimension");
}

std::string big_endian_bytes(const std::vector<double>& reals) {
  std::string out;
  for (const double value : reals) {
    std::string raw;
    put(raw, value);
    out.append(raw.rbegin(), raw.rend());
  }
  return out;
}

std::string big_endian_bytes(const std::vector<int>& integers) {
  std::string out;
  for (const int value : integers) {
    std::string raw;
    put(raw, value);
    out.append(raw.rbegin(), raw.rend());
  }
  return out;
}

const std::vector<double> five_points = {0, 0, 0, 1.5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1};

TEST(Vtk, UnstructuredText) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file(
      "x.vtk",
      "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1.5 0 0 0 "
      "1 0\n"
      "0 0 1 0 0 -1\nCELLS 4 18\n4 0 1 2 3\n1 0\n4 0 2 1 4\n5 0 1 2 3 4\nCELL_TYPES 4\n10\n1\n10\n14\n"
      "POINT_DATA 5\nSCALARS t float\nLOOKUP_TABLE default\n1 2 3 4 5\n"
      "CELL_DATA 4\nFIELD attributes 2\nother 1 4 double\n0 0 0 0\nregion 1 4 int\n5 6 7 8\n"));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{5, 7}));
}

TEST(Vtk, UnstructuredBinary) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file(
      "x.vtk", "# vtk DataFile Version 3.0\ntitle\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n" +
                   big_endian_bytes(five_points) + "\nCELLS 2 10\n" +
                   big_endian_bytes(std::vector<int>{4, 0, 1, 2, 3, 4, 0, 2, 1, 4}) + "\nCELL_TYPES 2\n" +
                   big_endian_bytes(std::vector<int>{10, 10}) + "\nCELL_DATA 2\nSCALARS region int 1\n" +
                   "LOOKUP_TABLE default\n" + big_endian_bytes(std::vector<int>{3, -3}) + "\n"));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{3, -3}));
}

TEST(Vtk, Version5AndPolydata) {
  const TemporaryFolder folder;
  const Mesh solid = read(folder.file(
      "x.vtk",
      "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
      "0 0 0 1.5 0 0 0 1 0 0 0 1 0 0 -1\n\nMETADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n"
      "0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 2 1 4\nCELL_TYPES 2\n10\n10\n"));
  expect_two_tetrahedra(solid);
  const Mesh surface = read(folder.file(
      "y.vtk",
      "# vtk DataFile Version 4.2\nt\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n"
      "0 0 0 1 0 0 1 1 0 0 1 0 2 2 0\nPOLYGONS 1 5\n4 0 1 2 3\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n"));
  EXPECT_EQ(surface.triangles, (std::vector<geometry::Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {2, 1, 3}}));
}

TEST(Vtk, Complaints) {
  const std::string head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  const std::string points = "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n";
  EXPECT_EQ(complaint("x.vtk", head + points + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"), "no error");
  expect_complaint("x.vtk", head + points + "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n", ":7:", "point 4");
  expect_complaint("x.vtk", head + points + "CELLS 1 5\n9 0 1 2 3\nCELL_TYPES 1\n10\n",
                   ":7:", "does not fit");
  expect_complaint("x.vtk", head + points + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5\n", ":7:", "type 5");
  expect_complaint("x.vtk", head + points + "CELLS 1 5\n4 0 1 2 3\n", ":7:", "0 cell types");
  expect_complaint("x.vtk", head + points, ":", "no cells");
  expect_complaint("x.vtk", head + "POINTS 444444444 float\n", ":5:", "cannot hold so many");
  expect_complaint("x.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n",
                   ":4:", "convert");
  expect_complaint("x.vtk", "hello\n", ":1:", "# vtk DataFile");
}

// VTU files as other writers make them, from the same arrays.
struct VtuFlavour {
  const char* name;
  bool compressed, appended, raw, wide, separate_header;
};
void PrintTo(const VtuFlavour& flavour, std::ostream* out) { *out << flavour.name; }

std::string vtu_file(const VtuFlavour& f) {
  std::string appended;
  const auto word = [&](std::uint64_t value) {
    std::string bytes;
    if (f.wide) {
      put(bytes, value);
    } else {
      put(bytes, static_cast<std::uint32_t>(value));
    }
    return bytes;
  };
  const auto encode = [&](const std::string& bytes) {
    if (f.compressed) {
      // Two blocks, the second one shorter; one full block for the shortest array.
      const bool two = bytes.size() > 2;
      const std::size_t half = two ? bytes.size() / 2 + 1 : bytes.size();
      const std::string a = deflated(bytes.substr(0, half)), b = two ? deflated(bytes.substr(half)) : "";
      std::string header = word(two ? 2 : 1) + word(half) + word(bytes.size() - half) + word(a.size());
      if (two) header += word(b.size());
      return f.raw ? header + a + b : base64(header) + base64(a + b);
    }
    if (f.raw) return word(bytes.size()) + bytes;
    return f.separate_header ? base64(word(bytes.size())) + base64(bytes)
                             : base64(word(bytes.size()) + bytes);
  };
  const auto array = [&](const std::string& attributes, const std::string& bytes) {
    const std::string data = encode(bytes);
    if (!f.appended)
      return "<DataArray " + attributes + " format=\"binary\">\n  " + data + "\n</DataArray>\n";
    const std::string tag = "<DataArray " + attributes + " format=\"appended\" offset=\"" +
                            std::to_string(appended.size()) + "\"/>\n";
    appended += data;
    return tag;
  };
  std::string points, nodes, offsets, types, region;
  for (const double x : five_points) put(points, static_cast<float>(x));
  for (const int node : {0, 1, 2, 3, 0, 2, 1, 4}) put(nodes, node);
  for (const int offset : {4, 8}) put(offsets, offset);
  for (const int value : {2, 9}) put(region, static_cast<double>(value));
  types = "\x0a\x0a";
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!-- <Piece> in a comment -->\n<VTKFile type=\"UnstructuredGrid\" "
      "byte_order=\"LittleEndian\"";
  if (f.wide) xml += " header_type=\"UInt64\"";
  if (f.compressed) xml += " compressor=\"vtkZLibDataCompressor\"";
  xml += ">\n<UnstructuredGrid><Piece NumberOfCells='2' NumberOfPoints='5'>\n<Points>\n" +
         array("type=\"Float32\" NumberOfComponents=\"3\"", points) + "</Points>\n<Cells>\n" +
         array("type=\"Int32\" Name=\"connectivity\"", nodes) +
         array("type=\"Int32\" Name=\"offsets\"", offsets) + array("type=\"UInt8\" Name=\"types\"", types) +
         "</Cells>\n<CellData Scalars=\"region\">\n" + array("type=\"Float64\" Name=\"region\"", region) +
         "</CellData>\n</Piece></UnstructuredGrid>\n";
  if (f.appended) {
    xml += std::string("<AppendedData encoding=\"") + (f.raw ? "raw" : "base64") + "\">\n  _" + appended +
           "\n</AppendedData>\n";
  }
  return xml + "</VTKFile>\n";
}

class Vtu : public testing::TestWithParam<VtuFlavour> {};

TEST_P(Vtu, IsRead) {
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.vtu", vtu_file(GetParam())));
  expect_two_tetrahedra(mesh);
  EXPECT_EQ(mesh.region, (std::vector<int>{2, 9}));
}

INSTANTIATE_TEST_SUITE_P(Flavours, Vtu,
                         testing::Values(VtuFlavour{"inline", false, false, false, false, false},
                                         VtuFlavour{"inline_separate", false, false, false, true, true},
                                         VtuFlavour{"inline_wide", false, false, false, true, false},
                                         VtuFlavour{"inline_zlib", true, false, false, false, false},
                                         VtuFlavour{"inline_zlib_wide", true, false, false, true, false},
                                         VtuFlavour{"appended_raw", false, true, true, false, false},
                                         VtuFlavour{"appended_raw_zlib", true, true, true, true, false},
                                         VtuFlavour{"appended_base64", false, true, false, true, false},
                                         VtuFlavour{"appended_base64_zlib", true, true, false, false, false}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(VtuText, PiecesAreJoined) {
  const std::string piece =
      "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" "
      "format=\"ascii\">0 0 0 1 0 0 "
      "0 1 0</DataArray></Points><Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 "
      "2"
      "</DataArray><DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3</DataArray><DataArray "
      "type=\"UInt8\" "
      "Name=\"types\" format=\"ascii\">5</DataArray></Cells></Piece>";
  const TemporaryFolder folder;
  const Mesh mesh = read(folder.file("x.vtu", "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>" +
                                                  piece + piece + "</UnstructuredGrid></VTKFile>"));
  EXPECT_EQ(mesh.vertices.size(), 6U);
  EXPECT_EQ(mesh.triangles, (std::vector<geometry::Triangle>{{0, 1, 2}, {3, 4, 5}}));
}

TEST(VtuText, Complaints) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_mesh(cube_mesh(1), folder / "x.vtu", Encoding::Text));
  const std::string good = *read_file(folder / "x.vtu");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return bytes.replace(at, from.size(), to);
  };
  expect_complaint("x.vtu", with("NumberOfPoints=\"8\"", "NumberOfPoints=\"9\""), ":", "27 numbers");
  expect_complaint("x.vtu", with("NumberOfPoints=\"8\"", "NumberOfPoints=\"2000000000\""),
                   ":10:", "does not hold");
  expect_complaint("x.vtu", with("NumberOfPoints=\"8\"", "NumberOfPoints=\"-8\""), ":4:", "must be a count");
  expect_complaint("x.vtu", with("\"types\"", "\"kinds\""), ":4:", "lacks");
  expect_complaint("x.vtu", with("UnstructuredGrid", "PolyData"), ":2:", "type UnstructuredGrid");
  expect_complaint("x.vtu", with("</VTKFile>", "</VTKFile"), ":", "truncated");
  expect_complaint("x.vtu", "<?xml version=\"1.0\"?>\n<html>\n", ":2:", "VTKFile");
  expect_complaint("x.vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\">",
                   ":1:", "zlib");
}

TEST(Mesh, ContentDecidesBeforeTheName) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_mesh(cube_mesh(1), folder / "x.msh"));
  fs::rename(folder / "x.msh", folder / "x.obj");
  EXPECT_EQ(read(folder / "x.obj").tetrahedra.size(), 6U);
  fs::rename(folder / "x.obj", folder / "nameless");
  EXPECT_EQ(read(folder / "nameless").tetrahedra.size(), 6U);
}

TEST(Mesh, TurnsAWhollyNegativeMeshAround) {
  const TemporaryFolder folder;
  Mesh mesh = cube_mesh(2);
  Mesh turned = mesh;
  for (auto& t : turned.tetrahedra) std::swap(t[2], t[3]);
  ASSERT_TRUE(write_mesh(turned, folder / "x.msh"));
  expect_equal(read(folder / "x.msh"), mesh);
  // One negative element is the user's business: it is kept.
  std::swap(mesh.tetrahedra[3][0], mesh.tetrahedra[3][1]);
  ASSERT_TRUE(write_mesh(mesh, folder / "y.msh"));
  expect_equal(read(folder / "y.msh"), mesh);
}

TEST(Mesh, UnknownFormatsAndMissingFiles) {
  const TemporaryFolder folder;
  expect_complaint("x.xyz", "1 2 3\n", ":", "the format is not known");
  EXPECT_NE(read_mesh(folder / "x.obj").error().message.find("no such file"), std::string::npos);
  EXPECT_NE(read_mesh(folder.path()).error().message.find("is a folder"), std::string::npos);
  EXPECT_NE(write_mesh(cube_mesh(1), folder / "x.abc").error().message.find("extensions"), std::string::npos);
  Mesh labelled = cube_mesh(1);
  labelled.region = {1};
  EXPECT_FALSE(write_mesh(labelled, folder / "x.msh"));
}

}  // namespace
}  // namespace lope::io
