#include <lope/base/errors.h>
#include <lope/base/parallel.h>
#include <lope/render/canvas.h>
#include <lope/render/cell_plot.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

namespace lope::render {
namespace {

const Colour page = {1, 1, 1}, empty = srgb(0xEEF4F8), full = srgb(0xA9D1EF), wall_colour = srgb(0x8D939B),
             edge = srgb(0x8FA6B8), surface_line = srgb(0x174A7C), pressing = srgb(0x1C66B0),
             letting_go = srgb(0xE8820C), point = srgb(0x1F5F9E);
constexpr int oversampling = 2;  // along each axis of a pixel

class Plotter {
 public:
  Plotter(const CellPlot& plot, int width, int height) : plot_(plot), width_(width), height_(height) {
    const Vec3 extent = plot.region.extent();
    pixel_ = std::max(extent.x() / (0.94 * width), extent.y() / (0.94 * height));
    for (std::size_t c = 0; c < plot.cells.size(); ++c) number_.emplace(key(plot.cells[c]), c);
  }

  Image draw() const {
    Image image;
    image.width = width_;
    image.height = height_;
    image.rgb.resize(3 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    parallel_for(static_cast<std::size_t>(height_), 4, [&](std::size_t y) {
      for (int x = 0; x < width_; ++x) {
        const Bytes bytes = to_bytes(pixel(x, static_cast<int>(y)));
        std::uint8_t* out =
            &image.rgb[3 * (y * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x))];
        out[0] = bytes.r;
        out[1] = bytes.g;
        out[2] = bytes.b;
      }
    });
    return plot_.points.empty() ? image : with_points(image);
  }

 private:
  static std::int64_t key(const std::array<int, 2>& cell) {
    return static_cast<std::int64_t>(cell[0]) * (std::int64_t{1} << 32) + cell[1];
  }

  Vec3 place(double x, double y) const {
    const Vec3 middle = plot_.region.center();
    return {middle.x() + (x - 0.5 * width_) * pixel_, middle.y() - (y - 0.5 * height_) * pixel_, 0};
  }

  std::array<int, 2> cell_at(const Vec3& x) const {
    const Vec3 u = (x - plot_.origin) / plot_.spacing;
    return {static_cast<int>(std::floor(u.x())), static_cast<int>(std::floor(u.y()))};
  }
  std::optional<std::size_t> find(const std::array<int, 2>& cell) const {
    const auto found = number_.find(key(cell));
    return found == number_.end() ? std::nullopt : std::optional(found->second);
  }

  Colour pixel(int x, int y) const {
    Colour sum;
    for (int i = 0; i < oversampling; ++i) {
      for (int j = 0; j < oversampling; ++j) {
        sum = sum + colour(place(x + (i + 0.5) / oversampling, y + (j + 0.5) / oversampling));
      }
    }
    return (1.0f / (oversampling * oversampling)) * sum;
  }

  Colour colour(const Vec3& x) const {
    const geometry::LevelSetSample wall = geometry::nearest_wall(plot_.walls, x);
    if (wall.value < 0) return plot_.walls_let_go && -wall.value < 3 * pixel_ ? rim(x, wall) : wall_colour;
    const std::array<int, 2> at = cell_at(x);
    const auto cell = find(at);
    if (!cell) return page;
    if (plot_.kinds[*cell] == CellPlot::Kind::Wall) return wall_colour;
    const bool wet = plot_.kinds[*cell] == CellPlot::Kind::Full;
    Colour fill = wet ? full : empty;
    if (wet && !plot_.values.empty()) fill = colour_of(plot_.map, plot_.values[*cell], plot_.low, plot_.high);
    if (on_surface(x)) return surface_line;
    return on_edge(x) ? mix(fill, edge, 0.45f) : fill;
  }

  // The wall's own colour, unless a full cell lies before it.
  Colour rim(const Vec3& x, const geometry::LevelSetSample& wall) const {
    const Vec3 before = x + (0.3 * plot_.spacing - wall.value) * wall.gradient;
    const auto cell = find(cell_at(before));
    if (!cell || plot_.kinds[*cell] != CellPlot::Kind::Full) return wall_colour;
    return plot_.separating[*cell] ? letting_go : pressing;
  }

  bool on_edge(const Vec3& x) const {
    if (plot_.spacing < 7 * pixel_) return false;
    const Vec3 u = (x - plot_.origin) / plot_.spacing;
    const double off = std::min(std::abs(u.x() - std::round(u.x())), std::abs(u.y() - std::round(u.y())));
    return off * plot_.spacing < 0.5 * pixel_;
  }

