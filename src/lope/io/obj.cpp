// Wavefront OBJ: `v` and `f` lines; everything else (normals, texture, groups, materials) is left aside.
#include <lope/io/formats.h>
#include <lope/io/print.h>

#include <charconv>

#include <fmt/core.h>

namespace lope::io {
namespace {

// The vertex number of "12", "12/3", "12//4" or "12/3/4"; 0 if it is none.
std::int64_t leading_number(std::string_view corner) {
  std::int64_t value = 0;
  const auto [stop, code] = std::from_chars(corner.data(), corner.data() + corner.size(), value);
  const bool complete = stop == corner.data() + corner.size() || *stop == '/';
  return code == std::errc() && complete ? value : 0;
}

}  // namespace

Expected<geometry::Mesh> read_obj(Scanner& in) {
  geometry::Mesh mesh;
  in.set_comment_mark('#');
  // Faces may come before their vertices: the largest index is checked when all vertices are known.
  std::int64_t largest = -1;
  std::size_t largest_place = 0;
  std::vector<int> corners;
  while (!in.failed() && !in.at_end()) {
    const std::string_view keyword = in.token();
    if (keyword == "v") {
      const double x = in.coordinate("the x coordinate");
      const double y = in.coordinate("the y coordinate");
      const double z = in.coordinate("the z coordinate");
      mesh.vertices.emplace_back(x, y, z);
    } else if (keyword == "f") {
      const std::size_t face = in.last();
      corners.clear();
      while (!in.failed() && !in.at_end_of_line()) {
        const std::string_view text = in.token();
        std::int64_t number = leading_number(text);
        if (number < 0) number += static_cast<std::int64_t>(mesh.vertices.size()) + 1;
        if (number <= 0 || number > std::numeric_limits<int>::max()) {
          in.fail(
              fmt::format("'{}' is no vertex of a face; vertices are numbered from 1, or from -1 backwards",
                          text.substr(0, 40)));
        }
        if (number - 1 > largest) {
          largest = number - 1;
          largest_place = in.last();
        }
        corners.push_back(static_cast<int>(number - 1));
      }
      if (!in.failed() && corners.size() < 3) {
        in.fail_at(face, fmt::format("this face has {} corners; it needs at least 3", corners.size()));
      }
      add_polygon(corners, mesh.triangles);
    }
    in.line();
  }
  if (!in.failed() && largest >= static_cast<std::int64_t>(mesh.vertices.size())) {
    in.fail_at(largest_place, fmt::format("this face names vertex {}, but the file has {} vertices",
                                          largest + 1, mesh.vertices.size()));
  }
  if (in.failed()) return in.error();
  return mesh;
}

std::string write_obj(const geometry::Mesh& mesh) {
  std::string out;
  for (const Vec3& v : mesh.vertices) print(out, "v ", v[0], ' ', v[1], ' ', v[2], '\n');
  for (const geometry::Triangle& t : mesh.triangles) {
    print(out, "f ", t[0] + 1, ' ', t[1] + 1, ' ', t[2] + 1, '\n');
  }
  return out;
}

}  // namespace lope::io
