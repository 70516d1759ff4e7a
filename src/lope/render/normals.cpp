#include <lope/base/parallel.h>
#include <lope/render/normals.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

namespace lope::render {
namespace {

double angle_between(const Vec3& a, const Vec3& b) { return std::atan2(a.cross(b).norm(), a.dot(b)); }

// The triangles at each vertex, as rows of one list.
struct Incidence {
  std::vector<int> start, corner;  // corner = 3 triangle + which
};

Incidence incidence(std::size_t vertices, std::span<const geometry::Triangle> triangles) {
  Incidence result;
  result.start.assign(vertices + 1, 0);
  for (const auto& triangle : triangles) {
    for (const int v : triangle) ++result.start[v + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) result.start[v + 1] += result.start[v];
  result.corner.resize(3 * triangles.size());
  std::vector<int> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) result.corner[next[triangles[t][k]]++] = static_cast<int>(3 * t) + k;
  }
  return result;
}

}  // namespace

std::vector<CornerNormals> corner_normals(std::span<const Vec3> positions,
                                          std::span<const geometry::Triangle> triangles,
                                          double crease_degrees) {
  const std::size_t count = triangles.size();
  std::vector<Vec3> face(count, Vec3::Zero());
  std::vector<std::array<double, 3>> angle(count, {0, 0, 0});
  parallel_for(count, 512, [&](std::size_t t) {
    const Vec3 x[3] = {positions[triangles[t][0]], positions[triangles[t][1]], positions[triangles[t][2]]};
    const Vec3 area = (x[1] - x[0]).cross(x[2] - x[0]);
    if (!(area.norm() > 0)) return;
    face[t] = area.normalized();
    for (int k = 0; k < 3; ++k) angle[t][k] = angle_between(x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
  });

  const Incidence at = incidence(positions.size(), triangles);
  const double smooth = std::cos(crease_degrees * std::numbers::pi / 180) - 1e-9;
  std::vector<CornerNormals> result(count);
  parallel_for(count, 512, [&](std::size_t t) {
    for (int k = 0; k < 3; ++k) {
      const int vertex = triangles[t][k];
      Vec3 sum = Vec3::Zero();
      for (int i = at.start[vertex]; i < at.start[vertex + 1]; ++i) {
        const int other = at.corner[i] / 3;
        if (face[other].dot(face[t]) >= smooth) sum += angle[other][at.corner[i] % 3] * face[other];
      }
      if (!(sum.norm() > 0)) sum = face[t].norm() > 0 ? face[t] : Vec3(Vec3::UnitZ());
      result[t][k] = sum.normalized().cast<float>();
    }
  });
  return result;
}

}  // namespace lope::render
