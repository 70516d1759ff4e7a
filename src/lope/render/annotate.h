// Words and colour bars on a finished picture. Sizes follow the picture's height.
#pragma once

#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <string>
#include <vector>

namespace lope::render {

// A colour bar at the right edge with ticks, a title and a unit, on a light panel.
struct Legend {
  std::string title, unit;
  ColourMap map = ColourMap::Tide;
  double low = 0, high = 1;
};
void draw_legend(Image& image, const Legend& legend);

// A list of named colours at the right edge: bodies, or the first categories of a partition.
struct NamedColour {
  std::string name;
  Colour colour;
};
void draw_key(Image& image, const std::vector<NamedColour>& entries);

// A line of words at the lower left, such as "step 120   t = 3.00 s", and a smaller second one (may be
// empty).
void draw_caption(Image& image, const std::string& words, const std::string& smaller = "");

}  // namespace lope::render
