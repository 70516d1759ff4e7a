#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/render/plot.h>
#include <lope/render/ticks.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::render {
namespace {

const Colour ink = srgb(0x22262B);
const Colour soft_ink = srgb(0x5A616A);
const Colour grid_ink = srgb(0xE3E6EA);
const Colour axis_ink = srgb(0x8A9199);

constexpr double text_size = 15, title_size = 19, small_size = 13;

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

std::string full_label(const Axis& axis, int exponent) {
  std::string unit = times_power(exponent);
  if (!axis.unit.empty()) unit += (unit.empty() ? "" : " ") + axis.unit;
  return unit.empty() ? axis.label : axis.label + " (" + unit + ")";
}

// An axis with numbers: where values lie on the paper.
class Scale {
 public:
  Scale(const Axis& axis, double low, double high, int wanted) : logarithmic_(axis.logarithmic) {
    widen(axis, low, high);
    ticks_ = logarithmic_ ? log_ticks(low_, high_, wanted) : linear_ticks(low_, high_, wanted);
    if (axis.whole_numbers) {
      std::erase_if(ticks_.ticks, [](const Tick& tick) { return tick.value != std::round(tick.value); });
      if (ticks_.exponent == 0) {
        for (Tick& tick : ticks_.ticks) {
          if (!tick.label.empty()) tick.label = format_number(tick.value, 6);
        }
      }
    }
  }

  bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
  // 0 at the low end, 1 at the high end.
  double position(double value) const {
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }
  const Ticks& ticks() const { return ticks_; }

 private:
  // Data limits to axis limits: some air (none at a zero that the data rest upon), no empty range.
  void widen(const Axis& axis, double low, double high) {
    if (!(low <= high)) {
      low = logarithmic_ ? 0.1 : 0;
      high = logarithmic_ ? 10 : 1;
    }
    if (logarithmic_) {
      const double air = std::max(std::pow(high / low, 0.04), low == high ? 3.0 : 1.0);
      low_ = axis.low.value_or(low / air);
      high_ = axis.high.value_or(high * air);
      if (!(low_ > 0)) low_ = high_ > 0 ? 1e-3 * high_ : 1e-3;
      if (!(high_ > low_)) high_ = 10 * low_;
      return;
    }
    const double range = high - low;
    const double air = range > 1e-12 * std::abs(high) ? 0.04 * range : std::max(0.5 * std::abs(high), 0.5);
    low_ = axis.low.value_or(low == 0 ? 0 : low - air);
    high_ = axis.high.value_or(high == 0 && low < 0 ? 0 : high + air);
    if (!(high_ > low_)) high_ = low_ + 1;
  }

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  Ticks ticks_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

double widest_label(Canvas& canvas, const Ticks& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks.ticks) {
    widest = std::max(widest, canvas.text_width(tick.label, {.size = text_size}));
  }
  return widest;
}

double pixel_center(double x) { return std::floor(x) + 0.5; }

// Grid lines, ticks, labels and the two axis titles around `area`.
void draw_axes(Canvas& canvas, const Box& area, const Axis& x_axis, const Axis& y_axis, const Scale& x,
               const Scale& y, double label_width, bool grid) {
  const Stroke grid_line = {.colour = grid_ink, .width = 1};
  const Stroke mark = {.colour = axis_ink, .width = 1};
  double last = -1e9;
  for (const Tick& tick : x.ticks().ticks) {
    const double at = pixel_center(area.x + area.width * x.position(tick.value));
    if (grid && !tick.label.empty()) canvas.line({at, area.y}, {at, area.bottom()}, grid_line);
    canvas.line({at, area.bottom()}, {at, area.bottom() + (tick.label.empty() ? 3 : 6)}, mark);
    const TextStyle style = {.size = text_size, .horizontal = Horizontal::Middle, .vertical = Vertical::Top};
    const double half = 0.5 * canvas.text_width(tick.label, style);
    if (at - half < last + 8) continue;  // would touch its neighbour
    canvas.text({at, area.bottom() + 11}, tick.label, style);
    if (!tick.label.empty()) last = at + half;
  }
  for (const Tick& tick : y.ticks().ticks) {
    const double at = pixel_center(area.bottom() - area.height * y.position(tick.value));
    if (grid && !tick.label.empty()) canvas.line({area.x, at}, {area.right(), at}, grid_line);
    canvas.line({area.x, at}, {area.x - (tick.label.empty() ? 3 : 6), at}, mark);
    canvas.text({area.x - 11, at}, tick.label, {.size = text_size, .horizontal = Horizontal::Right});
  }
  canvas.line({pixel_center(area.x), area.y}, {pixel_center(area.x), area.bottom()}, mark);
  canvas.line({area.x, pixel_center(area.bottom())}, {area.right(), pixel_center(area.bottom())}, mark);
  canvas.text(
      {area.x + 0.5 * area.width, area.bottom() + 40}, full_label(x_axis, x.ticks().exponent),
      {.size = text_size, .colour = soft_ink, .horizontal = Horizontal::Middle, .vertical = Vertical::Top});
  canvas.text({area.x - label_width - 30, area.y + 0.5 * area.height}, full_label(y_axis, y.ticks().exponent),
              {.size = text_size, .colour = soft_ink, .horizontal = Horizontal::Middle, .upwards = true});
}

void draw_series(Canvas& canvas, const Box& area, const Scale& x, const Scale& y, const Series& series) {
  std::vector<Point2> run;
  const Stroke stroke = {series.colour, series.width, series.opacity, series.dashed};
  const auto flush = [&] {
    canvas.polyline(run, stroke);
    if (series.markers || run.size() == 1) {
      for (const Point2& p : run) canvas.dot(p, 1.6 * series.width, series.colour, series.opacity);
    }
    run.clear();
  };
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (!x.shows(series.x[i]) || !y.shows(series.y[i])) {
      flush();
      continue;
    }
    // Far outside points are pulled near, which vector drawings need; the clip hides them either way.
    const double u = std::clamp(x.position(series.x[i]), -10.0, 11.0);
    const double v = std::clamp(y.position(series.y[i]), -10.0, 11.0);
    run.push_back({area.x + area.width * u, area.bottom() - area.height * v});
  }
  flush();
}

