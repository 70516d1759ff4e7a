#include <lope/base/errors.h>
#include <lope/geometry/level_set/volume_file.h>
#include <lope/geometry/surface_check.h>
#include <lope/io/export.h>
#include <lope/io/file.h>
#include <lope/io/series.h>

#include <algorithm>
#include <deque>

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

std::vector<Field> fields_of(const std::vector<DrawnField>& drawn) {
  std::vector<Field> result;
  for (const DrawnField& field : drawn)
    result.push_back({field.name, field.components, std::vector<double>(field.values.begin(), field.values.end())});
  return result;
}

// Flush with the walls that it touches.
std::vector<Vec3> positions_of(const geometry::DrawnSurface& surface) {
  std::vector<Vec3> x = to_vectors(surface.positions);
  for (std::size_t k = 0; k < surface.out_of_walls.size(); ++k)
    x[k / 3][static_cast<Eigen::Index>(k % 3)] += surface.out_of_walls[k];
  return x;
}

Converted surface_of(std::string name, const geometry::DrawnSurface& surface) {
  return {std::move(name),
          positions_of(surface),
          to_triangles(surface.triangles),
          to_tetrahedra(surface.tetrahedra),
          fields_of(surface.vertex_fields),
          fields_of(surface.element_fields)};
}

Converted points_of(std::string name, const geometry::DrawnPoints& points) {
  return {std::move(name), to_vectors(points.positions), {}, {}, fields_of(points.fields), {}};
}

bool has_surface(const Drawable& drawable) {
  return !drawable.surface.triangles.empty() || !drawable.surface.tetrahedra.empty();
}

class Exporter {
 public:
  Exporter(const RunFrames& run, const std::string& format, const fs::path& folder, const std::string& stem)
      : run_(run), format_(format), folder_(folder), stem_(stem), vtu_(folder, stem) {}

  Expected<std::vector<EnclosedVolumes>> write_all() {
    for (const RunFrames::Thing& thing : run_.things()) volumes_.push_back({thing.name, {}});
    if (const auto made = make_directory(folder_); !made) return forward_error(made);
    for (const std::int64_t number : run_.numbers()) {
      const auto data = run_.read(number);
      if (!data) return forward_error(data);
      const auto written = format_ == "vdb" ? write_volumes(number, *data) : write_bodies(number, *data);
      if (!written) return forward_error(written);
    }
    std::erase_if(volumes_, [](const EnclosedVolumes& body) { return body.volumes.empty(); });
    return volumes_;
  }

 private:
  Expected<void> write_bodies(std::int64_t number, const RunFrames::Data& data) {
    std::deque<Converted> converted;
    for (std::size_t i = 0; i < data.drawables.size(); ++i) {
      const Drawable& drawable = data.drawables[i];
      const std::string& name = run_.things()[i].name;
      const bool points = drawable.points.count() > 0, surface = has_surface(drawable), vtu = format_ == "vtu";
      if (surface) converted.push_back(surface_of(vtu && points ? name + "_surface" : name, drawable.surface));
      if (surface && drawable.volume.spacing > 0) note_volume(i, converted.back());
      if (!surface || (vtu && points)) converted.push_back(points_of(name, drawable.points));
    }
    std::vector<SeriesBody> bodies;
    for (const Converted& body : converted)
      bodies.push_back({body.name, body.positions, body.triangles, body.tetrahedra, body.point_fields, body.cell_fields});
    if (format_ == "vtu") return vtu_.add_frame(number, data.time, bodies);
    return format_ == "obj" ? write_obj_frame(folder_, stem_, number, bodies)
                            : write_ply_frame(folder_, stem_, number, bodies);
  }

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
      const fs::path path = folder_ / numbered_name(stem_, run_.things()[i].name, number, "vdb");
      if (auto written = geometry::write_volume(surface, 0.5 * volume.spacing, grid, path); !written) return written;
    }
    return {};
  }

  const RunFrames& run_;
  const std::string& format_;
  const fs::path& folder_;
  const std::string& stem_;
  VtuSeries vtu_;
  std::vector<EnclosedVolumes> volumes_;
};

}  // namespace

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> formats{"vtu", "ply", "obj", "vdb"};
  return formats;
}

Expected<std::vector<EnclosedVolumes>> export_run(const RunFrames& run, const std::string& format, const fs::path& folder,
                                                  const std::string& stem) {
  const auto& things = run.things();
  const bool volumes = std::any_of(things.begin(), things.end(), [](const RunFrames::Thing& thing) {
    return thing.constant.volume.spacing > 0 && thing.constant.dimension == 3;
  });
  if (format == "vdb" && !volumes)
    return input_error("there is no volume in space, and only those are written as .vdb");
  return Exporter(run, format, folder, stem).write_all();
}

}  // namespace lope::io
