// Pictures: 8 bits per channel, sRGB, in PNG files.
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace lope::io {

// Rows from top to bottom, pixels from left to right, `channels` bytes each: red, green, blue and, if there
// are four, opacity (not premultiplied).
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
  int channels = 3;
};

// Atomic. Fails for an image whose size does not match its pixels.
Expected<void> write_png(const Image& image, const std::filesystem::path& path);

// Any PNG: palettes, grey and 16-bit pictures are converted; three channels unless it has transparency.
Expected<Image> read_png(const std::filesystem::path& path);

}  // namespace lope::io
