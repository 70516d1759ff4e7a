#include <lope/base/errors.h>
#include <lope/geometry/partition.h>
#include <lope/geometry/points_beside_surface.h>
#include <lope/render/annotate.h>
#include <lope/render/cell_plot.h>
#include <lope/render/looks.h>
#include <lope/render/painter.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include <fmt/core.h>

namespace lope::render {
namespace {

using geometry::Drawable;
using geometry::DrawnField;

// How many frames are looked at for the camera and the range of values.
constexpr std::size_t surveyed_frames = 60;

// All but the largest hundredth: a few extreme nodes should not flatten the rest.
ValueRange robust_range(std::vector<double>& values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return {};
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  const double high = *at, low = *std::min_element(values.begin(), values.end());
  return {low, high > low ? high : low + 1};
}

// The partition of a surface's elements; found now where the run did not write it.
std::vector<double> partition_of(const geometry::DrawnSurface& surface) {
  if (const DrawnField* written = find_field(surface.element_fields, "partition"))
    return {written->values.begin(), written->values.end()};
  geometry::Mesh mesh;
  mesh.tetrahedra = io::to_tetrahedra(surface.tetrahedra);
  if (mesh.tetrahedra.empty()) mesh.triangles = io::to_triangles(surface.triangles);
  int last = -1;
  for (const auto* corners : {&surface.tetrahedra, &surface.triangles}) {
    for (const std::int32_t i : *corners) last = std::max(last, i);
  }
  mesh.vertices.assign(static_cast<std::size_t>(last + 1), Vec3::Zero());  // their number counts
  const std::vector<int> parts = geometry::partition_for_colouring(mesh);
  return {parts.begin(), parts.end()};
}

SurfaceField partition_colours(const Drawable& drawable) {
  const geometry::DrawnSurface& surface = drawable.surface;
  SurfaceField field;
  if (drawable.look.backdrop || surface.triangles.empty()) return field;
  const std::vector<double> part = partition_of(surface);
  field.on = SurfaceField::On::Faces;
  field.map = ColourMap::Categorical;
  if (surface.tetrahedra.empty()) {
    field.values.assign(part.begin(), part.end());
    return field;
  }
  std::map<geometry::Triangle, double> of_face;
  const auto tetrahedra = io::to_tetrahedra(surface.tetrahedra);
  for (std::size_t e = 0; e < tetrahedra.size(); ++e) {
    for (std::size_t skip = 0; skip < 4; ++skip) {
      geometry::Triangle face{};
      for (std::size_t a = 0, k = 0; a < 4; ++a) {
        if (a != skip) face[k++] = tetrahedra[e][a];
      }
      std::sort(face.begin(), face.end());
      of_face[face] = part[e];
    }
  }
  for (geometry::Triangle face : io::to_triangles(surface.triangles)) {
    std::sort(face.begin(), face.end());
    field.values.push_back(static_cast<float>(of_face[face]));
  }
  return field;
}

bool has_surface(const Drawable& drawable) { return !drawable.surface.triangles.empty(); }

// Where the triangles know their parts, they are the surface of these; otherwise they are that of everything.
const DrawnField* parts_of_surface(const Drawable& drawable) {
  return find_field(drawable.surface.element_fields, "part");
}

std::vector<std::size_t> shown_points(const Drawable& drawable, bool all) {
  if (!all) return geometry::points_beside_surface(drawable);
  std::vector<std::size_t> shown(drawable.points.count());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  return shown;
}

// The colour of a part; that of the look for none that is known.
Colour colour_of_part(const Drawable& drawable, double number) {
  const std::vector<Vec3> colours = io::to_vectors(drawable.points.palette);
  const bool known = number >= 0 && number < static_cast<double>(colours.size());
  return to_colour(known ? colours[static_cast<std::size_t>(number)] : drawable.look.color);
}

// Cells in the plane with kinds are plotted as cells.
bool is_cell_plot(const Drawable& drawable) {
  return drawable.dimension == 2 && find_field(drawable.volume.fields, "kind") != nullptr;
}

}  // namespace

Expected<Painter> Painter::create(const io::RunFrames& run, PainterOptions options) {
  Painter painter(run, std::move(options));
  if (const auto done = painter.survey(); !done) return forward_error(done);
  return painter;
}

Painter::Painter(const io::RunFrames& run, PainterOptions options) : run_(run), options_(std::move(options)) {
  legend_ = options_.color_by == "stress" ? "von_mises" : options_.color_by;
  const auto& things = run.things();
  flat_ = std::all_of(things.begin(), things.end(), [](const auto& thing) { return thing.constant.dimension == 2; });
}

bool Painter::coloured() const { return options_.color_by != "body" && options_.color_by != "partition"; }

// Bounds and range of values over (a sample of) all frames.
Expected<void> Painter::survey() {
  const auto& things = run_.things();
  if (options_.color_by == "partition") {
    for (const auto& thing : things) partitions_.push_back(partition_colours(thing.constant));
  }
  const auto& numbers = run_.numbers();
  const std::size_t stride = std::max<std::size_t>(1, numbers.size() / surveyed_frames);
  std::vector<double> values;
  double sinks = 0;  // how far surfaces reach into the walls that they touch, and that the ground must not cut
  for (std::size_t k = 0; k < numbers.size(); k += stride) {
    const auto data = run_.read(numbers[k]);
    if (!data) return forward_error(data);
    for (const Drawable& drawable : data->drawables) {
      if (!drawable.look.bounded) continue;
      for (const auto* positions : {&drawable.surface.positions, &drawable.points.positions}) {
        for (const Vec3& p : io::to_vectors(*positions)) bounds_.add(p);
      }
      for (const Vec3& shift : io::to_vectors(drawable.surface.out_of_walls)) sinks = std::max(sinks, shift.norm());
    }
    if (!coloured()) continue;
    if (const auto surveyed = survey_field(*data, values); !surveyed) return surveyed;
  }
  if (!values.empty()) range_ = robust_range(values);
  place_camera(bounds_);
  extent_ = bounds_.extent().maxCoeff();
  const double below = bounds_.min[1] - (sinks > 0 ? 0.2 * sinks : 0.02 * extent_);
  ground_height_ = options_.ground_height.value_or(below);
  return {};
}

Expected<void> Painter::survey_field(const io::RunFrames::Data& data, std::vector<double>& values) {
  const std::string& name = options_.color_by;
  std::string known = "body, partition";
  bool found = false, anything = false;
  for (const Drawable& drawable : data.drawables) {
    if (drawable.look.backdrop) continue;
    for (const auto* fields : {&drawable.surface.vertex_fields, &drawable.surface.element_fields, &drawable.points.fields,
                               &drawable.volume.fields}) {
      for (const DrawnField& field : *fields) {
        if (known.find(field.name) == std::string::npos) known += ", " + field.name;
      }
      const DrawnField* field = io::field_or_like(*fields, name);
      if (!field) continue;
      unit_ = field->unit;
      if (field->name == name && field->components == 3) legend_ = "|" + name + "|";
    }
    anything = anything || has_surface(drawable) || drawable.points.count() > 0;
    for (const auto& shown : {io::on_vertices(drawable, name), io::on_points(drawable, name)}) {
      found = found || !shown.empty();
      values.insert(values.end(), shown.begin(), shown.end());
    }
  }
  if (found || !anything) return {};
  return input_error("the frames have no field '{}'; they have: {}. A run writes the fields that output.fields of its "
                     "scene names", name, known);
}

void Painter::place_camera(const geometry::Bounds& all) {
  const double aspect = static_cast<double>(options_.picture.width) / options_.picture.height;
  if (flat_) {
    camera_ = frame_flat(all, aspect);
    return;
  }
  FramingOptions framing;
  framing.aspect = aspect;
  framing.up = options_.up;
  framing.fov_degrees = options_.field_of_view * 180 / std::numbers::pi;
  camera_ = frame_bounds(all, framing);
  if (options_.eye) camera_.eye = *options_.eye;
  if (options_.target) camera_.target = *options_.target;
}

Expected<Image> Painter::paint(const io::RunFrames::Data& data) const {
  for (const Drawable& drawable : data.drawables) {
    if (flat_ && is_cell_plot(drawable)) return paint_cells(drawable, data.time);
  }
  Scene picture;
  for (std::size_t i = 0; i < data.drawables.size(); ++i) {
    const Drawable& drawable = data.drawables[i];
    const std::vector<std::size_t> points = shown_points(drawable, options_.points);
    if (points.size() < drawable.points.count() || points.empty()) {
      if (const auto added = add_surface(drawable, i, picture); !added) return forward_error(added);
    }
    if (points.empty()) continue;
    if (const auto added = add_points(drawable, points, picture); !added) return forward_error(added);
  }
  const double aspect = static_cast<double>(options_.picture.width) / options_.picture.height;
  if (flat_) {
    std::vector<Balls> balls = std::move(picture.balls);
    picture = flat_scene(std::move(picture.surfaces), aspect);
    picture.balls = std::move(balls);
  }
  picture.camera = camera_;
  if (!flat_) {
    picture.ground.reset();
    if (options_.ground) {
      picture.ground = Ground{.height = ground_height_};
      if (options_.ground_color) picture.ground->colour = to_colour(*options_.ground_color);
    }
    if (const auto& sky = options_.background) picture.background = {to_colour(*sky), to_colour(*sky)};
  }
  auto image = draw(picture, options_.picture);
  if (!image) return forward_error(image);
  annotate(*image, data.time);
  return *image;
}

// None where there are no values: a body without the field keeps its own colour.
Expected<std::optional<SurfaceField>> Painter::field_of(std::size_t vertices, std::size_t triangles,
                                                        const std::vector<double>& values) const {
  if (values.empty()) return std::optional<SurfaceField>();
  auto field = field_on(options_.color_by, vertices, triangles, values, {map_, range_.low, range_.high});
  if (!field) return forward_error(field);
  return std::optional<SurfaceField>(std::move(*field));
}

Expected<void> Painter::add_surface(const Drawable& drawable, std::size_t thing, Scene& picture) const {
  if (!has_surface(drawable)) return {};
  const geometry::Look& look = drawable.look;
  const auto triangles = io::to_triangles(drawable.surface.triangles);
  Surface surface = body_surface(io::to_vectors(drawable.surface.positions), triangles, to_colour(look.color));
  const auto clear = flat_ ? std::nullopt : clear_look(look.material, look.color);
  if (look.back) surface.back = to_colour(*look.back);
  surface.pattern = pattern_of(look.pattern, drawable.surface.material_coordinates);
  if (look.cut) remove_hiding_walls(surface);
  if (clear && clear->kind == Clear::Kind::Glass)
    picture.surfaces.push_back(edge_rods(surface.positions, surface.triangles, 0.0016 * extent_));
  if (clear && clear->kind != Clear::Kind::Glass) surface.crease_degrees = 60;
  if (look.backdrop) {
    surface.specular = 0;
  } else if (options_.color_by == "partition") {
    if (!partitions_[thing].values.empty()) surface.field = partitions_[thing];
  } else if (coloured()) {
    auto field = field_of(drawable.surface.vertices(), triangles.size(), io::on_vertices(drawable, options_.color_by));
    if (!field) return forward_error(field);
    surface.field = std::move(*field);
  }
  if (!surface.field) surface.clear = clear;
  if (options_.edges && !look.backdrop) surface.wireframe = Wireframe{};
  if (parts_of_surface(drawable) && !drawable.points.palette.empty()) {
    add_skins(drawable, surface, picture);
    return {};
  }
  picture.surfaces.push_back(std::move(surface));
  return {};
}

// One surface for each part that it is of.
void Painter::add_skins(const Drawable& drawable, const Surface& whole, Scene& picture) const {
  const DrawnField& part = *parts_of_surface(drawable);
  std::map<float, Surface> skins;
  for (std::size_t t = 0; t < whole.triangles.size(); ++t) {
    const auto [at, is_new] = skins.try_emplace(part.values[t]);
    if (is_new) {
      at->second = whole;
      at->second.triangles.clear();
      at->second.colour = colour_of_part(drawable, part.values[t]);
    }
    at->second.triangles.push_back(whole.triangles[t]);
  }
  for (auto& [number, skin] : skins) picture.surfaces.push_back(std::move(skin));
}

// One lot of balls per part, if these have colours.
void Painter::add_parts(const Drawable& drawable, std::span<const std::size_t> shown, Scene& picture) const {
  const DrawnField* part = find_field(drawable.points.fields, "part");
  const std::vector<Vec3> centers = io::to_vectors(drawable.points.positions);
  std::map<double, Balls> lots;
  for (const std::size_t p : shown) {
    const double number = part ? part->values[p] : -1;
    const auto [at, is_new] = lots.try_emplace(number);
    if (is_new) at->second.colour = colour_of_part(drawable, number);
    at->second.centers.push_back(centers[p]);
  }
  for (auto& [number, lot] : lots) {
    lot.radius = drawable.points.radius > 0 ? drawable.points.radius : 0.004 * extent_;
    picture.balls.push_back(std::move(lot));
  }
}

Expected<void> Painter::add_points(const Drawable& drawable, std::span<const std::size_t> shown,
                                   Scene& picture) const {
  if (!coloured() && !drawable.points.palette.empty()) {
    add_parts(drawable, shown, picture);
    return {};
  }
  Balls& balls = picture.balls.emplace_back();
  const std::vector<Vec3> centers = io::to_vectors(drawable.points.positions);
  for (const std::size_t p : shown) balls.centers.push_back(centers[p]);
  balls.radius = drawable.points.radius > 0 ? drawable.points.radius : 0.004 * extent_;
  balls.colour = to_colour(drawable.look.color);
  if (!coloured()) return {};
  const std::vector<double> all = io::on_points(drawable, options_.color_by);
  std::vector<double> values;
  for (const std::size_t p : shown) {
    if (!all.empty()) values.push_back(all[p]);
  }
  auto field = field_of(shown.size(), 0, values);
  if (!field) return forward_error(field);
  balls.field = std::move(*field);
  return {};
}

// The cells coloured by a field of theirs, the points by one of theirs, or neither ("body").
Expected<Image> Painter::paint_cells(const Drawable& drawable, double time) const {
  const geometry::DrawnVolume& volume = drawable.volume;
  CellPlot plot;
  plot.region = bounds_;
  plot.spacing = volume.spacing;
  plot.origin = volume.origin;
  if (options_.walls) plot.walls = options_.walls(time);
  for (std::size_t k = 0; k < std::min<std::size_t>(3, volume.kinds.size()); ++k) plot.names[k] = volume.kinds[k];
  const DrawnField *kind = find_field(volume.fields, "kind"), *separating = find_field(volume.fields, "separating");
  plot.walls_let_go = separating != nullptr;
  for (std::size_t c = 0; c < volume.count(); ++c) {
    plot.cells.push_back({volume.cells[3 * c], volume.cells[3 * c + 1]});
    plot.kinds.push_back(static_cast<CellPlot::Kind>(std::clamp(static_cast<int>(kind->values[c]), 0, 2)));
    plot.separating.push_back(separating && separating->values[c] != 0);
  }
  if (const DrawnField* level_set = find_field(volume.fields, "level_set")) plot.level_set = level_set->values;
  const DrawnField* of_points = io::field_or_like(drawable.points.fields, options_.color_by);
  const DrawnField* of_cells = find_field(volume.fields, options_.color_by);
  if (of_cells && !of_points && of_cells->components == 1) {
    plot.values = of_cells->values;
  } else {
    plot.points = io::to_vectors(drawable.points.positions);
    const std::vector<double> values = of_points && coloured() ? io::shown(*of_points) : std::vector<double>();
    plot.point_values.assign(values.begin(), values.end());
  }
  plot.map = map_;
  plot.low = range_.low;
  plot.high = range_.high;
  auto image = draw_cells(plot, options_.picture.width, options_.picture.height);
  if (!image) return forward_error(image);
  if (options_.color_by == "body") draw_key(*image, cell_plot_key(plot));
  annotate(*image, time);
  return *image;
}

// Triangles of a container whose free side looks away from the camera stand between it and what is inside.
void Painter::remove_hiding_walls(Surface& surface) const {
  std::erase_if(surface.triangles, [&](const geometry::Triangle& t) {
    const auto corner = [&](std::size_t k) { return surface.positions[static_cast<std::size_t>(t[k])]; };
    const Vec3 u = corner(1) - corner(0), v = corner(2) - corner(0);
    const Vec3 normal(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    return normal.dot(camera_.eye - corner(0)) < 0;
  });
}

void Painter::annotate(Image& image, double time) const {
  if (coloured()) draw_legend(image, {legend_, unit_, map_, range_.low, range_.high});
  draw_caption(image, fmt::format("t = {:.3f} s", time));
}

Expected<std::int64_t> most_dramatic(const io::RunFrames& run) {
  const auto first = run.read(run.numbers().front());
  if (!first) return forward_error(first);
  std::int64_t best = run.numbers().front();
  double largest = -1;
  for (const std::int64_t number : run.numbers()) {
    const auto data = run.read(number);
    if (!data) return forward_error(data);
    double sum = 0;
    for (std::size_t i = 0; i < data->drawables.size(); ++i) {
      const Drawable &now = data->drawables[i], &start = first->drawables[i];
      if (now.look.backdrop) continue;
      if (now.points.count() > 0) {
        for (const double speed : io::on_points(now, "speed")) sum += speed * speed;
        continue;
      }
      if (now.surface.vertices() == 0 || now.surface.vertices() != start.surface.vertices()) continue;
      const std::vector<Vec3> x = io::to_vectors(now.surface.positions), x0 = io::to_vectors(start.surface.positions);
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

}  // namespace lope::render
