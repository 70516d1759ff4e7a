// What every test of a mesh asks.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lope::geometry {

inline double total_volume(const Mesh& mesh) {
  double volume = 0;
  for (const Tetrahedron& t : mesh.tetrahedra) volume += six_volumes(mesh.vertices, t) / 6;
  return volume;
}

inline double smallest_volume(const Mesh& mesh) {
  double smallest = 1e300;
  for (const Tetrahedron& t : mesh.tetrahedra)
    smallest = std::min(smallest, six_volumes(mesh.vertices, t) / 6);
  return smallest;
}

inline double signed_area(const Mesh& mesh, const Triangle& t) {
  const Vec3 a = mesh.vertices[t[1]] - mesh.vertices[t[0]], b = mesh.vertices[t[2]] - mesh.vertices[t[0]];
  return 0.5 * (a.x() * b.y() - a.y() * b.x());
}

inline Mesh boundary_surface(const Mesh& mesh) {
  Mesh surface{mesh.vertices, boundary_triangles(mesh.tetrahedra), {}, {}};
  drop_unused_vertices(surface);
  return surface;
}

// V − E + F of a triangle mesh: 2 per sphere, 0 per torus, 1 for a disc.
inline int euler_characteristic(const Mesh& surface) {
  std::set<Edge> edges;
  std::set<int> vertices;
  for (const Triangle& t : surface.triangles) {
    for (int i = 0; i < 3; ++i) {
      edges.insert({std::min(t[i], t[(i + 1) % 3]), std::max(t[i], t[(i + 1) % 3])});
      vertices.insert(t[i]);
    }
  }
  return static_cast<int>(vertices.size()) - static_cast<int>(edges.size()) +
         static_cast<int>(surface.triangles.size());
}

// Every edge twice, once in each direction.
inline bool is_watertight(const Mesh& surface) {
  std::multiset<Edge> directed;
  for (const Triangle& t : surface.triangles) {
    for (int i = 0; i < 3; ++i) directed.insert({t[i], t[(i + 1) % 3]});
  }
  return std::all_of(directed.begin(), directed.end(), [&](const Edge& e) {
    return directed.count(e) == 1 && directed.count({e[1], e[0]}) == 1;
  });
}

inline bool uses_every_vertex(const Mesh& mesh) {
  const std::vector<bool> used = used_vertices(mesh);
  return std::find(used.begin(), used.end(), false) == used.end();
}

inline bool same_bits(const Mesh& a, const Mesh& b) {
  return a.vertices == b.vertices && a.triangles == b.triangles && a.tetrahedra == b.tetrahedra &&
         a.region == b.region;
}

// A cube [0,1]³ of 12 triangles, outward.
inline Mesh cube_surface() {
  Mesh cube;
  for (int i = 0; i < 8; ++i) cube.vertices.emplace_back(i & 1, (i >> 1) & 1, i >> 2);
  cube.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return cube;
}

inline void append(Mesh& mesh, const Mesh& other) {
  const int offset = static_cast<int>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (Triangle t : other.triangles) {
    for (int& v : t) v += offset;
    mesh.triangles.push_back(t);
  }
  for (Tetrahedron t : other.tetrahedra) {
    for (int& v : t) v += offset;
    mesh.tetrahedra.push_back(t);
  }
}

}  // namespace lope::geometry
