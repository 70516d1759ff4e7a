// Small scenes of material points for tests.
#pragma once

#include <lope/geometry/level_set/analytic.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/step/simulation.h>

#include <utility>

namespace lope::matter {

inline geometry::LevelSetPtr box(const Vec3& low, const Vec3& high) {
  return *geometry::level_set(geometry::Box{0.5 * (low + high), high - low});
}
inline geometry::LevelSetPtr floor_at(double y) {
  return *geometry::level_set(geometry::HalfSpace{Vec3(0, y, 0), Vec3::UnitY()});
}

inline Obstacle obstacle(geometry::LevelSetPtr shape, double friction = 0) {
  Obstacle made;
  made.name = "obstacle";
  made.shape = std::move(shape);
  made.friction = friction;
  return made;
}

inline mpm::Material elastic(double young, double density = 1000) {
  return {material::from_young_poisson(material::Density::FixedCorotated, young, 0.3), {}, density};
}

inline mpm::Part part(geometry::LevelSetPtr shape, mpm::Material material) {
  mpm::Part made;
  made.name = "block";
  made.shape = std::move(shape);
  made.material = material;
  made.per_cell = 6;
  return made;
}

inline MpmBody block(double young) {
  MpmBody body;
  body.name = "points";
  body.description.dx = 0.1;
  body.description.parts = {part(box(Vec3(0, 0, 0), Vec3(0.5, 0.4, 0.3)), elastic(young))};
  return body;
}

inline step::Model model_of(const MpmBody& body, const Vec3& gravity = Vec3::Zero()) {
  step::Model model;
  model.gravity = gravity;
  model.step = 0.02;
  model.add(body);
  return model;
}

inline const mpm::Particles<3>& points(const step::Simulation& simulation) {
  return std::get<mpm::Particles<3>>(as<MpmState>(simulation.state().bodies[0]).particles);
}

inline void add_floor(step::Model& model, double y, mpm::Boundary kind, double friction = 0) {
  model.obstacles.push_back(obstacle(floor_at(y), friction));
  as<MpmBody>(model.bodies[0]).description.boundaries.push_back(kind);
}

}  // namespace lope::matter
