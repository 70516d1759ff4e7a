// STL, text and binary. Corners at the same position become one vertex, in the order of first appearance.
#include <lope/io/formats.h>
#include <lope/io/print.h>

#include <cmath>
#include <unordered_map>

#include <Eigen/Geometry>

namespace lope::io {
namespace {

constexpr std::size_t header_size = 80;
constexpr std::size_t triangle_size = 50;  // normal and three corners as floats, two bytes of attribute

class Welder {
 public:
  explicit Welder(geometry::Mesh& mesh) : mesh_(mesh) {}

  int vertex(Vec3 position) {
    position += Vec3::Zero();  // −0 becomes +0
    const auto [found, is_new] = index_.try_emplace(position, static_cast<int>(mesh_.vertices.size()));
    if (is_new) mesh_.vertices.push_back(position);
    return found->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Vec3& v) const {
      std::uint64_t hash = 0;
      for (int i = 0; i < 3; ++i) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(v[i])) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };
  geometry::Mesh& mesh_;
  std::unordered_map<Vec3, int, Hash> index_;
};

void read_binary(Scanner& in, geometry::Mesh& mesh) {
  Welder welder(mesh);
  in.begin_binary(std::endian::little);
  in.skip(header_size, "the 80-byte header");
  const std::size_t count = in.check_count(in.get<std::uint32_t>("the number of triangles"),
                                           "the number of triangles", triangle_size);
  mesh.triangles.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    in.skip(3 * sizeof(float), "a normal");
    geometry::Triangle triangle{};
    for (int& corner : triangle) {
      Vec3 position;
      for (int k = 0; k < 3; ++k)
        position[k] = in.check_coordinate(in.get<float>("a corner"), "a coordinate");
      if (!in.failed()) corner = welder.vertex(position);
    }
    in.skip(2, "the attribute of a triangle");
    mesh.triangles.push_back(triangle);
  }
}

void read_text(Scanner& in, geometry::Mesh& mesh) {
  Welder welder(mesh);
  in.line();  // "solid" and a free name
  std::vector<int> corners;
  while (!in.failed()) {
    const std::string_view word = in.token();
    if (word == "facet") {
      in.line();  // the normal follows from the corners
      in.expect("outer");
      in.expect("loop");
      corners.clear();
      while (!in.failed() && in.peek() == "vertex") {
        in.token();
        Vec3 position;
        for (int k = 0; k < 3; ++k) position[k] = in.coordinate("a coordinate");
        corners.push_back(welder.vertex(position));
      }
      in.expect("endloop");
      if (!in.failed() && corners.size() < 3) in.fail("this facet has fewer than 3 vertices");
      in.expect("endfacet");
      add_polygon(corners, mesh.triangles);
    } else if (word == "endsolid") {
      in.line();
      if (in.at_end()) return;
    } else if (word == "solid") {
      in.line();
    } else if (word.empty()) {
      in.fail("the file ends without 'endsolid'; it is truncated, so export or copy it again");
    } else {
      in.fail("expected 'facet' or 'endsolid'; is this an STL file?");
    }
  }
}

// Some programs begin binary files with "solid" as well: the size, which follows from the count, decides.
bool is_binary(std::string_view bytes) {
  if (bytes.substr(0, 5) != "solid") return true;
  if (bytes.size() < header_size + 4) return false;
  Scanner head("", bytes);
  head.seek(header_size);
  head.begin_binary(std::endian::little);
  const std::uint64_t count = head.get<std::uint32_t>("");
  return bytes.size() == header_size + 4 + triangle_size * count;
}

Vec3 normal(const geometry::Mesh& mesh, const geometry::Triangle& t) {
  const Vec3& a = mesh.vertices[t[0]];
  const Vec3 cross = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a);
  return cross.norm() > 0 ? cross.normalized() : Vec3::Zero();
}

}  // namespace

Expected<geometry::Mesh> read_stl(Scanner& in) {
  geometry::Mesh mesh;
  if (is_binary(in.bytes())) {
    read_binary(in, mesh);
  } else {
    read_text(in, mesh);
  }
  if (in.failed()) return in.error();
  return mesh;
}

std::string write_stl(const geometry::Mesh& mesh, Encoding encoding) {
  std::string out;
  const auto single = [](double value) { return static_cast<float>(value); };
  if (encoding == Encoding::Binary) {
    out = "binary STL written by lope";
    out.resize(header_size, ' ');
    put(out, static_cast<std::uint32_t>(mesh.triangles.size()));
  } else {
    out = "solid lope\n";
  }
  for (const geometry::Triangle& t : mesh.triangles) {
    const Vec3 n = normal(mesh, t);
    const Vec3 rows[4] = {n, mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]};
    if (encoding == Encoding::Binary) {
      for (const Vec3& row : rows) {
        for (int k = 0; k < 3; ++k) put(out, single(row[k]));
      }
      put(out, std::uint16_t{0});
    } else {
      print(out, "facet normal ", single(n[0]), ' ', single(n[1]), ' ', single(n[2]), "\n outer loop\n");
      for (int c = 1; c < 4; ++c) {
        print(out, "  vertex ", single(rows[c][0]), ' ', single(rows[c][1]), ' ', single(rows[c][2]), '\n');
      }
      print(out, " endloop\nendfacet\n");
    }
  }
  if (encoding == Encoding::Text) out += "endsolid lope\n";
  return out;
}

}  // namespace lope::io