  // Within a pixel of φ = 0, φ bilinear between the middles of four cells. Cells that are not known are empty;
  // in walls φ is continued from the other cells.
  bool on_surface(const Vec3& x) const {
    if (plot_.level_set.empty()) return false;
    const Vec3 u = (x - plot_.origin) / plot_.spacing - Vec3(0.5, 0.5, 0);
    const double i = std::floor(u.x()), j = std::floor(u.y()), s = u.x() - i, t = u.y() - j;
    double phi[2][2], sum = 0;
    bool known = false, blocked[2][2];
    int open = 0;
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        const auto cell = find({static_cast<int>(i) + a, static_cast<int>(j) + b});
        blocked[a][b] =
            cell ? plot_.kinds[*cell] == CellPlot::Kind::Wall : in_wall(i + a + 0.5, j + b + 0.5);
        phi[a][b] = cell ? static_cast<double>(plot_.level_set[*cell]) : plot_.spacing;
        if (blocked[a][b]) continue;
        known |= cell.has_value();
        sum += phi[a][b];
        ++open;
      }
    }
    if (!known) return false;
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        if (!blocked[a][b]) continue;
        phi[a][b] = !blocked[1 - a][b] ? phi[1 - a][b] : !blocked[a][1 - b] ? phi[a][1 - b] : sum / open;
      }
    }
    const double value =
        (1 - s) * ((1 - t) * phi[0][0] + t * phi[0][1]) + s * ((1 - t) * phi[1][0] + t * phi[1][1]);
    const double dx = (1 - t) * (phi[1][0] - phi[0][0]) + t * (phi[1][1] - phi[0][1]);
    const double dy = (1 - s) * (phi[0][1] - phi[0][0]) + s * (phi[1][1] - phi[1][0]);
    const double slope = std::hypot(dx, dy) / plot_.spacing;
    return std::abs(value) < 0.8 * pixel_ * std::max(slope, 1e-9);
  }

  bool in_wall(double column, double row) const {
    const Vec3 x = plot_.origin + plot_.spacing * Vec3(column, row, 0);
    return geometry::nearest_wall(plot_.walls, x).value < 0;
  }

  Image with_points(const Image& image) const {
    Canvas canvas = Canvas::upon(image);
    const double radius = std::max(0.14 * plot_.spacing / pixel_, 0.7);
    const Vec3 middle = plot_.region.center();
    for (std::size_t i = 0; i < plot_.points.size(); ++i) {
      const Vec3 d = (plot_.points[i] - middle) / pixel_;
      const Colour c = plot_.point_values.empty()
                           ? point
                           : colour_of(plot_.map, plot_.point_values[i], plot_.low, plot_.high);
      canvas.dot({0.5 * width_ + d.x(), 0.5 * height_ - d.y()}, radius, c,
                 plot_.point_values.empty() ? 0.6 : 1.0);
    }
    return canvas.finish_image();
  }

  const CellPlot& plot_;
  int width_, height_;
  double pixel_ = 1;  // metres
  std::unordered_map<std::int64_t, std::size_t> number_;
};

}  // namespace

Expected<Image> draw_cells(const CellPlot& plot, int width, int height) {
  const std::size_t cells = plot.cells.size();
  const auto fits = [cells](std::size_t size) { return size == cells || size == 0; };
  if (plot.kinds.size() != cells || plot.separating.size() != cells || !fits(plot.level_set.size()) ||
      !fits(plot.values.size())) {
    return input_error("a plot of cells has {} cells, but other numbers of kinds or values", cells);
  }
  if (!plot.point_values.empty() && plot.point_values.size() != plot.points.size()) {
    return input_error("a plot of cells has {} values for {} points", plot.point_values.size(),
                       plot.points.size());
  }
  const Vec3 extent = plot.region.extent();
  if (!(extent.x() > 0 && extent.y() > 0) || !(plot.spacing > 0) || width < 1 || height < 1) {
    return input_error("a plot of cells needs a region, cells and a picture of some size");
  }
  return Plotter(plot, width, height).draw();
}

std::vector<NamedColour> cell_plot_key(const CellPlot& plot) {
  std::vector<NamedColour> key;
  if (plot.values.empty()) key.push_back({plot.names[1], full});
  key.push_back({plot.names[0], empty});
  key.push_back({plot.names[2], wall_colour});
  if (plot.walls_let_go) {
    key.push_back({"pressed upon", pressing});
    key.push_back({"let go", letting_go});
  }
  return key;
}

}  // namespace lope::render
