#include <lope/geometry/thickness.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

namespace lope::geometry {
namespace {

constexpr std::size_t most_samples = 300;
constexpr double share = 0.05;  // of the samples that may be thinner

using Face = std::array<Vec3, 3>;
using Side = std::array<Vec3, 2>;

Vec3 middle(const Face& face) { return (face[0] + face[1] + face[2]) / 3; }
Vec3 middle(const Side& side) { return 0.5 * (side[0] + side[1]); }

Vec3 outwards(const Face& face) { return (face[1] - face[0]).cross(face[2] - face[0]).normalized(); }
// Of a border whose body is to the left.
Vec3 outwards(const Side& side) {
  const Vec3 along = side[1] - side[0];
  return Vec3(along.y(), -along.x(), 0).normalized();
}

constexpr double nowhere = std::numeric_limits<double>::infinity();

// How far along the ray the face is (Möller and Trumbore 1997).
double hit(const Vec3& from, const Vec3& direction, const Face& face) {
  const Vec3 a = face[1] - face[0], b = face[2] - face[0], p = direction.cross(b);
  const double determinant = a.dot(p);
  if (determinant == 0) return nowhere;
  const Vec3 s = from - face[0], q = s.cross(a);
  const double u = s.dot(p) / determinant, v = direction.dot(q) / determinant;
  return u < 0 || v < 0 || u + v > 1 ? nowhere : b.dot(q) / determinant;
}

double hit(const Vec3& from, const Vec3& direction, const Side& side) {
  const Vec3 along = side[1] - side[0], s = side[0] - from;
  const double determinant = direction.x() * along.y() - direction.y() * along.x();
  if (determinant == 0) return nowhere;
  const double u = (s.x() * direction.y() - s.y() * direction.x()) / determinant;
  return u < 0 || u > 1 ? nowhere : (s.x() * along.y() - s.y() * along.x()) / determinant;
}

template <class Piece>
ThinPart over_samples(const std::vector<Piece>& surface) {
  Bounds box;
  for (const Piece& piece : surface) {
    for (const Vec3& corner : piece) box.add(corner);
  }
  const double least = 1e-9 * box.extent().maxCoeff();  // what a ray begins in is no hit
  std::vector<ThinPart> ways;
  const std::size_t stride = (surface.size() + most_samples - 1) / most_samples;
  for (std::size_t i = 0; i < surface.size(); i += stride) {
    const Vec3 from = middle(surface[i]), inwards = -outwards(surface[i]);
    double nearest = nowhere;
    for (const Piece& piece : surface) {
      const double way = hit(from, inwards, piece);
      if (way > least) nearest = std::min(nearest, way);
    }
    if (nearest < nowhere) ways.push_back({nearest, inwards});
  }
  if (ways.empty()) return {};
  const auto at = ways.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(ways.size()));
  std::nth_element(ways.begin(), at, ways.end(),
                   [](const ThinPart& a, const ThinPart& b) { return a.extent < b.extent; });
  return *at;
}

}  // namespace

ThinPart thin_part(const Mesh& mesh, bool planar) {
  const auto at = [&](int i) { return mesh.vertices[static_cast<std::size_t>(i)]; };
  if (planar) {
    std::vector<Side> border;
    for (const Edge& edge : boundary_edges(mesh.triangles)) border.push_back({at(edge[0]), at(edge[1])});
    return over_samples(border);
  }
  std::vector<Face> surface;
  for (const Triangle& t : mesh.tetrahedra.empty() ? mesh.triangles : boundary_triangles(mesh.tetrahedra))
    surface.push_back({at(t[0]), at(t[1]), at(t[2])});
  return over_samples(surface);
}

ThinPart thin_part(const std::vector<Side>& sides) { return over_samples(sides); }

}  // namespace lope::geometry
