#include <lope/base/errors.h>
#include <lope/geometry/level_set/volume_file.h>
#include <lope/geometry/points_beside_surface.h>
#include <lope/geometry/surface_check.h>
#include <lope/io/bgeo.h>
#include <lope/io/export.h>
#include <lope/io/file.h>
#include <lope/io/gltf.h>
#include <lope/io/point_cache.h>
#include <lope/io/series.h>
#include <lope/io/usd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using geometry::Drawable;
using geometry::DrawnField;

// What spans of the series point into.
struct Converted {
  std::string name;
  std::vector<Vec3> positions;
  std::vector<geometry::Triangle> triangles;
  std::vector<geometry::Tetrahedron> tetrahedra;
  std::vector<Field> point_fields, cell_fields;
};

// Turns and scales what files hold.
class Placing {
 public:
  explicit Placing(const ExportOptions& options) : z_up_(options.z_up), scale_(options.scale) {}

  Vec3 turned(const Vec3& v) const { return z_up_ ? Vec3(v[0], -v[2], v[1]) : v; }
  void place(std::vector<Vec3>& positions) const {
    for (Vec3& x : positions) x = scale_ * turned(x);
  }
  Field placed(const DrawnField& drawn) const {
    Field field{drawn.name, drawn.components, std::vector<double>(drawn.values.begin(), drawn.values.end())};
    const bool length = drawn.unit == "m" || drawn.unit.starts_with("m/s");
    for (double& value : field.values) value *= length ? scale_ : 1;
    const auto step = static_cast<std::size_t>(field.components);
    for (std::size_t k = 0; z_up_ && step > 1 && k < field.values.size(); k += step)
      turn(&field.values[k], field.components);
    return field;
  }

 private:
  // A vector, or a symmetric tensor (xx yy zz xy yz zx).
  void turn(double* v, int components) const {
    if (components == 3) {
      const Vec3 to = turned({v[0], v[1], v[2]});
      std::copy_n(to.data(), 3, v);
    } else if (components == 6) {
      const std::array<double, 6> to{v[0], v[2], v[1], -v[5], -v[4], v[3]};
      std::copy_n(to.data(), 6, v);
    }
  }
  bool z_up_;
  double scale_;
};

// Flush with the walls that it touches.
std::vector<Vec3> positions_of(const geometry::DrawnSurface& surface) {
  std::vector<Vec3> x = to_vectors(surface.positions);
  for (std::size_t k = 0; k < surface.out_of_walls.size(); ++k)
    x[k / 3][static_cast<Eigen::Index>(k % 3)] += surface.out_of_walls[k];
  return x;
}

// Rows of so many values.
std::vector<float> picked(const std::vector<float>& values, std::size_t columns,
                          const std::vector<std::size_t>& rows) {
  std::vector<float> result;
  for (const std::size_t row : rows) {
    const float* first = values.data() + row * columns;
    result.insert(result.end(), first, first + columns);
  }
  return result;
}

bool has_surface(const Drawable& drawable) {
  return !drawable.surface.triangles.empty() || !drawable.surface.tetrahedra.empty();
}

// In some frame.
bool has_points(const Drawable& constant) { return constant.points.radius > 0; }

bool is_cache(const std::string& format) { return format == "pc2" || format == "mdd"; }

std::unique_ptr<SeriesWriter> writer_for(const ExportOptions& options, std::size_t frames) {
  const std::string& format = options.format;
  if (format == "vtu") return std::make_unique<VtuSeries>(options.folder, options.stem);
  if (format == "gltf") return std::make_unique<GltfFile>(options.folder, options.stem, frames);
  if (format == "usd")
    return std::make_unique<UsdStage>(options.folder, options.stem,
                                      StageOptions{options.z_up, options.scale});
  if (is_cache(format)) {
    const CacheFormat cache = format == "pc2" ? CacheFormat::Pc2 : CacheFormat::Mdd;
    return std::make_unique<PointCaches>(cache, options.folder, options.stem);
  }
  const WriteFrame write = format == "obj"    ? write_obj_frame
                           : format == "csv"  ? write_csv_frame
                           : format == "bgeo" ? write_bgeo_frame
                                              : write_ply_frame;
  return std::make_unique<FrameFiles>(write, options.folder, options.stem);
}

