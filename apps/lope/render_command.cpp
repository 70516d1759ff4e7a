#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <lope/base/timer.h>
#include <lope/io/file.h>
#include <lope/io/json_lines.h>
#include <lope/io/png.h>
#include <lope/render/annotate.h>
#include <lope/render/frame_surface.h>
#include <lope/render/movie.h>
#include <lope/render/picture.h>
#include <lope/render/run_plots.h>

#include "commands.h"
#include "frames.h"
#include "liquid_pictures.h"
#include "progress.h"
#include "stop_signals.h"

namespace lope::program {
namespace {

namespace fs = std::filesystem;

render::Colour to_colour(const Vec3& srgb) {
  return {render::srgb_decode(static_cast<float>(srgb[0])), render::srgb_decode(static_cast<float>(srgb[1])),
          render::srgb_decode(static_cast<float>(srgb[2]))};
}

// How far the surface of a liquid is drawn inside solids, in cells: there is no air between them.
constexpr double liquid_overlap = 0.25;

// Draws frames of one run, all with the same camera, colours and scale.
class Painter {
 public:
  static Expected<Painter> create(const RunFrames& run, const scene::Scene& scene, const PictureRequest& request) {
    Painter painter(run, scene, request);
    if (const auto done = painter.survey(); !done) return forward_error(done);
    return painter;
  }

  Expected<io::Image> paint(const RunFrames::Data& data) const {
    for (std::size_t i = 0; i < data.bodies.size(); ++i) {
      if (flat_ && run_.bodies()[i].liquid) return paint_flat_liquid(run_.bodies()[i], data.bodies[i], data.time);
    }
    render::Scene picture;
    for (std::size_t i = 0; i < data.bodies.size(); ++i) {
      const FrameBody& body = run_.bodies()[i];
      if (body.liquid) {
        if (const auto added = add_liquid(body, data.bodies[i], data.time, picture); !added) return forward_error(added);
        continue;
      }
      render::Surface surface = render::body_surface(data.bodies[i].positions, body.triangles, to_colour(body.color));
      if (body.cut) remove_hiding_walls(surface);
      if (body.glass && !flat_) {
        picture.surfaces.push_back(edge_rods(surface.positions, surface.triangles, 0.0016 * extent_));
        surface.clear = clear_glass();
      }
      if (body.obstacle) {
        surface.specular = 0;
      } else if (color_by_ == "partition") {
        surface.field = partitions_[i];
      } else if (color_by_ != "body") {
        const auto field = render::field_on(color_by_, data.bodies[i].positions.size(), body.triangles.size(),
                                            vertex_values(body, data.bodies[i], color_by_), {map_, range_.low, range_.high});
        if (!field) return forward_error(field);
        surface.field = *field;
      }
      if (edges_ && !body.obstacle) surface.wireframe = render::Wireframe{};
      picture.surfaces.push_back(std::move(surface));
    }
    const double aspect = static_cast<double>(options_.width) / options_.height;
    if (flat_) picture = render::flat_scene(std::move(picture.surfaces), aspect);
    picture.camera = camera_;
    if (!flat_) {
      picture.ground.reset();
      if (scene_.render.ground) {
        picture.ground = render::Ground{.height = ground_height_};
        if (scene_.floor_color) picture.ground->colour = to_colour(*scene_.floor_color);
      }
      if (const auto& sky = scene_.render.background) picture.background = {to_colour(*sky), to_colour(*sky)};
    }
    auto image = render::draw(picture, options_);
    if (!image) return forward_error(image);
    annotate(*image, data.time);
    return *image;
  }

 private:
  void annotate(io::Image& image, double time) const {
    if (color_by_ != "body" && color_by_ != "partition") {
      render::draw_legend(image, {legend_, unit_, map_, range_.low, range_.high});
    }
    render::draw_caption(image, fmt::format("t = {:.3f} s", time));
  }

