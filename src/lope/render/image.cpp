#include <lope/render/canvas.h>
#include <lope/render/image.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace lope::render {

Expected<void> write_text(std::string_view text, const std::filesystem::path& path) {
  const std::filesystem::path part = path.string() + ".part";
  std::error_code failure;
  std::ofstream out(part, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out) std::filesystem::rename(part, path, failure);
  if (out && !failure) return {};
  const std::string reason = failure ? failure.message() : std::strerror(errno);
  std::filesystem::remove(part, failure);
  return environment_error("{}: cannot be written ({})", path.string(), reason);
}

Expected<void> write_png(const Image& image, const std::filesystem::path& path) {
  return write_text(Canvas::upon(image).finish_png(), path);
}

}  // namespace lope::render