class Exporter {
 public:
  Exporter(const RunFrames& run, const ExportOptions& options)
      : run_(run),
        options_(options),
        placing_(options),
        numbers_(chosen()),
        writer_(writer_for(options, numbers_.size())) {}

  Expected<std::vector<EnclosedVolumes>> write_all() {
    if (numbers_.empty())
      return input_error("there is no frame among those that were asked for; the last one is {}",
                         run_.numbers().back());
    for (const RunFrames::Thing& thing : run_.things()) volumes_.push_back({thing.name, {}});
    if (const auto made = make_directory(options_.folder); !made) return forward_error(made);
    for (const std::int64_t number : numbers_) {
      const auto data = run_.read(number);
      if (!data) return forward_error(data);
      const auto written =
          options_.format == "vdb" ? write_volumes(number, *data) : write_bodies(number, *data);
      if (!written) return forward_error(written);
    }
    if (const auto finished = writer_->finish(); !finished) return forward_error(finished);
    std::erase_if(volumes_, [](const EnclosedVolumes& body) { return body.volumes.empty(); });
    return volumes_;
  }

 private:
  std::vector<std::int64_t> chosen() const {
    std::vector<std::int64_t> result;
    for (const std::int64_t number : run_.numbers()) {
      if (options_.takes(number)) result.push_back(number);
    }
    return result;
  }

  Converted surface_of(std::string name, const geometry::DrawnSurface& surface) const {
    return {std::move(name),
            positions_of(surface),
            to_triangles(surface.triangles),
            to_tetrahedra(surface.tetrahedra),
            fields_of(surface.vertex_fields),
            fields_of(surface.element_fields)};
  }
  Converted points_of(std::string name, const geometry::DrawnPoints& points) const {
    return {std::move(name), to_vectors(points.positions), {}, {}, fields_of(points.fields), {}};
  }
  // What the surface does not show.
  Converted loose_points_of(std::string name, const Drawable& drawable) const {
    const std::vector<std::size_t> which = geometry::points_beside_surface(drawable);
    geometry::DrawnPoints points = drawable.points;
    points.positions = picked(points.positions, 3, which);
    for (DrawnField& field : points.fields)
      field.values = picked(field.values, static_cast<std::size_t>(field.components), which);
    return points_of(std::move(name), points);
  }
  std::vector<Field> fields_of(const std::vector<DrawnField>& drawn) const {
    std::vector<Field> result;
    for (const DrawnField& field : drawn) result.push_back(placing_.placed(field));
    return result;
  }

  // Whether a surface and points of one body both have a place in the format.
  bool holds_both() const { return options_.format == "vtu" || options_.format == "usd"; }
  bool holds_surfaces() const {
    return options_.format == "ply" || options_.format == "obj" || options_.format == "gltf";
  }
  bool prefers_points() const { return options_.format == "csv"; }

  Expected<void> write_bodies(std::int64_t number, const RunFrames::Data& data) {
    std::deque<Converted> converted;
    std::vector<SeriesBody> bodies;
    const auto add = [&](Converted part, const Drawable& drawable) {
      placing_.place(part.positions);
      const Converted& body = converted.emplace_back(std::move(part));
      bodies.push_back({body.name, body.positions, body.triangles, body.tetrahedra, body.point_fields,
                        body.cell_fields, drawable.look.color, options_.scale * drawable.points.radius,
                        drawable.look.material,
                        body.triangles.empty() ? std::span<const float>()
                                               : std::span<const float>(drawable.surface.material_coordinates)});
    };
    for (std::size_t i = 0; i < data.drawables.size(); ++i) {
      const Drawable& drawable = data.drawables[i];
      const std::string& name = run_.things()[i].name;
      if (is_cache(options_.format) && !has_surface(run_.things()[i].constant)) continue;
      if (options_.format == "bgeo") {
        if (has_points(run_.things()[i].constant)) add(points_of(name, drawable.points), drawable);
        continue;
      }
      const bool points = drawable.points.count() > 0;
      const bool surface = has_surface(drawable) && !(points && prefers_points());
      if (surface) {
        Converted part = surface_of(points && holds_both() ? name + "_surface" : name, drawable.surface);
        if (drawable.volume.spacing > 0) note_volume(i, part);
        add(std::move(part), drawable);
      }
      if (!surface || (points && holds_both())) add(points_of(name, drawable.points), drawable);
      if (!surface || !holds_surfaces()) continue;
      Converted loose = loose_points_of(name + "_points", drawable);
      if (!loose.positions.empty()) add(std::move(loose), drawable);
    }
    return writer_->add_frame(number, data.time, bodies);
  }

