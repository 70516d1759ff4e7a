#include <lope/render/annotate.h>
#include <lope/render/plot.h>
#include <lope/render/run_plots.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "scratch_folder.h"
#include "shapes.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

class Plot : public ScratchFolder {};
class RunPlots : public ScratchFolder {};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Width or height from the header of a PNG file.
int png_size(const std::string& bytes, int offset) {
  int size = 0;
  for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(bytes[16 + offset + i]);
  return size;
}

// Pixels of nearly this colour: their number and mean row.
struct Trace {
  int count = 0;
  double mean_row = 0;
};
Trace trace(const Image& image, Colour colour) {
  const Bytes c = to_bytes(colour);
  Trace found;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const Bytes p = pixel(image, x, y);
      if (std::abs(p.r - c.r) + std::abs(p.g - c.g) + std::abs(p.b - c.b) > 12) continue;
      ++found.count;
      found.mean_row += y;
    }
  }
  if (found.count) found.mean_row /= found.count;
  return found;
}

LinePlot one_curve(std::vector<double> x, std::vector<double> y) {
  LinePlot plot;
  Series series;
  series.x = std::move(x);
  series.y = std::move(y);
  series.width = 4;
  plot.series = {series};
  return plot;
}

TEST_F(Plot, FilesHaveTheAskedSizeAndNothingElseIsLeft) {
  LinePlot plot = one_curve({0, 1, 2}, {3, 1, 2});
  plot.title = "A curve";
  ASSERT_TRUE(write_figure({plot, plot}, folder_ / "curve", {640, 360}));
  const std::string png = bytes_of(folder_ / "curve.png"), svg = bytes_of(folder_ / "curve.svg");
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png_size(png, 0), 640);
  EXPECT_EQ(png_size(png, 4), 360);
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(file_count(), 2u);
}

TEST_F(Plot, AFolderThatIsNotThereIsAnEnvironmentError) {
  const auto written = write_figure({one_curve({0, 1}, {0, 1})}, folder_ / "missing" / "curve");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().trouble, Trouble::Environment);
  EXPECT_NE(written.error().message.find("curve.png"), std::string::npos);
}

TEST(PlotDrawing, ALogAxisMakesPowersAStraightLine) {
  // On a logarithmic axis 1, 10, 100 lie on a line: its middle point is half-way. On a linear one it is far
  // below.
  LinePlot plot = one_curve({0, 1, 2}, {1, 10, 100});
  plot.series.push_back(plot.series[0]);
  plot.series[0] = one_curve({0.99, 1.01}, {10, 10}).series[0];
  plot.series[1] = one_curve({0, 0.02, 1.98, 2}, {1, 1, 100, 100}).series[0];
  plot.series[0].colour = srgb(0xFF0000);
  plot.series[1].colour = srgb(0x00FF00);
  plot.series[1].width = 0.001;
  const double linear = trace(draw_figure({plot}), srgb(0xFF0000)).mean_row;
  plot.y.logarithmic = true;
  const double logarithmic = trace(draw_figure({plot}), srgb(0xFF0000)).mean_row;
  plot.y.logarithmic = false;
  plot.series[0].y = {50.5, 50.5};
  const double middle = trace(draw_figure({plot}), srgb(0xFF0000)).mean_row;
  EXPECT_NEAR(logarithmic, middle, 6);
  EXPECT_GT(linear, middle + 100);
}

TEST(PlotDrawing, MissingPointsInterruptACurve) {
  const double gap = std::nan("");
  const int whole = trace(draw_figure({one_curve({0, 1, 2, 3, 4}, {0, 1, 1, 1, 0})}), palette(0)).count;
  const int cut = trace(draw_figure({one_curve({0, 1, 2, 3, 4}, {0, 1, gap, 1, 0})}), palette(0)).count;
  EXPECT_GT(cut, 0);
  EXPECT_LT(cut, 0.8 * whole);
}

TEST(PlotDrawing, OddDataAreDrawnWithoutComplaint) {
  const double gap = std::nan("");
  for (const bool logarithmic : {false, true}) {
    for (const auto& y :
         {std::vector<double>{}, {gap, gap}, {0, 0}, {-1, -2}, {5}, {1e300, 1e-300}, {1e308, -1e308}}) {
      LinePlot plot = one_curve(std::vector<double>(y.size(), 1), y);
      plot.x.logarithmic = plot.y.logarithmic = logarithmic;
      EXPECT_EQ(draw_figure({plot}, {300, 200}).rgb.size(), 300u * 200 * 3);
    }
  }
  EXPECT_EQ(draw_figure({one_curve({0, 1}, {0, 1})}, {10, 10}).rgb.size(), 300u);
}