struct LegendEntry {
  std::string name;
  Stroke stroke;
};

std::vector<LegendEntry> legend_of(const LinePlot& plot) {
  std::vector<LegendEntry> entries;
  for (const Series& s : plot.series) {
    if (!s.name.empty()) entries.push_back({s.name, {s.colour, std::max(s.width, 2.0), 1, s.dashed}});
  }
  for (const Level& level : plot.levels) {
    if (!level.name.empty()) entries.push_back({level.name, {level.colour, 1.6, 1, true}});
  }
  return entries;
}

// The legend in rows from the left, no wider than `width`; without `draw` only its height is found.
double lay_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, Point2 at, double width,
                  bool draw) {
  if (entries.empty()) return 0;
  const TextStyle style = {.size = text_size};
  double x = 0, y = 11;
  for (const LegendEntry& entry : entries) {
    const double size = 26 + 8 + canvas.text_width(entry.name, style) + 22;
    if (x > 0 && x + size - 22 > width) {
      x = 0;
      y += 22;
    }
    if (draw) {
      canvas.line({at.x + x, at.y + y}, {at.x + x + 26, at.y + y}, entry.stroke);
      canvas.text({at.x + x + 34, at.y + y}, entry.name, style);
    }
    x += size;
  }
  return y + 15;
}

void draw_plot(Canvas& canvas, const Box& outer, const LinePlot& plot) {
  Range x_range, y_range;
  for (const Series& s : plot.series) {
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!std::isfinite(s.y[i]) || (plot.y.logarithmic && s.y[i] <= 0)) continue;
      x_range.add(s.x[i], plot.x.logarithmic);
      y_range.add(s.y[i], plot.y.logarithmic);
    }
  }
  for (const Level& level : plot.levels) y_range.add(level.y, plot.y.logarithmic);
  const Scale x(plot.x, x_range.low, x_range.high, std::clamp(static_cast<int>(outer.width / 110), 3, 10));
  const Scale y(plot.y, y_range.low, y_range.high, std::clamp(static_cast<int>(outer.height / 80), 3, 10));

  const double label_width = widest_label(canvas, y.ticks());
  const double title_height = plot.title.empty() ? 12 : 44;
  Box area;
  area.x = outer.x + label_width + 52;
  area.width = outer.right() - 24 - area.x;
  const std::vector<LegendEntry> entries = legend_of(plot);
  const double legend_height = lay_legend(canvas, entries, {}, area.width, false);
  area.y = outer.y + title_height + legend_height + 6;
  area.height = outer.bottom() - 68 - area.y;
  if (area.width < 20 || area.height < 20) return;

  canvas.text({area.x, outer.y + 16}, plot.title,
              {.size = title_size, .colour = ink, .vertical = Vertical::Top, .bold = true});
  lay_legend(canvas, entries, {area.x, outer.y + title_height}, area.width, true);
  draw_axes(canvas, area, plot.x, plot.y, x, y, label_width, true);
  canvas.clip({area.x - 2, area.y - 2}, area.width + 4, area.height + 4);
  for (const Series& s : plot.series) draw_series(canvas, area, x, y, s);
  for (const Level& level : plot.levels) {
    if (!y.shows(level.y)) continue;
    const double at = area.bottom() - area.height * y.position(level.y);
    canvas.line({area.x, at}, {area.right(), at}, {level.colour, 1.6, 1, true});
  }
  canvas.unclip();
}

