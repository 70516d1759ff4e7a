#include <lope/io/surface.h>

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

}  // namespace lope::io