  Expected<io::Image> paint_flat_liquid(const FrameBody& body, const BodyFrame& frame, double time) const {
    render::LiquidPlot plot = liquid_plot(body, frame, color_by_, solids_.at(time), bounds_);
    plot.walls_let_go = scene_.resolved["liquid"].text_at("walls") == "separating";
    plot.map = map_;
    plot.low = range_.low;
    plot.high = range_.high;
    auto image = render::draw_liquid(plot, options_.width, options_.height);
    if (!image) return forward_error(image);
    if (color_by_ == "body") render::draw_key(*image, render::liquid_plot_key(plot));
    annotate(*image, time);
    return *image;
  }

  // As water; with a field, as its surface in the field's colours; or as balls.
  Expected<void> add_liquid(const FrameBody& body, const BodyFrame& frame, double time, render::Scene& picture) const {
    const bool coloured = color_by_ != "body" && color_by_ != "partition";
    const std::vector<double> values = coloured ? particle_values(body, frame, color_by_) : std::vector<double>{};
    const render::FieldStyle style{map_, range_.low, range_.high};
    if (particles_) {
      render::Balls& balls = picture.balls.emplace_back();
      balls.centers = frame.positions;
      balls.radius = 0.25 * body.spacing;
      balls.colour = to_colour(body.color);
      if (coloured) {
        const auto field = render::field_on(color_by_, frame.positions.size(), 0, values, style);
        if (!field) return forward_error(field);
        balls.field = *field;
      }
      return {};
    }
    const auto surface = liquid_surface(body, frame, solids_.at(time), liquid_overlap * body.spacing);
    if (!surface) return forward_error(surface);
    const geometry::Mesh mesh = surface->mesh();
    render::Surface drawn = render::body_surface(mesh.vertices, mesh.triangles, to_colour(body.color));
    drawn.crease_degrees = 60;
    if (coloured) {
      const auto field = render::field_on(color_by_, mesh.vertices.size(), mesh.triangles.size(),
                                          surface->carry(values, mesh.vertices), style);
      if (!field) return forward_error(field);
      drawn.field = *field;
    } else {
      drawn.clear = clear_liquid(body.color);
    }
    picture.surfaces.push_back(std::move(drawn));
    return {};
  }

