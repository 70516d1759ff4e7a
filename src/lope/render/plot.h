// Plots: curves, heat maps and grids of pictures, as PNG or SVG.
#pragma once

#include <lope/base/expected.h>
#include <lope/render/canvas.h>
#include <lope/render/colour.h>
#include <lope/render/image.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lope::render {

struct Axis {
  std::string label = {}, unit = {};  // shown as "label (unit)"
  bool logarithmic = false;
  bool whole_numbers = false;                 // no ticks between integers
  std::optional<double> low = {}, high = {};  // from the data where not given
};

// A curve. Points that are not finite, or not positive on a logarithmic axis, interrupt it.
struct Series {
  std::string name;  // empty: not in the legend
  std::vector<double> x, y;
  Colour colour = palette(0);
  double width = 2;
  double opacity = 1;
  bool dashed = false;
  bool markers = false;
};

// A dashed line across the plot at one height.
struct Level {
  std::string name;
  double y = 0;
  Colour colour = srgb(0x444A52);
};

struct LinePlot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Level> levels;
};

// Numbers on a rectangle of cells, row by row from the bottom; NaN cells are drawn as missing.
struct HeatMap {
  std::string title;
  Axis x, y;  // low and high are the outer edges of the cells; default 0 to columns, 0 to rows
  int columns = 0, rows = 0;
  std::vector<double> values;
  std::string value_label, value_unit;
  bool logarithmic = false;         // colours by the logarithm
  std::optional<double> low, high;  // of the colours
  ColourMap map = ColourMap::Tide;
};

// Pictures in rows and columns with titles beside and above them. All cells get the shape of the first
// picture.
struct PictureGrid {
  std::string title;
  std::vector<std::string> row_titles, column_titles;
  std::vector<Image> cells;  // row by row from the top; a picture without pixels leaves its cell empty
  std::string x_label, y_label;
  std::vector<std::pair<std::string, Colour>> key;  // what the colours mean, below the grid
  bool crisp = true;                                // enlarge pixels to squares
};

// Any of them; several plots of a figure stand side by side.
struct FigureOptions {
  int width = 1100, height = 700;  // pixels of the PNG, points of the SVG
};
Image draw_figure(const std::vector<LinePlot>& plots, const FigureOptions& options = {});
Image draw_figure(const HeatMap& map, const FigureOptions& options = {});
Image draw_figure(const PictureGrid& grid, const FigureOptions& options = {});

// Written as `stem`.png and `stem`.svg, each under a temporary name first. The folder must exist. An
// Environment error names the file; an Input error a heat map or grid whose cells do not match its rows and
// columns.
Expected<void> write_figure(const std::vector<LinePlot>& plots, const std::filesystem::path& stem,
                            const FigureOptions& options = {});
Expected<void> write_figure(const HeatMap& map, const std::filesystem::path& stem,
                            const FigureOptions& options = {});
Expected<void> write_figure(const PictureGrid& grid, const std::filesystem::path& stem,
                            const FigureOptions& options = {});

}  // namespace lope::render
