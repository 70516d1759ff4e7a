// Colours, and maps from numbers to colours. A Colour holds linear light (not gamma-encoded) with Rec. 709
// primaries; 1 is the white of the screen. Images hold sRGB bytes.
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <string_view>

namespace lope::render {

struct Colour {
  float r = 0, g = 0, b = 0;
};

inline Colour operator+(Colour a, Colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
inline Colour operator*(Colour a, Colour b) { return {a.r * b.r, a.g * b.g, a.b * b.b}; }
inline Colour operator*(float s, Colour a) { return {s * a.r, s * a.g, s * a.b}; }
inline Colour mix(Colour a, Colour b, float t) { return (1 - t) * a + t * b; }

// Relative luminance Y.
inline float luminance(Colour c) { return 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b; }

// The sRGB transfer curve (IEC 61966-2-1) of one channel, both ways; encode clamps to [0, 1] first.
float srgb_decode(float encoded);
float srgb_encode(float linear);

// From a hexadecimal web colour, 0xRRGGBB, and to the three bytes of an image.
Colour srgb(std::uint32_t hex);
struct Bytes {
  std::uint8_t r, g, b;
};
Bytes to_bytes(Colour c);

// A colour of the OKLCh space: lightness in [0, 1], chroma, hue in degrees (Ottosson, "A perceptual color
// space for image processing", 2020). Where the screen cannot show the chroma it is reduced; lightness and
// hue stay.
Colour oklch(double lightness, double chroma, double hue_degrees);

// The maps are straight lines between a few anchors of OKLCh, placed so that lightness is linear in the
// value: equal steps of the value look like equal steps, and a grey print keeps the order.
enum class ColourMap {
  Tide,         // sequential: deep blue, teal, green, yellow
  Ember,        // sequential: near-black violet, red, orange, pale yellow
  Diverging,    // blue, white, red, symmetric in lightness about the middle
  Categorical,  // the value is rounded to an integer and names a colour; neighbours differ strongly
};

// `t` in [0, 1] (clamped) for the continuous maps, the number of the category for Categorical.
// A NaN gives the colour for missing data, a mid grey-magenta that no map contains.
Colour colour_at(ColourMap map, double t);

// Position of `value` in [low, high] as a colour; an empty range counts as its middle.
Colour colour_of(ColourMap map, double value, double low, double high);

// "tide", "ember", "diverging", "categorical"; anything else is an error that lists them.
Expected<ColourMap> colour_map(std::string_view name);

// Body and curve colours that stay apart for colour-blind readers (Okabe & Ito 2008, without black and with a
// readable yellow); repeats after seven.
Colour palette(std::size_t index);

}  // namespace lope::render
