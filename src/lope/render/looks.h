// How materials look.
#pragma once

#include <lope/geometry/drawable.h>
#include <lope/render/picture.h>

#include <string>
#include <vector>

namespace lope::render {

// sRGB to light.
Colour to_colour(const Vec3& srgb);

// Of a material that light passes through ("water" of this sRGB colour, "glass"); none for all others.
std::optional<Clear> clear_look(const std::string& material, const Vec3& color);

// None where there is no pattern, nothing that it could lie on, or a kind that is not known.
std::optional<Pattern> pattern_of(const geometry::Pattern& pattern, const std::vector<float>& coordinates);

// Rods along the sharp edges of a container of glass, and nothing else of it: they show where it is.
Surface edge_rods(const std::vector<Vec3>& positions, const std::vector<geometry::Triangle>& triangles, double radius);

}  // namespace lope::render
