// MEDIT .mesh (INRIA), text: Vertices, Triangles and Tetrahedra; other sections are skipped. References of
// tetrahedra (or of triangles where there are none) become regions.
#include <lope/io/formats.h>
#include <lope/io/print.h>

#include <cctype>

#include <fmt/core.h>

namespace lope::io {
namespace {

template <std::size_t corners>
void read_cells(Scanner& in, std::string_view what, std::size_t vertices,
                std::vector<std::array<int, corners>>& cells, std::vector<int>& references) {
  const std::size_t count = in.count(fmt::format("the number of {}", what), 2 * (corners + 1));
  cells.reserve(count);
  references.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    std::array<int, corners> cell{};
    for (int& corner : cell) corner = in.index("a vertex number", vertices, 1);
    cells.push_back(cell);
    references.push_back(static_cast<int>(in.integer("a reference")));
  }
}

void read_vertices(Scanner& in, std::int64_t dimension, geometry::Mesh& mesh) {
  const std::size_t count = in.count("the number of vertices", 2 * static_cast<std::size_t>(dimension + 1));
  mesh.vertices.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    Vec3 position = Vec3::Zero();
    for (int k = 0; k < dimension; ++k) position[k] = in.coordinate("a coordinate");
    in.integer("a reference");
    mesh.vertices.push_back(position);
  }
}

// Numbers up to the next keyword.
void skip_section(Scanner& in) {
  while (!in.at_end() && std::isalpha(static_cast<unsigned char>(in.peek().front())) == 0) in.token();
}

}  // namespace

Expected<geometry::Mesh> read_medit(Scanner& in) {
  geometry::Mesh mesh;
  in.set_comment_mark('#');
  in.expect("MeshVersionFormatted");
  in.integer("the version of the format");
  std::int64_t dimension = 3;
  std::vector<int> triangle_references, tetrahedron_references;
  std::size_t left_out = 0;
  while (!in.failed() && !in.at_end()) {
    const std::string_view keyword = in.token();
    if (keyword == "End") break;
    if (keyword == "Dimension") {
      dimension = in.integer("the dimension");
      if (dimension != 2 && dimension != 3) in.fail("the dimension must be 2 or 3");
    } else if (keyword == "Vertices") {
      if (!mesh.vertices.empty()) in.fail("a second section of vertices");
      read_vertices(in, dimension, mesh);
    } else if (keyword == "Triangles") {
      read_cells(in, "triangles", mesh.vertices.size(), mesh.triangles, triangle_references);
    } else if (keyword == "Tetrahedra") {
      read_cells(in, "tetrahedra", mesh.vertices.size(), mesh.tetrahedra, tetrahedron_references);
    } else {
      if (keyword == "Quadrilaterals" || keyword == "Hexahedra") left_out += in.count("a number of cells", 2);
      skip_section(in);
    }
  }
  if (in.failed()) return in.error();
  warn_left_out(in.path(), left_out, "quadrilaterals and hexahedra");
  mesh.region = mesh.tetrahedra.empty() ? std::move(triangle_references) : std::move(tetrahedron_references);
  drop_trivial_regions(mesh.region);
  return mesh;
}

std::string write_medit(const geometry::Mesh& mesh) {
  std::string out;
  const bool solid = !mesh.tetrahedra.empty();
  const auto region = [&](std::size_t i) { return mesh.region.empty() ? 0 : mesh.region[i]; };
  print(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n", mesh.vertices.size(), '\n');
  for (const Vec3& v : mesh.vertices) print(out, v[0], ' ', v[1], ' ', v[2], " 0\n");
  if (!mesh.triangles.empty()) print(out, "Triangles\n", mesh.triangles.size(), '\n');
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    for (const int corner : mesh.triangles[i]) print(out, corner + 1, ' ');
    print(out, solid ? 0 : region(i), '\n');
  }
  if (solid) print(out, "Tetrahedra\n", mesh.tetrahedra.size(), '\n');
  for (std::size_t i = 0; i < mesh.tetrahedra.size(); ++i) {
    for (const int corner : mesh.tetrahedra[i]) print(out, corner + 1, ' ');
    print(out, region(i), '\n');
  }
  out += "End\n";
  return out;
}

}  // namespace lope::io