void paint(Canvas& canvas, const std::vector<LinePlot>& plots, const FigureOptions& options) {
  const double width =
      static_cast<double>(options.width) / static_cast<double>(std::max<std::size_t>(plots.size(), 1));
  for (std::size_t i = 0; i < plots.size(); ++i) {
    draw_plot(canvas, {width * static_cast<double>(i), 0, width, static_cast<double>(options.height)},
              plots[i]);
  }
}

void paint(Canvas& canvas, const HeatMap& map, const FigureOptions& options) {
  Range range;
  for (const double v : map.values) range.add(v, map.logarithmic);
  const Axis colour_axis = {
      .label = map.value_label,
      .unit = map.value_unit,
      .logarithmic = map.logarithmic,
      .low = map.low ? map.low : std::optional(range.low <= range.high ? range.low : 0.1),
      .high = map.high ? map.high : std::optional(range.low <= range.high ? range.high : 1)};
  const Scale colours(colour_axis, range.low, range.high, 6);
  Axis x_axis = map.x, y_axis = map.y;
  x_axis.low = map.x.low.value_or(0);
  x_axis.high = map.x.high.value_or(map.columns);
  y_axis.low = map.y.low.value_or(0);
  y_axis.high = map.y.high.value_or(map.rows);
  const Scale x(x_axis, 0, 1, 7), y(y_axis, 0, 1, 7);

  Image cells{map.columns, map.rows, {}};
  cells.rgb.reserve(3 * map.values.size());
  for (int row = map.rows - 1; row >= 0; --row) {
    for (int column = 0; column < map.columns; ++column) {
      const double value = map.values[static_cast<std::size_t>(row) * map.columns + column];
      const double t = colours.shows(value) ? colours.position(value) : std::nan("");
      const Bytes c =
          to_bytes(map.map == ColourMap::Categorical ? colour_at(map.map, value) : colour_at(map.map, t));
      cells.rgb.insert(cells.rgb.end(), {c.r, c.g, c.b});
    }
  }
  const double label_width = widest_label(canvas, y.ticks());
  const double colour_width = widest_label(canvas, colours.ticks());
  const Box area = {label_width + 52, 54, options.width - label_width - 52 - 24 - 18 - 62 - colour_width,
                    options.height - 54.0 - 68};
  if (area.width < 20 || area.height < 20) return;
  canvas.text({area.x, 16}, map.title,
              {.size = title_size, .colour = ink, .vertical = Vertical::Top, .bold = true});
  canvas.picture(cells, {area.x, area.y}, area.width, area.height, true);
  draw_axes(canvas, area, x_axis, y_axis, x, y, label_width, false);

  Image ramp{1, 256, {}};
  for (int i = 0; i < 256; ++i) {
    const Bytes c = to_bytes(colour_at(map.map, 1 - i / 255.0));
    ramp.rgb.insert(ramp.rgb.end(), {c.r, c.g, c.b});
  }
  const Box bar = {area.right() + 24, area.y, 18, area.height};
  canvas.picture(ramp, {bar.x, bar.y}, bar.width, bar.height, false);
  for (const Tick& tick : colours.ticks().ticks) {
    const double at = pixel_center(bar.bottom() - bar.height * colours.position(tick.value));
    canvas.line({bar.right(), at}, {bar.right() + (tick.label.empty() ? 3 : 6), at}, {.colour = axis_ink});
    canvas.text({bar.right() + 11, at}, tick.label, {.size = text_size});
  }
  canvas.text({bar.right() + colour_width + 28, bar.y + 0.5 * bar.height},
              full_label(colour_axis, colours.ticks().exponent),
              {.size = text_size, .colour = soft_ink, .horizontal = Horizontal::Middle, .upwards = true});
}

