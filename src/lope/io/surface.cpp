#include <lope/io/surface.h>

#include <map>
#include <numeric>
#include <tuple>

namespace lope::io {

Surface surface_of(std::size_t vertex_count, std::span<const geometry::Triangle> triangles,
                   std::span<const geometry::Tetrahedron> tetrahedra) {
  Surface surface;
  surface.triangles.assign(triangles.begin(), triangles.end());
  if (triangles.empty())
    surface.triangles = geometry::boundary_triangles({tetrahedra.begin(), tetrahedra.end()});
  std::vector<int> number(vertex_count, -1);
  for (const geometry::Triangle& t : surface.triangles) {
    for (const int vertex : t) number[vertex] = 0;
  }
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] < 0) continue;
    number[i] = static_cast<int>(surface.vertices.size());
    surface.vertices.push_back(static_cast<int>(i));
  }
  for (geometry::Triangle& t : surface.triangles) {
    for (int& vertex : t) vertex = number[vertex];
  }
  return surface;
}

Corners corners_of(const Surface& surface, std::span<const float> texture) {
  Corners corners;
  corners.triangles = surface.triangles;
  if (texture.empty()) {
    corners.vertices.resize(surface.vertices.size());
    std::iota(corners.vertices.begin(), corners.vertices.end(), 0);
    return corners;
  }
  std::map<std::tuple<int, float, float>, int> known;
  for (std::size_t k = 0; k < 3 * surface.triangles.size(); ++k) {
    int& corner = corners.triangles[k / 3][k % 3];
    const int vertex = corner;
    const std::array<float, 2> at{texture[2 * k], texture[2 * k + 1]};
    const auto [found, is_new] =
        known.try_emplace({vertex, at[0], at[1]}, static_cast<int>(corners.vertices.size()));
    corner = found->second;
    if (!is_new) continue;
    corners.vertices.push_back(vertex);
    corners.texture.push_back(at);
  }
  return corners;
}

}  // namespace lope::io
