#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include <lope/base/errors.h>
#include <lope/base/timer.h>
#include <lope/io/file.h>
#include <lope/io/png.h>
#include <lope/render/movie.h>
#include <lope/render/painter.h>
#include <lope/render/statistics_plots.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/suggest.h>

#include "commands.h"
#include "progress.h"
#include "stop_signals.h"

namespace lope::program {
namespace {

namespace fs = std::filesystem;

Expected<render::Painter> make_painter(const io::RunFrames& run, const scene::Scene& scene, const PictureRequest& request) {
  auto walls = scene::walls_of(scene);
  if (!walls) return forward_error(walls);
  const scene::RenderSettings& settings = scene.render;
  render::PainterOptions options;
  options.walls = std::move(*walls);
  options.color_by = request.color_by.empty() ? settings.color_by : request.color_by;
  options.picture.width = request.width > 0 ? request.width : settings.width;
  options.picture.height = request.height > 0 ? request.height : settings.height;
  options.picture.samples = request.samples > 0 ? request.samples : settings.samples;
  options.picture.by_blocks = request.by_blocks;
  options.edges = request.edges || settings.edges;
  options.points = request.points;
  options.eye = settings.camera.position;
  options.target = settings.camera.target;
  options.up = settings.camera.up;
  options.field_of_view = settings.camera.field_of_view;
  options.ground = settings.ground;
  options.ground_height = settings.ground_height ? settings.ground_height : scene.floor_height;
  options.ground_color = scene.floor_color;
  options.background = settings.background;
  return render::Painter::create(run, std::move(options));
}

Expected<fs::path> write_still(const io::RunFrames& run, const render::Painter& painter, std::int64_t number, const fs::path& folder) {
  const auto data = run.read(number);
  if (!data) return forward_error(data);
  const auto image = painter.paint(*data);
  if (!image) return forward_error(image);
  const fs::path path = folder / fmt::format("frame_{:06}.png", number);
  if (const auto written = io::write_png(*image, path); !written) return forward_error(written);
  return path;
}

// Hundreds of frames: unless the request says otherwise, at most 768 pixels wide and few rays, shared by blocks of pixels.
PictureRequest movie_request(PictureRequest request, const scene::Scene& scene) {
  if (request.width <= 0) {
    const double scale = std::min(1.0, 768.0 / scene.render.width);
    request.width = static_cast<int>(scene.render.width * scale) / 2 * 2;
    request.height = static_cast<int>(scene.render.height * scale) / 2 * 2;
  }
  if (request.samples <= 0) {
    request.samples = std::min(scene.render.samples, 8);
    request.by_blocks = true;
  }
  return request;
}

// The frames drawn and the time left: on a terminal after every frame; elsewhere a line after the first one, then at most one
// every five seconds.
class MovieProgress {
 public:
  MovieProgress(std::size_t frames, bool quiet) : frames_(static_cast<std::int64_t>(frames)), quiet_(quiet) {}

  void show(std::size_t drawn) {
    const auto done = static_cast<std::int64_t>(drawn);
    if (quiet_) return;
    if (done == frames_) {
      line_.clear();
      return;
    }
    if (!line_.on_terminal() && done > 1 && !line_.due(5)) return;
    const double elapsed = watch_.seconds(), left = elapsed / static_cast<double>(done) * static_cast<double>(frames_ - done);
    line_.show(fmt::format("movie: frame {}/{}  {} elapsed, {} left", done, frames_, duration_text(elapsed), duration_text(left)),
               done, frames_);
  }

 private:
  std::int64_t frames_;
  bool quiet_;
  ProgressLine line_;
  Stopwatch watch_;
};

Expected<fs::path> write_movie(const io::RunFrames& run, const scene::Scene& scene, const PictureRequest& request,
                               const fs::path& folder) {
  const auto painter = make_painter(run, scene, request);
  if (!painter) return forward_error(painter);
  const auto& numbers = run.numbers();
  const fs::path path = folder / "movie.mp4";
  render::MovieOptions options;
  const auto first = run.read(numbers.front()), last = run.read(numbers.back());
  if (first && last && last->time > first->time) {
    options.frames_per_second = static_cast<double>(numbers.size() - 1) / (last->time - first->time);
  }
  const StopSignals signals("\nStopping; no movie is left.\n");
  auto movie = render::Movie::create(path, request.width, request.height, options);
  if (!movie) return forward_error(movie);
  MovieProgress progress(numbers.size(), request.quiet);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (stop_requested()) return environment_error("{}: stopped before its end", path.string());
    const auto data = run.read(numbers[k]);
    if (!data) return forward_error(data);
    const auto image = painter->paint(*data);
    if (!image) return forward_error(image);
    if (const auto added = movie->add(*image); !added) return forward_error(added);
    progress.show(k + 1);
  }
  if (const auto finished = movie->finish(); !finished) return forward_error(finished);
  return path;
}

}  // namespace

