// What pictures and exports need of liquids: the solids around them, their surface, their plot in the plane.
#pragma once

#include <string>
#include <vector>

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/render/liquid_plot.h>
#include <lope/render/picture.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

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

// The looks of a liquid of this colour (sRGB) and of a glass wall.
render::Clear clear_liquid(const Vec3& color);
render::Clear clear_glass();

// Rods along the sharp edges of a container of glass, and nothing else of it: they show where it is.
render::Surface edge_rods(const std::vector<Vec3>& positions, const std::vector<geometry::Triangle>& triangles,
                          double radius);

// A field on the particles: one of theirs, or the "pressure" of the cell that they are in (NaN in no known cell).
// Empty if there is none.
std::vector<double> particle_values(const FrameBody& body, const BodyFrame& frame, const std::string& field);

// The plot of a liquid in the plane, with its cells coloured by "pressure", its particles by any other field, or
// none ("body"). The scale is left to the caller.
render::LiquidPlot liquid_plot(const FrameBody& body, const BodyFrame& frame, const std::string& color_by,
                               std::vector<geometry::PlacedSolid> solids, const geometry::Bounds& region);

}  // namespace lope::program
