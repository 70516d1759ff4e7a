// The zero surface of an OpenVDB grid of distances as a mesh, outward oriented. For the sources of this
// folder only: it includes OpenVDB, which nobody else should have to.
#pragma once

#include <lope/geometry/mesh.h>

#include <cstdint>
#include <vector>

#include <openvdb/openvdb.h>
#include <openvdb/tools/VolumeToMesh.h>

namespace lope::geometry {

inline Mesh grid_surface(const openvdb::FloatGrid& grid) {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(grid, points, triangles, quads, 0.0);
  Mesh mesh;
  mesh.vertices.reserve(points.size());
  mesh.triangles.reserve(triangles.size() + 2 * quads.size());
  for (const openvdb::Vec3s& p : points) mesh.vertices.emplace_back(p.x(), p.y(), p.z());
  // OpenVDB's faces turn clockwise seen from outside.
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    mesh.triangles.push_back({static_cast<int>(a), static_cast<int>(c), static_cast<int>(b)});
  };
  for (const openvdb::Vec3I& t : triangles) add(t[0], t[1], t[2]);
  for (const openvdb::Vec4I& q : quads) {
    add(q[0], q[1], q[2]);
    add(q[0], q[2], q[3]);
  }
  return mesh;
}

}  // namespace lope::geometry
