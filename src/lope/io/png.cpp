#include <lope/base/errors.h>
#include <lope/io/file.h>
#include <lope/io/png.h>

#include <string>

#include <png.h>

namespace lope::io {
namespace {
constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;
}

Expected<void> write_png(const Image& image, const std::filesystem::path& path) {
  const bool has_channels = image.channels == 3 || image.channels == 4;
  const bool has_size = image.width > 0 && image.height > 0;
  const std::uint64_t pixels =
      has_size ? static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height) : 0;
  if (!has_channels || pixels == 0 || pixels > most_pixels ||
      image.rgb.size() != pixels * static_cast<std::uint64_t>(image.channels)) {
    return input_error("{}: an image of {} x {} pixels cannot have {} bytes in {} channels", path.string(),
                       image.width, image.height, image.rgb.size(), image.channels);
  }
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0) {
    return environment_error("{}: the image cannot be compressed: {}", path.string(), png.message);
  }
  bytes.resize(size);
  return write_file(path, bytes);
}

Expected<Image> read_png(const std::filesystem::path& path) {
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes->data(), bytes->size()) == 0) {
    return input_error("{}: is not a PNG image: {}", path.string(), png.message);
  }
  const std::uint64_t pixels = std::uint64_t{png.width} * png.height;
  // Deflate cannot pack more than 1032 bytes into one, and a pixel has at least one bit.
  if (pixels > most_pixels || pixels / 8 / 1032 > bytes->size()) {
    png_image_free(&png);
    return input_error("{}: {} x {} pixels are too many for this file; it is damaged", path.string(),
                       png.width, png.height);
  }
  Image image;
  image.channels = (png.format & PNG_FORMAT_FLAG_ALPHA) != 0 ? 4 : 3;
  image.width = static_cast<int>(png.width);
  image.height = static_cast<int>(png.height);
  png.format = image.channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  image.rgb.resize(PNG_IMAGE_SIZE(png));
  const png_color black{};
  if (png_image_finish_read(&png, &black, image.rgb.data(), 0, nullptr) == 0) {
    return input_error("{}: the image is truncated or damaged: {}", path.string(), png.message);
  }
  return image;
}

}  // namespace lope::io
