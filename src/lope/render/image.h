// The image that every part of this room draws into, and how results reach the disk.
#pragma once

#include <lope/base/expected.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lope::render {

// Rows from the top, three bytes (sRGB) per pixel.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

// Written to `path` + ".part" and renamed: an Environment error leaves nothing half-written.
Expected<void> write_png(const Image& image, const std::filesystem::path& path);
Expected<void> write_text(std::string_view text, const std::filesystem::path& path);

}  // namespace lope::render
