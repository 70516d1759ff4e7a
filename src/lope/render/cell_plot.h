// A plot of cells in the plane: what each of them is, where what fills them lets go of walls, the points in them.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/render/annotate.h>
#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lope::render {

struct CellPlot {
  enum class Kind : std::uint8_t { Empty, Full, Wall };  // as in frames (docs/formats.md)

  geometry::Bounds region;  // shown, with a small margin; x and y count
  double spacing = 0;       // side of a cell
  Vec3 origin = Vec3::Zero();
  // Per cell: its place, what it is, whether it lets go of its wall, the distance from the free surface at its middle.
  std::vector<std::array<int, 2>> cells;
  std::vector<Kind> kinds;
  std::vector<bool> separating;
  std::vector<float> level_set;
  std::vector<float> values;  // shown on full cells by the map; empty: their colour
  std::array<std::string, 3> names = {"empty", "full", "wall"};  // of the kinds, in the key

  std::vector<geometry::PlacedWall> walls;
  bool walls_let_go = true;  // whether it is worth showing where they do
  std::vector<Vec3> points;
  std::vector<float> point_values;  // shown on points by the map; empty: one colour

  ColourMap map = ColourMap::Tide;
  double low = 0, high = 1;
};

// Walls are drawn exactly, from their level sets; the rim of one that can let go is marked where something
// presses upon it (blue) and where it has let go (orange). Cells are squares with thin edges where they are
// large enough to be seen, the free surface is a dark line. Fails where numbers of values do not match, or
// the region is empty.
Expected<Image> draw_cells(const CellPlot& plot, int width, int height);

// What the colours mean; for draw_key.
std::vector<NamedColour> cell_plot_key(const CellPlot& plot);

}  // namespace lope::render