Expected<void> check_pictures() { return {}; }

Expected<void> make_pictures(const PictureRequest& request) {
  const auto run = open_frames(request.directory);
  if (!run) return forward_error(run);
  const auto scene = scene::load_scene((request.directory / "scene.toml").string());
  if (!scene) return forward_error(scene);
  const fs::path folder = request.directory / "pictures";
  if (const auto made = io::make_directory(folder); !made) return forward_error(made);
  const auto announce = [](const fs::path& file) { tell(stdout, file.string() + "\n"); };

  if (request.still || request.frame) {
    const auto painter = make_painter(*run, *scene, request);
    if (!painter) return forward_error(painter);
    const Expected<std::int64_t> number = request.frame ? Expected<std::int64_t>(*request.frame) : render::most_dramatic(*run);
    if (!number) return forward_error(number);
    const auto still = write_still(*run, *painter, *number, folder);
    if (!still) return forward_error(still);
    announce(*still);
  }
  if (request.plots) {
    const auto plots = render::write_statistics_plots(request.directory / "stats.jsonl", folder);
    if (!plots) return forward_error(plots);
    for (const fs::path& plot : *plots) announce(plot);
  }
  if (request.movie) {
    const auto movie = write_movie(*run, *scene, movie_request(request, *scene), folder);
    if (!movie) return forward_error(movie);
    announce(*movie);
  }
  return {};
}

void add_render(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("render", "Pictures of a run: stills, a movie, plots");
  auto request = std::make_shared<PictureRequest>();
  auto frame = std::make_shared<std::int64_t>(-1);
  auto size = std::make_shared<std::string>();
  command->add_option("run", request->directory, "Directory of a run")->required()->suggest({}, Paths::Folders);
  command->add_option("--frame", *frame, "Draw this frame (default: the most dramatic one)")->check(not_negative);
  command->add_flag("--movie", request->movie, "Draw all frames into movie.mp4 (needs ffmpeg)");
  command->add_flag("--plots", request->plots, "Convergence, energy, momentum and performance as PNG and SVG");
  command->add_option("--color-by", request->color_by,
                      "body, partition, or a field: von_mises, stretch, displacement, speed, pressure, … (vectors are shown "
                      "by their length)")
      ->type_name("FIELD")
      ->suggest(field_names);
  command->add_option("--size", *size, "Picture size")->type_name("WIDTHxHEIGHT");
  command->add_option("--samples", request->samples, "Rays per pixel")->in_range(1, 65536);
  command->add_flag("--by-blocks", request->by_blocks, "Two by two pixels share their rays where they see the same (movies do, unless --samples is given)");
  command->add_flag("--edges", request->edges, "Draw the edges of the mesh");
  command->add_flag("--particles", request->points, "Draw points in place of the surface around them");
  const auto look = [=] {
    if (size->empty() || (std::sscanf(size->c_str(), "%dx%d", &request->width, &request->height) == 2 && request->width >= 16 &&
                          request->height >= 16 && request->width <= 16384 && request->height <= 16384))
      return static_cast<int>(Done);
    return complain({fmt::format("--size {}: write WIDTHxHEIGHT, such as 1280x720", *size), Trouble::Input});
  };
  command->rehearse(look);
  // Which fields the run has decides, but no run has others than these.
  command->rehearse([=] {
    const std::vector<std::string> known = field_names();
    if (request->color_by.empty() || std::find(known.begin(), known.end(), request->color_by) != known.end())
      return static_cast<int>(Done);
    return complain({fmt::format("--color-by: no kind of matter has a field '{}'{}", request->color_by,
                                 scene::did_you_mean(request->color_by, known)),
                     Trouble::Input});
  });
  command->callback([=, &status] {
    if (status = look(); status != Done) return;
    if (*frame >= 0) request->frame = *frame;
    request->still = !request->frame && !request->movie && !request->plots;
    if (const auto made = make_pictures(*request); !made)
      status = stop_requested() ? stop_status() : complain(made.error());
  });
}

}  // namespace lope::program
