#include <lope/base/errors.h>
#include <lope/base/log.h>
#include <lope/geometry/flattening.h>
#include <lope/io/file.h>
#include <lope/io/scanner.h>
#include <lope/io/sheet_io.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::io {
namespace {

using geometry::Sheet;
using geometry::Triangle;

// Of the sheet's size: what is farther from a plane does not lie in it.
constexpr double flatness = 1e-6;
// Of what is flattened: what it means for the cloth should not go unnoticed.
constexpr double much_distortion = 0.05;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// "12", "12/3", "12//4" or "12/3/4": vertex and texture vertex, 0 where there is none.
struct Corner {
  std::int64_t vertex = 0, texture = 0;
};
Corner corner_of(std::string_view text) {
  Corner corner;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, corner.vertex);
  if (code != std::errc() || (stop != end && *stop != '/')) return {};
  if (stop != end && stop + 1 != end && stop[1] != '/') {
    const auto [after, fine] = std::from_chars(stop + 1, end, corner.texture);
    if (fine != std::errc() || (after != end && *after != '/')) return {};
  }
  return corner;
}

struct RawSheet {
  Sheet sheet;
  bool textured = true;  // every corner has texture coordinates
};

RawSheet read_lines(Scanner& in) {
  RawSheet raw;
  Sheet& sheet = raw.sheet;
  in.set_comment_mark('#');
  std::vector<int> nodes, flats;
  const auto number = [&](std::int64_t given, std::size_t count, std::string_view what) {
    const std::int64_t at = given < 0 ? given + static_cast<std::int64_t>(count) : given - 1;
    if (given == 0 || at < 0 || at >= static_cast<std::int64_t>(count))
      in.fail(fmt::format("a face names {} {}, which is not there (yet): the file has {}", what, given, count));
    return static_cast<int>(at);
  };
  while (!in.failed() && !in.at_end()) {
    const std::string_view keyword = in.token();
    if (keyword == "v") {
      const double x = in.coordinate("the x coordinate"), y = in.coordinate("the y coordinate");
      sheet.vertices.emplace_back(x, y, in.coordinate("the z coordinate"));
    } else if (keyword == "vt") {
      const double u = in.coordinate("the first texture coordinate");
      sheet.flat.emplace_back(u, in.coordinate("the second texture coordinate"));
    } else if (keyword == "f") {
      nodes.clear();
      flats.clear();
      while (!in.failed() && !in.at_end_of_line()) {
        const Corner corner = corner_of(in.token());
        nodes.push_back(number(corner.vertex, sheet.vertices.size(), "vertex"));
        if (corner.texture == 0) raw.textured = false;
        if (raw.textured) flats.push_back(number(corner.texture, sheet.flat.size(), "texture vertex"));
      }
      if (!in.failed() && nodes.size() < 3) in.fail("this face has fewer than 3 corners");
      for (std::size_t k = 2; k < nodes.size() && !in.failed(); ++k) {
        sheet.triangles.push_back({nodes[0], nodes[k - 1], nodes[k]});
        if (raw.textured) sheet.flat_triangles.push_back({flats[0], flats[k - 1], flats[k]});
      }
    }
    in.line();
  }
  return raw;
}

double area_in_space(const Sheet& sheet) {
  double sum = 0;
  for (const Triangle& t : sheet.triangles) {
    const Vec3& a = sheet.vertices[index(t[0])];
    sum += 0.5 * (sheet.vertices[index(t[1])] - a).cross(sheet.vertices[index(t[2])] - a).norm();
  }
  return sum;
}

// The coordinates in the plane of the vertices; false where they do not lie in one.
bool take_plane(Sheet& sheet) {
  Vec3 normal = Vec3::Zero();
  for (const Triangle& t : sheet.triangles) {
    const Vec3& a = sheet.vertices[index(t[0])];
    normal += (sheet.vertices[index(t[1])] - a).cross(sheet.vertices[index(t[2])] - a);
  }
  if (normal.norm() == 0) return false;
  normal.normalize();
  Vec3 first = normal.unitOrthogonal();
  // Along x where the plane allows it.
  if (const Vec3 along = Vec3::UnitX() - normal[0] * normal; along.norm() > 0.1) first = along.normalized();
  const Vec3 second = normal.cross(first), origin = sheet.vertices.front();
  const double size = geometry::bounds(sheet.vertices).extent().maxCoeff();
  sheet.flat.clear();
  for (const Vec3& p : sheet.vertices) {
    if (std::abs(normal.dot(p - origin)) > flatness * size) return false;
    sheet.flat.emplace_back(first.dot(p - origin), second.dot(p - origin));
  }
  sheet.flat_triangles = sheet.triangles;
  return true;
}

Expected<Sheet> flattened(Sheet sheet, const std::string& file) {
  auto flat = geometry::flatten(std::move(sheet.vertices), std::move(sheet.triangles));
  if (!flat)
    return input_error("{}: the sheet is neither flat nor does it have texture coordinates on all faces: {}",
                       file, flat.error().message);
  const std::string said = fmt::format(
      "{}: no texture coordinates (UV): flattened (patches: {}, cuts: {}); lengths are {:.3g} to {:.3g} of "
      "the flat ones, {:.2g} % off in the mean",
      file, flat->patches, flat->cuts, flat->least_stretch, flat->largest_stretch,
      100 * flat->mean_distortion);
  if (flat->mean_distortion > much_distortion) {
    log_warning("{}; texture coordinates would say where it is cut", said);
  } else {
    log_info("{}", said);
  }
  return std::move(flat->sheet);
}

}  // namespace

Expected<geometry::Sheet> read_sheet(const std::filesystem::path& path, double unit) {
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  Scanner in(path.string(), *bytes);
  RawSheet raw = read_lines(in);
  if (in.failed()) return in.error();
  Sheet& sheet = raw.sheet;
  if (sheet.triangles.empty()) return input_error("{}: the file has no faces; cloth is read from .obj files", path.string());
  if (!raw.textured) {
    if (take_plane(sheet)) return std::move(sheet);
    return flattened(std::move(sheet), path.string());
  }
  double area = 0;
  for (const Triangle& t : sheet.flat_triangles)
    area += 0.5 * geometry::twice_area(sheet.flat[index(t[0])], sheet.flat[index(t[1])], sheet.flat[index(t[2])]);
  if (area == 0) return input_error("{}: the texture coordinates have no area", path.string());
  const double scale = unit > 0 ? unit : std::sqrt(area_in_space(sheet) / std::abs(area));
  for (Vec2& p : sheet.flat) p = scale * Vec2(area < 0 ? -p[0] : p[0], p[1]);
  // Texture coordinates that no face uses.
  std::vector<int> place(sheet.flat.size(), -1);
  std::vector<Vec2> used;
  for (Triangle& t : sheet.flat_triangles) {
    for (int& corner : t) {
      int& at = place[index(corner)];
      if (at < 0) {
        at = static_cast<int>(used.size());
        used.push_back(sheet.flat[index(corner)]);
      }
      corner = at;
    }
  }
  sheet.flat = std::move(used);
  return std::move(sheet);
}

}  // namespace lope::io
