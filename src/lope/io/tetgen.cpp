// TetGen .node + .ele (and Triangle's, in 2D): numbered from 0 or 1. The first attribute of an element, where
// there is one, becomes its region.
#include <lope/io/file.h>
#include <lope/io/formats.h>

#include <cmath>

#include <fmt/core.h>

namespace lope::io {
namespace {

struct Nodes {
  std::vector<Vec3> vertices;
  std::int64_t first = 0;  // the number of the first one
};

// Numbers must be consecutive; the first one decides whether they begin at 0 or 1.
void check_number(Scanner& in, std::string_view what, std::size_t i, std::int64_t& first) {
  const std::int64_t number = in.integer("a running number");
  if (i == 0) {
    first = number;
    if (first != 0 && first != 1) in.fail(fmt::format("{}s must be numbered from 0 or 1", what));
  } else if (!in.failed() && number != first + static_cast<std::int64_t>(i)) {
    in.fail(fmt::format("{} {} follows {} {}; they must be numbered one after the other", what, number, what,
                        first + static_cast<std::int64_t>(i) - 1));
  }
}

Nodes read_nodes(Scanner& in) {
  Nodes nodes;
  in.set_comment_mark('#');
  const std::size_t count = in.count("the number of nodes", 6);
  const std::int64_t dimension = in.integer("the dimension");
  if (!in.failed() && dimension != 2 && dimension != 3) in.fail("the dimension must be 2 or 3");
  in.line();
  nodes.vertices.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    check_number(in, "node", i, nodes.first);
    Vec3 position = Vec3::Zero();
    for (int k = 0; k < dimension && k < 3; ++k) position[k] = in.coordinate("a coordinate");
    in.line();  // attributes and boundary marker
    nodes.vertices.push_back(position);
  }
  return nodes;
}

void read_elements(Scanner& in, std::int64_t first_node, geometry::Mesh& mesh) {
  in.set_comment_mark('#');
  const std::size_t count = in.count("the number of elements", 6);
  const std::int64_t corners = in.integer("the number of nodes per element");
  const std::int64_t attributes = in.at_end_of_line() ? 0 : in.integer("the number of attributes");
  // Quadratic elements list their corners first.
  const bool solid = corners == 4 || corners == 10;
  if (!in.failed() && !solid && corners != 3 && corners != 6) {
    in.fail("elements must have 4 or 10 nodes (tetrahedra), or 3 or 6 (triangles)");
  }
  in.line();
  std::int64_t first_element = 0;
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    check_number(in, "element", i, first_element);
    geometry::Tetrahedron cell{};
    for (int k = 0; k < corners && !in.failed(); ++k) {
      const int node = in.index("a node of an element", mesh.vertices.size(), first_node);
      if (k < (solid ? 4 : 3)) cell[k] = node;
    }
    if (solid) {
      mesh.tetrahedra.push_back(cell);
    } else {
      mesh.triangles.push_back({cell[0], cell[1], cell[2]});
    }
    if (attributes > 0) {
      const double attribute = in.coordinate("an attribute");
      if (std::abs(attribute) > 2e9) in.fail("a region attribute must be below two thousand million");
      mesh.region.push_back(static_cast<int>(std::lround(in.failed() ? 0 : attribute)));
    }
    in.line();
  }
}

}  // namespace

Expected<geometry::Mesh> read_tetgen(const std::filesystem::path& path) {
  std::filesystem::path node_path = path, element_path = path;
  node_path.replace_extension(".node");
  element_path.replace_extension(".ele");
  const Expected<std::string> node_bytes = read_file(node_path);
  if (!node_bytes) return forward_error(node_bytes);
  const Expected<std::string> element_bytes = read_file(element_path);
  if (!element_bytes) return forward_error(element_bytes);

  Scanner node_in(node_path.string(), *node_bytes);
  Nodes nodes = read_nodes(node_in);
  if (node_in.failed()) return node_in.error();
  geometry::Mesh mesh;
  mesh.vertices = std::move(nodes.vertices);
  Scanner element_in(element_path.string(), *element_bytes);
  read_elements(element_in, nodes.first, mesh);
  if (element_in.failed()) return element_in.error();
  drop_trivial_regions(mesh.region);
  return mesh;
}

}  // namespace lope::io
