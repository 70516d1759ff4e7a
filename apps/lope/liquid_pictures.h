// What pictures need of liquids: their looks, the edges of their containers, their plot in the plane.
#pragma once

#include <lope/render/liquid_plot.h>
#include <lope/render/picture.h>

#include <string>
#include <vector>

#include "liquid_frames.h"

namespace lope::program {

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
