// What pictures and exports need of liquids: the solids around them and their surface.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <vector>

#include "frames.h"

namespace lope::program {

// The obstacles of a scene as level sets, built once.
class SceneSolids {
 public:
  static Expected<SceneSolids> create(const scene::Scene& scene, int dimension);
  std::vector<geometry::PlacedSolid> at(double time) const;

 private:
  std::vector<step::Obstacle> obstacles_;
};

// The surface of the particles. `overlap`: how far it enters the solids (see ParticleSurfaceOptions).
Expected<geometry::ParticleSurface> liquid_surface(const FrameBody& body, const BodyFrame& frame,
                                                   std::vector<geometry::PlacedSolid> solids, double overlap);

}  // namespace lope::program
