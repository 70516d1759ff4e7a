#include <lope/geometry/mesh.h>

#include <algorithm>

namespace lope::geometry {

Bounds bounds(const std::vector<Vec3>& points) {
  Bounds box;
  for (const Vec3& point : points) box.add(point);
  return box;
}

std::vector<Triangle> boundary_triangles(const std::vector<Tetrahedron>& tetrahedra) {
  // Face opposite vertex a, outward for a positively oriented tetrahedron.
  constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  struct Face {
    Triangle key;
    Triangle oriented;
  };
  std::vector<Face> all;
  all.reserve(4 * tetrahedra.size());
  for (const Tetrahedron& t : tetrahedra) {
    for (const auto& f : faces) {
      Face face{{}, {t[f[0]], t[f[1]], t[f[2]]}};
      face.key = face.oriented;
      std::sort(face.key.begin(), face.key.end());
      all.push_back(face);
    }
  }
  std::sort(all.begin(), all.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
  std::vector<Triangle> boundary;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t j = i + 1;
    while (j < all.size() && all[j].key == all[i].key) ++j;
    if (j == i + 1) boundary.push_back(all[i].oriented);
    i = j;
  }
  return boundary;
}

}  // namespace lope::geometry