  // Triangles of a container whose free side looks away from the camera stand between it and what is inside.
  void remove_hiding_walls(render::Surface& surface) const {
    std::erase_if(surface.triangles, [&](const geometry::Triangle& t) {
      const auto corner = [&](int k) {
        return surface.positions[static_cast<std::size_t>(t[static_cast<std::size_t>(k)])];
      };
      const Vec3 u = corner(1) - corner(0), v = corner(2) - corner(0);
      const Vec3 normal(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
      return normal.dot(camera_.eye - corner(0)) < 0;
    });
  }

  Painter(const RunFrames& run, const scene::Scene& scene, const PictureRequest& request) : run_(run), scene_(scene) {
    color_by_ = request.color_by.empty() ? scene.render.color_by : request.color_by;
    legend_ = color_by_ == "stress" ? "von_mises" : color_by_;
    options_.width = request.width > 0 ? request.width : scene.render.width;
    options_.height = request.height > 0 ? request.height : scene.render.height;
    options_.samples = request.samples > 0 ? request.samples : scene.render.samples;
    options_.by_blocks = request.by_blocks;
    edges_ = request.edges || scene.render.edges;
    particles_ = request.particles;
    flat_ = std::all_of(run.bodies().begin(), run.bodies().end(), [](const FrameBody& b) { return b.dimension == 2; });
  }

  // Bounds and range of values over (a sample of) all frames.
  Expected<void> survey() {
    const auto& bodies = run_.bodies();
    if (std::any_of(bodies.begin(), bodies.end(), [](const FrameBody& b) { return b.liquid; })) {
      auto solids = SceneSolids::create(scene_, flat_ ? 2 : 3);
      if (!solids) return forward_error(solids);
      solids_ = std::move(*solids);
    }
    if (color_by_ == "partition") {
      for (const FrameBody& body : bodies) partitions_.push_back(partition_colours(body));
    }
    const auto& numbers = run_.numbers();
    const std::size_t stride = std::max<std::size_t>(1, numbers.size() / 60);
    geometry::Bounds all;
    std::vector<double> values;
    for (std::size_t k = 0; k < numbers.size(); k += stride) {
      const auto data = run_.read(numbers[k]);
      if (!data) return forward_error(data);
      for (std::size_t i = 0; i < data->bodies.size(); ++i) {
        const FrameBody& body = run_.bodies()[i];
        if (body.bounded) {
          for (const Vec3& p : data->bodies[i].positions) all.add(p);
        }
        if (body.obstacle || color_by_ == "body" || color_by_ == "partition") continue;
        const auto field = body.liquid ? particle_values(body, data->bodies[i], color_by_)
                                       : vertex_values(body, data->bodies[i], color_by_);
        if (field.empty() && body.liquid && data->bodies[i].positions.empty()) continue;
        if (field.empty()) return unknown_field(data->bodies[i]);
        if (body.liquid) unit_ = color_by_ == "pressure" ? "Pa" : color_by_ == "speed" || color_by_ == "velocity" ? "m/s" : "";
        if (const FieldData* drawn = field_named(data->bodies[i], color_by_)) {
          if (!body.liquid) unit_ = drawn->unit;
          if (drawn->name == color_by_ && drawn->components == 3) legend_ = "|" + color_by_ + "|";
        }
        values.insert(values.end(), field.begin(), field.end());
      }
    }
    if (!values.empty()) range_ = robust_range(values);
    place_camera(all);
    bounds_ = all;
    extent_ = all.extent().maxCoeff();
    double below = all.min[1] - 0.02 * extent_;
    for (const FrameBody& body : bodies) {  // a tank stands upon the ground; its liquid is drawn a little larger
      if (body.liquid) below = all.min[1] - 1.2 * liquid_overlap * body.spacing;
    }
    ground_height_ = scene_.render.ground_height.value_or(scene_.floor_height.value_or(below));
    return {};
  }

  tl::unexpected<Error> unknown_field(const BodyFrame& frame) const {
    std::string known = "body, partition";
    for (const FieldData& field : frame.fields) known += ", " + field.name;
    return input_error("the frames have no field '{}'; they have: {}. A run writes the fields that output.fields of its "
                       "scene names", color_by_, known);
  }

  // All but the largest hundredth: a few extreme nodes should not flatten the rest.
  static render::ValueRange robust_range(std::vector<double>& values) {
    std::erase_if(values, [](double v) { return !std::isfinite(v); });
    if (values.empty()) return {};
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    const double high = *at, low = *std::min_element(values.begin(), values.end());
    return {low, high > low ? high : low + 1};
  }

  void place_camera(const geometry::Bounds& all) {
    const double aspect = static_cast<double>(options_.width) / options_.height;
    if (flat_) {
      camera_ = render::frame_flat(all, aspect);
      return;
    }
    render::FramingOptions framing;
    framing.aspect = aspect;
    framing.up = scene_.render.camera.up;
    framing.fov_degrees = scene_.render.camera.field_of_view * 180 / 3.14159265358979323846;
    camera_ = render::frame_bounds(all, framing);
    if (scene_.render.camera.position) camera_.eye = *scene_.render.camera.position;
    if (scene_.render.camera.target) camera_.target = *scene_.render.camera.target;
  }

  static render::SurfaceField partition_colours(const FrameBody& body) {
    const std::vector<double> part =
        body.obstacle || body.liquid ? std::vector<double>() : partition_of(body);
    render::SurfaceField field;
    if (part.empty()) return field;
    field.on = render::SurfaceField::On::Faces;
    field.map = render::ColourMap::Categorical;
    std::map<geometry::Triangle, double> of_face;
    for (std::size_t e = 0; e < body.tetrahedra.size(); ++e) {
      for (int skip = 0; skip < 4; ++skip) {
        geometry::Triangle face{};
        for (int a = 0, k = 0; a < 4; ++a) {
          if (a != skip) face[static_cast<std::size_t>(k++)] = body.tetrahedra[e][static_cast<std::size_t>(a)];
        }
        std::sort(face.begin(), face.end());
        of_face[face] = part[e];
      }
    }
    for (std::size_t t = 0; t < body.triangles.size(); ++t) {
      geometry::Triangle face = body.triangles[t];
      std::sort(face.begin(), face.end());
      field.values.push_back(static_cast<float>(body.dimension == 3 ? of_face[face] : part[t]));
    }
    return field;
  }

  const RunFrames& run_;
  const scene::Scene& scene_;
  std::string color_by_, legend_, unit_;
  std::vector<render::SurfaceField> partitions_;  // per body, where that is what the colours show
  render::PictureOptions options_;
  bool edges_ = false, flat_ = false, particles_ = false;
  SceneSolids solids_;
  geometry::Bounds bounds_;
  double extent_ = 1;
  render::ColourMap map_ = render::ColourMap::Tide;
  render::ValueRange range_;
  render::Camera camera_;
  double ground_height_ = 0;
};

// The frame in which a liquid has the most kinetic energy, or bodies are farthest from their shape at the start.
Expected<std::int64_t> most_dramatic(const RunFrames& run) {
  const auto first = run.read(run.numbers().front());
  if (!first) return forward_error(first);
  std::int64_t best = run.numbers().front();
  double largest = -1;
  for (const std::int64_t number : run.numbers()) {
    const auto data = run.read(number);
    if (!data) return forward_error(data);
    double sum = 0;
    for (std::size_t i = 0; i < data->bodies.size(); ++i) {
      if (run.bodies()[i].obstacle) continue;
      if (run.bodies()[i].liquid) {
        for (const double speed : vertex_values(run.bodies()[i], data->bodies[i], "speed")) sum += speed * speed;
        continue;
      }
      const auto &x = data->bodies[i].positions, &x0 = first->bodies[i].positions;
      const Vec3 shift = std::accumulate(x.begin(), x.end(), Vec3(Vec3::Zero())) / static_cast<double>(x.size()) -
                         std::accumulate(x0.begin(), x0.end(), Vec3(Vec3::Zero())) / static_cast<double>(x0.size());
      for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - x0[k] - shift).squaredNorm();
    }
    if (sum > largest) {
      largest = sum;
      best = number;
    }
  }
  return best;
}

Expected<fs::path> write_still(const RunFrames& run, const Painter& painter, std::int64_t number, const fs::path& folder) {
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

Expected<fs::path> write_movie(const RunFrames& run, const scene::Scene& scene, const PictureRequest& request,
                               const fs::path& folder) {
  const auto painter = Painter::create(run, scene, request);
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

Vec3 vector_from(const nlohmann::json& value) {
  return {io::number_from(value.at(0)), io::number_from(value.at(1)), io::number_from(value.at(2))};
}

// One line of the statistics. Throws nlohmann::json::exception where it is not as it should be.
render::StepRecord step_record(const nlohmann::json& line) {
  render::StepRecord record;
  record.step = line.at("step").get<int>();
  record.time = line.at("time").get<double>();
  record.wall_seconds = line.at("seconds").get<double>();
  record.converged = line.at("converged").get<bool>();
  for (const auto& body : line.at("bodies")) {
    const auto& energy = body.at("energy");
    record.kinetic_energy += io::number_from(energy.at("kinetic"));
    record.elastic_energy += io::number_from(energy.at("elastic"));
    record.gravity_energy += io::number_from(energy.at("gravity"));
    record.linear_momentum += vector_from(body.at("momentum"));
    if (body.contains("angular_momentum")) record.angular_momentum += vector_from(body.at("angular_momentum"));
    else record.angular_momentum.setConstant(std::nan(""));
  }
  const auto& islands = line.at("islands");
  for (const auto& island : islands) {
    if (island.at("measures") != islands.front().at("measures")) continue;  // they have no axis in common
    const auto &solve = island.at("solve"), &history = solve.at("history");
    record.tolerance = io::number_from(solve.at("tolerance"));
    record.iteration_count += std::max(solve.at("iterations").get<long>(), static_cast<long>(history.size()));
    for (const auto& it : history) {
      record.iterations.push_back(
          {it.at("iteration").get<int>(), it.at("seconds").get<double>(), io::number_from(it.at("measure"))});
    }
  }
  record.total_energy = record.kinetic_energy + record.elastic_energy + record.gravity_energy;
  return record;
}

Expected<std::vector<fs::path>> write_plots(const fs::path& directory, const fs::path& folder) {
  const fs::path file = directory / "stats.jsonl";
  const auto lines = io::read_json_lines(file);
  if (!lines) return forward_error(lines);
  std::vector<render::StepRecord> records;
  for (const nlohmann::json& line : *lines) {
    try {
      records.push_back(step_record(line));
    } catch (const nlohmann::json::exception& trouble) {
      return input_error("{}:{}: not statistics of a step: {}", file.string(), records.size() + 1,
                         trouble.what());
    }
  }
  std::string measure;  // the same in every step
  if (!lines->empty() && !lines->front().at("islands").empty())
    measure = lines->front().at("islands").front().at("measures");
  return render::write_run_plots(records, folder, measure);
}

}  // namespace

Expected<void> check_pictures() { return {}; }

Expected<void> make_pictures(const PictureRequest& request) {
  const auto run = RunFrames::open(request.directory);
  if (!run) return forward_error(run);
  const auto scene = scene::load_scene((request.directory / "scene.toml").string());
  if (!scene) return forward_error(scene);
  const fs::path folder = request.directory / "pictures";
  if (const auto made = io::make_directory(folder); !made) return forward_error(made);
  const auto announce = [](const fs::path& file) { tell(stdout, file.string() + "\n"); };

  if (request.still || request.frame) {
    const auto painter = Painter::create(*run, *scene, request);
    if (!painter) return forward_error(painter);
    const Expected<std::int64_t> number = request.frame ? Expected<std::int64_t>(*request.frame) : most_dramatic(*run);
    if (!number) return forward_error(number);
    const auto still = write_still(*run, *painter, *number, folder);
    if (!still) return forward_error(still);
    announce(*still);
  }
  if (request.plots) {
    const auto plots = write_plots(request.directory, folder);
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
  command->add_option("run", request->directory, "Directory of a run")->required();
  command->add_option("--frame", *frame, "Draw this frame (default: the most dramatic one)")->check(not_negative);
  command->add_flag("--movie", request->movie, "Draw all frames into movie.mp4 (needs ffmpeg)");
  command->add_flag("--plots", request->plots, "Convergence, energy, momentum and performance as PNG and SVG");
  command->add_option("--color-by", request->color_by,
                      "body, partition, or a field: von_mises, stretch, displacement, speed, pressure, … (vectors are shown "
                      "by their length)");
  command->add_option("--size", *size, "Picture size")->type_name("WIDTHxHEIGHT");
  command->add_option("--samples", request->samples, "Rays per pixel")->in_range(1, 65536);
  command->add_flag("--by-blocks", request->by_blocks, "Two by two pixels share their rays where they see the same (movies do, unless --samples is given)");
  command->add_flag("--edges", request->edges, "Draw the edges of the mesh");
  command->add_flag("--particles", request->particles, "Draw liquids as their particles");
  command->callback([=, &status] {
    if (!size->empty() && (std::sscanf(size->c_str(), "%dx%d", &request->width, &request->height) != 2 ||
                           request->width < 16 || request->height < 16 || request->width > 16384 || request->height > 16384)) {
      status = complain({fmt::format("--size {}: write WIDTHxHEIGHT, such as 1280x720", *size), Trouble::Input});
      return;
    }
    if (*frame >= 0) request->frame = *frame;
    request->still = !request->frame && !request->movie && !request->plots;
    if (const auto made = make_pictures(*request); !made)
      status = stop_requested() ? stop_status() : complain(made.error());
  });
}

}  // namespace lope::program
