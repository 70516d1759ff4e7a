// Small models for the verification tests.
#pragma once

#include <gtest/gtest.h>
#include <support/kinds.h>

#include <cmath>

#include <lope/geometry/shapes.h>
#include <lope/step/simulation.h>

namespace lope::verification {

inline matter::SolidBody solid(geometry::Mesh mesh, int dimension, double young, double poisson = 0.3,
                             material::Density density = material::Density::FixedCorotated) {
  matter::SolidBody body;
  body.name = "body";
  body.dimension = dimension;
  body.mesh = std::move(mesh);
  body.materials = {material::from_young_poisson(density, young, poisson)};
  body.density_of_material = {1000};
  return body;
}

inline geometry::Mesh box(const Vec3& size, std::array<int, 3> lattice) {
  geometry::MeshingOptions options;
  options.lattice = lattice;
  return geometry::tetrahedralize(geometry::Box{Vec3::Zero(), size}, 1, options).value();
}

inline geometry::Mesh rectangle(const Vec2& size, std::array<int, 2> lattice) {
  geometry::PlanarOptions options;
  options.lattice = lattice;
  return geometry::triangulate(geometry::Rectangle{Vec2::Zero(), size}, 1, options).value();
}

// Velocities of a rigid rotation about z through the origin, plus a shift.
inline std::vector<Vec3> spin(const geometry::Mesh& mesh, double rate, const Vec3& shift = Vec3::Zero()) {
  std::vector<Vec3> velocities;
  for (const Vec3& p : mesh.vertices) velocities.emplace_back(Vec3(-rate * p[1], rate * p[0], 0) + shift);
  return velocities;
}

// A stopping test near round-off.
inline void solve_tightly(step::Model& model) {
  model.solver.stopping = {optimize::StoppingTest::Displacement, 1e-11};
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace lope::verification
