// Bodies that several benchmarks use.
#pragma once

#include <array>

#include <lope/geometry/shapes.h>
#include <lope/matter/solid/solid.h>
#include <lope/step/model.h>

namespace lope::bench {

inline matter::SolidBody elastic_body(geometry::Mesh mesh, int dimension, double young, double poisson,
                                      double density = 1000) {
  matter::SolidBody body;
  body.name = "body";
  body.dimension = dimension;
  body.mesh = std::move(mesh);
  body.materials = {material::from_young_poisson(material::Density::FixedCorotated, young, poisson)};
  body.density_of_material = {density};
  return body;
}

inline Expected<geometry::Mesh> lattice_box(const Vec3& size, std::array<int, 3> nodes) {
  geometry::MeshingOptions options;
  options.lattice = nodes;
  return geometry::tetrahedralize(geometry::Box{Vec3::Zero(), size}, 1, options);
}

inline matter::SolidBody& first_solid(step::Model& model) { return as<matter::SolidBody>(model.bodies.front()); }
inline const matter::SolidBody& first_solid(const step::Model& model) {
  return as<matter::SolidBody>(model.bodies.front());
}

// The vertices whose coordinate along `axis` is within `width` of the smallest (side −1) or largest (+1) one.
inline std::vector<int> end_vertices(const geometry::Mesh& mesh, int axis, int side, double width) {
  const geometry::Bounds box = geometry::bounds(mesh.vertices);
  std::vector<int> result;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const double x = mesh.vertices[i][axis];
    if (side < 0 ? x <= box.min[axis] + width : x >= box.max[axis] - width) result.push_back(static_cast<int>(i));
  }
  return result;
}

}  // namespace lope::bench