  // In cubic metres: before it is scaled.
  void note_volume(std::size_t body, const Converted& surface) {
    geometry::Mesh mesh;
    mesh.vertices = surface.positions;
    mesh.triangles = surface.triangles;
    volumes_[body].volumes.push_back(geometry::enclosed_volume(mesh));
  }

  Expected<void> write_volumes(std::int64_t number, const RunFrames::Data& data) {
    for (std::size_t i = 0; i < data.drawables.size(); ++i) {
      const Drawable& drawable = data.drawables[i];
      if (!(drawable.volume.spacing > 0) || drawable.dimension == 2) continue;
      geometry::Mesh surface;
      surface.vertices = positions_of(drawable.surface);
      surface.triangles = to_triangles(drawable.surface.triangles);
      const geometry::DrawnVolume& volume = drawable.volume;
      geometry::CellGrid grid{volume.spacing, volume.origin, to_triangles(volume.cells), {}};
      for (const DrawnField& field : volume.fields) {
        const bool staggered = std::find(volume.staggered.begin(), volume.staggered.end(), field.name) != volume.staggered.end();
        if (field.components == 1 || field.components == 3)
          grid.fields.push_back({field.name, field.components, staggered, field.values});
      }
      const fs::path path =
          options_.folder / numbered_name(options_.stem, run_.things()[i].name, number, "vdb");
      if (auto written = geometry::write_volume(surface, 0.5 * volume.spacing, grid, path); !written) return written;
    }
    return {};
  }

  const RunFrames& run_;
  const ExportOptions& options_;
  Placing placing_;
  std::vector<std::int64_t> numbers_;
  std::unique_ptr<SeriesWriter> writer_;
  std::vector<EnclosedVolumes> volumes_;
};

}  // namespace

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> formats{"vtu", "ply", "obj", "csv", "usd", "gltf", "pc2", "mdd", "bgeo", "vdb"};
  return formats;
}

Expected<std::vector<EnclosedVolumes>> export_run(const RunFrames& run, const ExportOptions& options) {
  const auto any = [&](const auto& test) {
    return std::any_of(run.things().begin(), run.things().end(), test);
  };
  const bool volumes = any([](const RunFrames::Thing& thing) {
    return thing.constant.volume.spacing > 0 && thing.constant.dimension == 3;
  });
  if (options.format == "vdb" && !volumes)
    return input_error("there is no volume in space, and only those are written as .vdb");
  if (options.format == "vdb" && (options.z_up || options.scale != 1))
    return input_error("volumes are written as they are: neither turned nor scaled");
  if (options.format == "gltf" && (options.z_up || options.scale != 1))
    return input_error("glTF is in metres and y points up: it is neither turned nor scaled");
  if (options.format == "bgeo" && !any([](const RunFrames::Thing& thing) { return has_points(thing.constant); }))
    return input_error("there are no particles, and only those are written as .bgeo");
  if (is_cache(options.format) &&
      !any([](const RunFrames::Thing& thing) { return has_surface(thing.constant); }))
    return input_error("there is no mesh that stays the same, and only those are written as .{}",
                       options.format);
  return Exporter(run, options).write_all();
}

}  // namespace lope::io
