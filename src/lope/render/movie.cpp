#include <lope/base/errors.h>
#include <lope/render/movie.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace lope::render {
namespace {

Image even_sized(const Image& frame) {
  Image result;
  result.width = frame.width + frame.width % 2;
  result.height = frame.height + frame.height % 2;
  result.rgb.reserve(3 * static_cast<std::size_t>(result.width) * result.height);
  for (int y = 0; y < result.height; ++y) {
    const auto row = frame.rgb.begin() + std::ptrdiff_t{3} * std::min(y, frame.height - 1) * frame.width;
    result.rgb.insert(result.rgb.end(), row, row + std::ptrdiff_t{3} * frame.width);
    if (result.width > frame.width) {
      result.rgb.insert(result.rgb.end(), row + std::ptrdiff_t{3} * (frame.width - 1),
                        row + std::ptrdiff_t{3} * frame.width);
    }
  }
  return result;
}

}  // namespace

Movie::Movie(PipedProgram program, std::filesystem::path path, std::filesystem::path part, int width,
             int height)
    : program_(std::move(program)),
      path_(std::move(path)),
      part_(std::move(part)),
      width_(width),
      height_(height) {}

Expected<Movie> Movie::create(std::filesystem::path path, int width, int height,
                              const MovieOptions& options) {
  if (width < 1 || height < 1) return input_error("a movie of {} x {} pixels cannot be made", width, height);
  if (!(options.frames_per_second > 0)) {
    return input_error("a movie needs a positive number of frames per second, not {}",
                       options.frames_per_second);
  }
  std::filesystem::path part = path.string() + ".part";
  // A path that begins with a dash or looks like a protocol must stay a path.
  const std::string output = "file:" + part.string();
  auto program = PipedProgram::start(
      options.program, {"-hide_banner", "-loglevel", "error", "-y",
                        // raw frames in
                        "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size",
                        fmt::format("{}x{}", width + width % 2, height + height % 2), "-framerate",
                        fmt::format("{}", options.frames_per_second), "-i", "pipe:0",
                        // H.264 out, with the colours of our images (Rec. 709)
                        "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:v", "libx264", "-preset",
                        "medium", "-crf", fmt::format("{}", options.quality), "-pix_fmt", "yuv420p",
                        "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "iec61966-2-1",
                        "-color_range", "tv", "-movflags", "+faststart", "-f", "mp4", output});
  if (!program) return forward_error(program);
  return Movie(std::move(*program), std::move(path), std::move(part), width, height);
}

Movie::~Movie() {
  if (part_.empty()) return;
  { const PipedProgram ended = std::move(program_); }  // before its file is taken away
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

Expected<void> Movie::add(const Image& frame) {
  if (frame.width != width_ || frame.height != height_) {
    return input_error("{}: frame {} is {} x {} pixels, but the movie is {} x {}", path_.string(), frames_,
                       frame.width, frame.height, width_, height_);
  }
  ++frames_;
  const bool odd = width_ % 2 || height_ % 2;
  if (auto written = program_.write(odd ? even_sized(frame).rgb : frame.rgb); !written) {
    return environment_error("{}: {}", path_.string(), written.error().message);
  }
  return {};
}

Expected<void> Movie::finish() {
  if (frames_ == 0) return input_error("{}: a movie needs at least one frame", path_.string());
  if (auto ended = program_.finish(); !ended) {
    return environment_error("{}: {}", path_.string(), ended.error().message);
  }
  std::error_code failure;
  std::filesystem::rename(part_, path_, failure);
  if (failure) return environment_error("{}: cannot be written ({})", path_.string(), failure.message());
  part_.clear();
  return {};
}

}  // namespace lope::render
