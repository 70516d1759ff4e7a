#include <lope/base/errors.h>
#include <lope/render/colour.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace lope::render {
namespace {

struct Anchor {
  double lightness, chroma, hue;
};

// Lightness is linear along each of the two sequential maps; hues only ever turn one way.
constexpr std::array<Anchor, 6> tide = {{{0.24, 0.095, 274},
                                         {0.376, 0.105, 248},
                                         {0.512, 0.088, 212},
                                         {0.648, 0.105, 172},
                                         {0.784, 0.145, 138},
                                         {0.92, 0.165, 106}}};
constexpr std::array<Anchor, 6> ember = {{{0.17, 0.06, 290},
                                          {0.322, 0.125, 325},
                                          {0.474, 0.175, 368},
                                          {0.626, 0.185, 396},
                                          {0.778, 0.155, 430},
                                          {0.93, 0.09, 460}}};
constexpr std::array<Anchor, 7> diverging = {{{0.42, 0.145, 256},
                                              {0.60, 0.115, 250},
                                              {0.78, 0.065, 244},
                                              {0.96, 0.0, 240},
                                              {0.78, 0.085, 38},
                                              {0.60, 0.150, 30},
                                              {0.42, 0.155, 24}}};

struct Lab {
  double l, a, b;
};

Lab lab_of(const Anchor& anchor) {
  const double hue = anchor.hue * std::numbers::pi / 180;
  return {anchor.lightness, anchor.chroma * std::cos(hue), anchor.chroma * std::sin(hue)};
}

// OKLab to linear Rec. 709 (Ottosson 2020), not clamped.
std::array<double, 3> linear_of(const Lab& lab) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  const double m = cube(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  const double s = cube(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool showable(const std::array<double, 3>& rgb) {
  return std::all_of(rgb.begin(), rgb.end(), [](double x) { return x >= -1e-9 && x <= 1 + 1e-9; });
}

// Keeps lightness and hue, takes the largest part of the chroma that the screen can show.
Colour show(const Lab& lab) {
  double most = 1;
  if (!showable(linear_of(lab))) {
    double least = 0;
    for (int i = 0; i < 24; ++i) {
      const double middle = 0.5 * (least + most);
      (showable(linear_of({lab.l, middle * lab.a, middle * lab.b})) ? least : most) = middle;
    }
    most = least;
  }
  const auto rgb = linear_of({lab.l, most * lab.a, most * lab.b});
  const auto channel = [&](int i) { return static_cast<float>(std::clamp(rgb[i], 0.0, 1.0)); };
  return {channel(0), channel(1), channel(2)};
}

constexpr int table_size = 256;
using Table = std::array<Colour, table_size>;

template <std::size_t n>
Table tabulate(const std::array<Anchor, n>& anchors) {
  Table table;
  for (int i = 0; i < table_size; ++i) {
    const double position = double(i) / (table_size - 1) * (n - 1);
    const std::size_t left = std::min<std::size_t>(static_cast<std::size_t>(position), n - 2);
    const double t = position - double(left);
    const Lab a = lab_of(anchors[left]), b = lab_of(anchors[left + 1]);
    table[i] = show({a.l + t * (b.l - a.l), a.a + t * (b.a - a.a), a.b + t * (b.b - a.b)});
  }
  return table;
}

const Table& table_of(ColourMap map) {
  static const Table tide_table = tabulate(tide);
  static const Table ember_table = tabulate(ember);
  static const Table diverging_table = tabulate(diverging);
  if (map == ColourMap::Ember) return ember_table;
  if (map == ColourMap::Diverging) return diverging_table;
  return tide_table;
}

// Hues turn by the golden angle, lightness cycles with another period: no two near numbers look alike.
Colour category(double value) {
  const double number = std::round(value);
  const double lightness[] = {0.66, 0.78, 0.56};
  const int cycle = static_cast<int>(std::fmod(std::fmod(number, 3) + 3, 3));
  return oklch(lightness[cycle], 0.13, std::fmod(250 + 137.50776405 * number, 360));
}

}  // namespace

float srgb_decode(float encoded) {
  return encoded <= 0.04045f ? encoded / 12.92f : std::pow((encoded + 0.055f) / 1.055f, 2.4f);
}

float srgb_encode(float linear) {
  const float x = std::clamp(linear, 0.0f, 1.0f);
  return x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f;
}

Colour srgb(std::uint32_t hex) {
  const auto channel = [hex](int shift) {
    return srgb_decode(static_cast<float>((hex >> shift) & 255u) / 255.0f);
  };
  return {channel(16), channel(8), channel(0)};
}

Bytes to_bytes(Colour c) {
  const auto byte = [](float x) { return static_cast<std::uint8_t>(std::lround(255.0f * srgb_encode(x))); };
  return {byte(c.r), byte(c.g), byte(c.b)};
}

Colour oklch(double lightness, double chroma, double hue_degrees) {
  return show(lab_of({lightness, chroma, hue_degrees}));
}

Colour colour_at(ColourMap map, double t) {
  if (std::isnan(t)) return srgb(0x9C7A94);
  if (map == ColourMap::Categorical) return category(t);
  const Table& table = table_of(map);
  const double position = std::clamp(t, 0.0, 1.0) * (table_size - 1);
  const int left = std::min(static_cast<int>(position), table_size - 2);
  return mix(table[left], table[left + 1], static_cast<float>(position - left));
}

Colour colour_of(ColourMap map, double value, double low, double high) {
  if (map == ColourMap::Categorical || std::isnan(value)) return colour_at(map, value);
  return colour_at(map, high > low ? (value - low) / (high - low) : 0.5);
}

Expected<ColourMap> colour_map(std::string_view name) {
  if (name == "tide") return ColourMap::Tide;
  if (name == "ember") return ColourMap::Ember;
  if (name == "diverging") return ColourMap::Diverging;
  if (name == "categorical") return ColourMap::Categorical;
  return input_error("there is no colour map '{}'; use tide, ember, diverging or categorical", name);
}

Colour palette(std::size_t index) {
  static constexpr std::uint32_t colours[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                              0xE69F00, 0x56B4E9, 0xB8A800};
  return srgb(colours[index % std::size(colours)]);
}

}  // namespace lope::render
