// A plot of a liquid in the plane: what its grid takes each cell for, where it lets go of walls, its
// particles.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/render/annotate.h>
#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lope::render {

struct LiquidPlot {
  enum class Kind : std::uint8_t { Air, Liquid, Solid };  // as in frames (docs/formats.md)

  geometry::Bounds region;  // shown, with a small margin; x and y count
  double spacing = 0;       // side of a cell
  Vec3 origin = Vec3::Zero();
  // Per cell: its place, what it is, whether it lets go of its wall, the liquid's level set at its middle.
  std::vector<std::array<int, 2>> cells;
  std::vector<Kind> kinds;
  std::vector<bool> separating;
  std::vector<float> level_set;
  std::vector<float> values;  // shown on liquid cells by the map; empty: the colour of liquid

  std::vector<geometry::PlacedSolid> solids;
  bool walls_let_go = true;  // whether it is worth showing where they do
  std::vector<Vec3> particles;
  std::vector<float> particle_values;  // shown on particles by the map; empty: one colour

  ColourMap map = ColourMap::Tide;
  double low = 0, high = 1;
};

// Solids are drawn exactly, from their level sets; the rim of a solid that can let go is marked where liquid
// presses upon it (blue) and where it has let go (orange). Cells are squares with thin edges where they are
// large enough to be seen, the free surface is a dark line. Fails where numbers of values do not match, or
// the region is empty.
Expected<Image> draw_liquid(const LiquidPlot& plot, int width, int height);

// What the colours mean; for draw_key.
std::vector<NamedColour> liquid_plot_key(const LiquidPlot& plot);

}  // namespace lope::render