TEST_F(Plot, AHeatMapPutsItsFirstRowAtTheBottom) {
  HeatMap map;
  map.columns = 2;
  map.rows = 2;
  map.values = {0, 0, 1, 1};
  const Image image = draw_figure(map, {600, 500});
  const Bytes low = pixel(image, 250, 380), high = pixel(image, 250, 120);
  EXPECT_EQ(brightness(low), brightness(to_bytes(colour_at(map.map, 0))));
  EXPECT_EQ(brightness(high), brightness(to_bytes(colour_at(map.map, 1))));
  map.values.pop_back();
  EXPECT_FALSE(write_figure(map, folder_ / "map").has_value());
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(Plot, APictureGridShowsEveryCell) {
  PictureGrid grid;
  grid.row_titles = {"plain", "robust"};
  grid.column_titles = {"1", "2", "3"};
  for (std::uint32_t i = 0; i < 6; ++i) {
    const Bytes c = to_bytes(srgb(0x10FF10 + i * 0x200000));
    Image cell{2, 1, {}};
    for (int k = 0; k < 2; ++k) cell.rgb.insert(cell.rgb.end(), {c.r, c.g, c.b});
    grid.cells.push_back(cell);
  }
  const Image image = draw_figure(grid);
  for (std::uint32_t i = 0; i < 6; ++i)
    EXPECT_GT(trace(image, srgb(0x10FF10 + i * 0x200000)).count, 1000) << i;
  grid.cells.pop_back();
  EXPECT_FALSE(write_figure(grid, folder_ / "grid").has_value());
}

std::vector<StepRecord> some_run(int steps) {
  std::vector<StepRecord> run;
  for (int i = 0; i < steps; ++i) {
    StepRecord step;
    step.step = i;
    step.time = 0.025 * (i + 1);
    step.tolerance = 1e-5;
    const int iterations = 4 + i % 5;
    for (int k = 0; k <= iterations; ++k) step.iterations.push_back({k, 0.03 * k, std::pow(10.0, -k)});
    step.kinetic_energy = std::sin(step.time);
    step.wall_seconds = 0.03 * iterations;
    run.push_back(step);
  }
  return run;
}

TEST_F(RunPlots, WriteFourFiguresInTwoFormats) {
  const auto files = write_run_plots(some_run(12), folder_);
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->size(), 8u);
  for (const auto& file : *files) EXPECT_GT(std::filesystem::file_size(file), 2000u) << file;
  for (const char* name : {"convergence", "energy", "momentum", "performance"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / (std::string(name) + ".svg"))) << name;
  }
  EXPECT_EQ(file_count(), 8u);
}

TEST_F(RunPlots, ARunWithoutIterationsOrStepsIsHandled) {
  EXPECT_TRUE(write_run_plots(std::vector<StepRecord>(1), folder_).has_value());
  EXPECT_FALSE(write_run_plots({}, folder_).has_value());
}

TEST(Annotate, LegendsAndCaptionsDrawInTheirCorners) {
  const Image before{400, 300, std::vector<std::uint8_t>(400 * 300 * 3, 90)};
  const auto changed = [&](const Image& after, int x0, int x1, int y0, int y1) {
    int count = 0;
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) count += brightness(pixel(after, x, y)) != 270;
    }
    return count;
  };
  Image legend = before;
  draw_legend(legend, {"stress", "kPa", ColourMap::Ember, 0, 12});
  EXPECT_GT(changed(legend, 250, 400, 0, 300), 1000);
  EXPECT_EQ(changed(legend, 0, 200, 0, 300), 0);
  EXPECT_GT(trace(legend, colour_at(ColourMap::Ember, 0.75)).count, 5);
  Image caption = before;
  draw_caption(caption, "step 12", "t = 0.3 s");
  EXPECT_GT(changed(caption, 0, 150, 240, 300), 50);
  EXPECT_EQ(changed(caption, 0, 400, 0, 150), 0);
  Image key = before;
  draw_legend(key, {"part", "", ColourMap::Categorical, 0, 3});
  EXPECT_GT(trace(key, colour_at(ColourMap::Categorical, 2)).count, 20);
}

}  // namespace
}  // namespace lope::render
