#include "liquid_frames.h"

#include <lope/scene/obstacles.h>

namespace lope::program {

Expected<SceneSolids> SceneSolids::create(const scene::Scene& scene, int dimension) {
  SceneSolids solids;
  if (!scene.resolved.has("obstacle")) return solids;
  for (const scene::Value& value : scene.resolved["obstacle"].items) {
    auto obstacle = scene::build_obstacle(value, dimension);
    if (!obstacle) return forward_error(obstacle);
    solids.obstacles_.push_back(std::move(*obstacle));
  }
  return solids;
}

std::vector<geometry::PlacedSolid> SceneSolids::at(double time) const {
  std::vector<geometry::PlacedSolid> placed;
  for (const step::Obstacle& obstacle : obstacles_) placed.push_back({obstacle.shape, obstacle.pose(time)});
  return placed;
}

Expected<geometry::ParticleSurface> liquid_surface(const FrameBody& body, const BodyFrame& frame,
                                                   std::vector<geometry::PlacedSolid> solids,
                                                   double overlap) {
  geometry::ParticleSurfaceOptions options;
  options.spacing = body.spacing;
  options.solids = std::move(solids);
  options.overlap = overlap;
  return geometry::ParticleSurface::create(frame.positions, options);
}

}  // namespace lope::program
