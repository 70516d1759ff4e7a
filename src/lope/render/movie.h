// Movies: MP4 (H.264, yuv420p, playable while it loads) through the ffmpeg program.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/process.h>
#include <lope/render/image.h>

#include <filesystem>
#include <memory>
#include <string>

namespace lope::render {

struct MovieOptions {
  double frames_per_second = 40;
  int quality = 18;                // ffmpeg's constant rate factor: 0 (lossless) to 51; 18 looks lossless
  std::string program = "ffmpeg";  // looked up in PATH
};

// Frames go in one by one; the file appears under its name when finish() succeeds, and not before. Without
// finish() nothing is left. All frames have the size of the first; an odd last column or row is repeated,
// because the format needs even sizes. ffmpeg missing or failing is an Environment error with its own words,
// a frame of another size an Input error.
class Movie {
 public:
  static Expected<Movie> create(std::filesystem::path path, int width, int height,
                                const MovieOptions& options = {});
  Movie(Movie&&) noexcept = default;
  Movie& operator=(Movie&&) noexcept = default;
  ~Movie();

  Expected<void> add(const Image& frame);
  Expected<void> finish();

 private:
  Movie(PipedProgram program, std::filesystem::path path, std::filesystem::path part, int width, int height);

  PipedProgram program_;
  std::filesystem::path path_, part_;
  int width_, height_;
  int frames_ = 0;
};

}  // namespace lope::render
