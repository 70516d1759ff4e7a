#include <lope/render/annotate.h>
#include <lope/render/canvas.h>
#include <lope/render/ticks.h>

#include <algorithm>
#include <cmath>

namespace lope::render {
namespace {

constexpr double panel_opacity = 0.72;

// Text size that suits the picture: 20 at 720 lines.
double scale_of(const Image& image) { return std::clamp(image.height / 720.0, 0.45, 4.0); }

}  // namespace

void draw_legend(Image& image, const Legend& legend) {
  if (legend.map == ColourMap::Categorical) {
    std::vector<NamedColour> entries;
    const double first = std::round(std::min(legend.low, legend.high));
    const double last = std::min(std::round(std::max(legend.low, legend.high)), first + 11);
    for (double i = first; i <= last; ++i) {
      entries.push_back({legend.title + " " + format_number(i), colour_at(legend.map, i)});
    }
    draw_key(image, entries);
    return;
  }
  const double s = scale_of(image);
  Canvas canvas = Canvas::upon(image);
  const TextStyle label = {.size = 15 * s};
  const TextStyle heading = {.size = 16 * s, .vertical = Vertical::Top, .bold = true};
  const TextStyle unit_style = {.size = 14 * s, .colour = srgb(0x4A5058), .vertical = Vertical::Top};

  double low = legend.low, high = legend.high;
  if (!(high > low)) {
    const double half = std::max(0.5 * std::abs(low), 1e-12);
    low -= half;
    high += half;
  }
  const Ticks ticks = linear_ticks(low, high, 5);
  std::string unit = times_power(ticks.exponent);
  if (!legend.unit.empty()) unit += (unit.empty() ? "" : " ") + legend.unit;

  const double bar_width = 18 * s, bar_height = std::round(0.46 * image.height), gap = 8 * s, pad = 14 * s;
  double labels_width = 0;
  for (const Tick& tick : ticks.ticks)
    labels_width = std::max(labels_width, canvas.text_width(tick.label, label));
  const double content = std::max({bar_width + gap + labels_width, canvas.text_width(legend.title, heading),
                                   canvas.text_width(unit, unit_style)});
  const double title_height = (legend.title.empty() ? 0 : 24 * s) + (unit.empty() ? 0 : 22 * s) + 6 * s;
  const double panel_width = content + 2 * pad, panel_height = title_height + bar_height + 2 * pad;
  const double x0 = image.width - panel_width - 20 * s, y0 = std::round(0.5 * (image.height - panel_height));
  canvas.rounded_rectangle({x0, y0}, panel_width, panel_height, 8 * s, {1, 1, 1}, panel_opacity);

  double y = y0 + pad;
  if (!legend.title.empty()) {
    canvas.text({x0 + pad, y}, legend.title, heading);
    y += 24 * s;
  }
  if (!unit.empty()) canvas.text({x0 + pad, y}, unit, unit_style);

  const double bar_x = std::round(x0 + pad), bar_y = std::round(y0 + pad + title_height);
  Image bar{1, static_cast<int>(bar_height), {}};
  for (int row = 0; row < bar.height; ++row) {
    const Bytes c = to_bytes(colour_at(legend.map, 1 - (row + 0.5) / bar.height));
    bar.rgb.insert(bar.rgb.end(), {c.r, c.g, c.b});
  }
  canvas.picture(bar, {bar_x, bar_y}, bar_width, bar_height, true);
  const Stroke ink = {.colour = srgb(0x33383F), .width = std::max(1.0, s)};
  canvas.frame({bar_x, bar_y}, bar_width, bar_height, ink);
  for (const Tick& tick : ticks.ticks) {
    const double ty = bar_y + bar_height * (1 - (tick.value - low) / (high - low));
    canvas.line({bar_x + bar_width, ty}, {bar_x + bar_width + 0.6 * gap, ty}, ink);
    canvas.text({bar_x + bar_width + gap + 2 * s, ty}, tick.label, label);
  }
  image = canvas.finish_image();
}

void draw_key(Image& image, const std::vector<NamedColour>& entries) {
  if (entries.empty()) return;
  const double s = scale_of(image), pad = 14 * s, line = 26 * s, swatch = 15 * s;
  Canvas canvas = Canvas::upon(image);
  const TextStyle label = {.size = 15 * s};
  double widest = 0;
  for (const NamedColour& entry : entries) widest = std::max(widest, canvas.text_width(entry.name, label));
  const double width = 2 * pad + swatch + 9 * s + widest;
  const double height = 2 * pad + line * static_cast<double>(entries.size()) - (line - swatch);
  const double x0 = image.width - width - 20 * s, y0 = 20 * s;
  canvas.rounded_rectangle({x0, y0}, width, height, 8 * s, {1, 1, 1}, panel_opacity);
  double y = y0 + pad;
  for (const NamedColour& entry : entries) {
    canvas.rounded_rectangle({x0 + pad, y}, swatch, swatch, 3 * s, entry.colour, 1);
    canvas.text({x0 + pad + swatch + 9 * s, y + 0.5 * swatch}, entry.name, label);
    y += line;
  }
  image = canvas.finish_image();
}

void draw_caption(Image& image, const std::string& words, const std::string& smaller) {
  const double s = scale_of(image);
  Canvas canvas = Canvas::upon(image);
  const double x = 26 * s, bottom = image.height - 24 * s;
  const TextStyle small = {.size = 14 * s, .colour = srgb(0x5A616A), .vertical = Vertical::Baseline};
  const TextStyle large = {.size = 20 * s, .vertical = Vertical::Baseline};
  if (!smaller.empty()) canvas.text({x, bottom}, smaller, small);
  canvas.text({x, smaller.empty() ? bottom : bottom - 24 * s}, words, large);
  image = canvas.finish_image();
}

}  // namespace lope::render