void paint(Canvas& canvas, const PictureGrid& grid, const FigureOptions& options) {
  const std::size_t columns = grid.column_titles.size(), rows = grid.row_titles.size();
  if (columns == 0 || rows == 0) return;
  const TextStyle heading = {.size = text_size, .horizontal = Horizontal::Middle};
  double rows_width = 0;
  for (const std::string& title : grid.row_titles) {
    rows_width = std::max(rows_width, canvas.text_width(title, heading));
  }
  constexpr double gap = 10;
  const double left = 20 + (grid.y_label.empty() ? 0 : 26) + rows_width + 14;
  const double top = (grid.title.empty() ? 12 : 48) + (grid.x_label.empty() ? 0 : 24) + 28;
  const double foot = grid.key.empty() ? 16 : 48;
  const double cell_width =
      (options.width - left - 20 - gap * static_cast<double>(columns - 1)) / double(columns);
  const double cell_height =
      (options.height - top - foot - gap * static_cast<double>(rows - 1)) / double(rows);
  if (cell_width < 2 || cell_height < 2) return;
  double aspect = 1;
  for (const Image& cell : grid.cells) {
    if (cell.width > 0 && cell.height > 0) {
      aspect = static_cast<double>(cell.width) / cell.height;
      break;
    }
  }
  const double width = std::min(cell_width, cell_height * aspect), height = width / aspect;
  const double total = width * double(columns) + gap * double(columns - 1);

  canvas.text({20, 16}, grid.title,
              {.size = title_size, .colour = ink, .vertical = Vertical::Top, .bold = true});
  canvas.text({left + 0.5 * total, top - 42}, grid.x_label,
              {.size = text_size, .colour = soft_ink, .horizontal = Horizontal::Middle});
  const double total_height = height * double(rows) + gap * double(rows - 1);
  canvas.text({24, top + 0.5 * total_height}, grid.y_label,
              {.size = text_size, .colour = soft_ink, .horizontal = Horizontal::Middle, .upwards = true});
  for (std::size_t c = 0; c < columns; ++c) {
    canvas.text({left + (width + gap) * double(c) + 0.5 * width, top - 14}, grid.column_titles[c], heading);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = top + (height + gap) * double(r);
    canvas.text({left - 14, y + 0.5 * height}, grid.row_titles[r],
                {.size = text_size, .horizontal = Horizontal::Right});
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = left + (width + gap) * double(c);
      canvas.picture(grid.cells[r * columns + c], {x, y}, width, height, grid.crisp);
      canvas.frame({x, y}, width, height, {.colour = axis_ink, .width = 1});
    }
  }
  double x = left;
  const double y = top + total_height + 26;
  for (const auto& [name, colour] : grid.key) {
    canvas.rectangle({x, y - 7}, 14, 14, colour);
    canvas.frame({x, y - 7}, 14, 14, {.colour = axis_ink, .width = 1});
    canvas.text({x + 22, y}, name, {.size = small_size});
    x += 22 + canvas.text_width(name, {.size = small_size}) + 24;
  }
}

Expected<void> check(const std::vector<LinePlot>&) { return {}; }

Expected<void> check(const HeatMap& map) {
  if (map.columns > 0 && map.rows > 0 &&
      map.values.size() == static_cast<std::size_t>(map.columns) * static_cast<std::size_t>(map.rows)) {
    return {};
  }
  return input_error("heat map '{}': {} values for {} columns and {} rows", map.title, map.values.size(),
                     map.columns, map.rows);
}

Expected<void> check(const PictureGrid& grid) {
  if (grid.cells.size() == grid.row_titles.size() * grid.column_titles.size()) return {};
  return input_error("picture grid '{}': {} pictures for {} rows and {} columns", grid.title,
                     grid.cells.size(), grid.row_titles.size(), grid.column_titles.size());
}

template <class Figure>
Image draw_any(const Figure& figure, const FigureOptions& options) {
  Canvas canvas = Canvas::blank(options.width, options.height);
  if (check(figure)) paint(canvas, figure, options);
  return canvas.finish_image();
}

template <class Figure>
Expected<void> write_any(const Figure& figure, const std::filesystem::path& stem,
                         const FigureOptions& options) {
  if (auto checked = check(figure); !checked) return checked;
  if (auto png = io::write_png(draw_any(figure, options), stem.string() + ".png"); !png) return png;
  Canvas canvas = Canvas::vector(options.width, options.height);
  paint(canvas, figure, options);
  return io::write_file(stem.string() + ".svg", canvas.finish_svg());
}

}  // namespace

Image draw_figure(const std::vector<LinePlot>& plots, const FigureOptions& options) {
  return draw_any(plots, options);
}
Image draw_figure(const HeatMap& map, const FigureOptions& options) { return draw_any(map, options); }
Image draw_figure(const PictureGrid& grid, const FigureOptions& options) { return draw_any(grid, options); }

Expected<void> write_figure(const std::vector<LinePlot>& plots, const std::filesystem::path& stem,
                            const FigureOptions& options) {
  return write_any(plots, stem, options);
}
Expected<void> write_figure(const HeatMap& map, const std::filesystem::path& stem,
                            const FigureOptions& options) {
  return write_any(map, stem, options);
}
Expected<void> write_figure(const PictureGrid& grid, const std::filesystem::path& stem,
                            const FigureOptions& options) {
  return write_any(grid, stem, options);
}

}  // namespace lope::render
