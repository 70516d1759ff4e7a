#include <lope/geometry/surface_check.h>
#include <lope/io/file.h>
#include <lope/io/series.h>

#include <algorithm>

#include "commands.h"
#include "frames.h"
#include "liquid_frames.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

io::SeriesBody series_body(const FrameBody& body, const BodyFrame& frame) {
  io::SeriesBody result;
  result.name = body.name;
  result.positions = frame.positions;
  result.triangles = body.triangles;
  result.tetrahedra = body.tetrahedra;
  for (const FieldData& field : frame.fields) {
    (field.on_elements ? result.cell_fields : result.point_fields).push_back({field.name, field.components, field.values});
  }
  if (!body.partition.empty() && body.partition.size() == body.element_count()) result.cell_fields.push_back({"partition", 1, body.partition});
  return result;
}

// The surface of a liquid in place of its particles, with their fields carried to its vertices. The mesh and the
// fields live as long as this does.
struct LiquidMesh {
  geometry::Mesh mesh;
  BodyFrame frame;
};

Expected<LiquidMesh> liquid_mesh(const FrameBody& body, const BodyFrame& frame, const SceneSolids& solids, double time) {
  const auto surface = liquid_surface(body, frame, solids.at(time), 0);
  if (!surface) return forward_error(surface);
  LiquidMesh result{surface->mesh(), {}};
  result.frame.positions = result.mesh.vertices;
  result.frame.fields.push_back({"speed", "m/s", false, 1, surface->carry(vertex_values(body, frame, "speed"), result.mesh.vertices)});
  return result;
}

// Surface, pressure and velocity as an OpenVDB file.
Expected<void> write_vdb(const FrameBody& body, const BodyFrame& frame, const SceneSolids& solids, double time, const fs::path& path) {
  const auto surface = liquid_surface(body, frame, solids.at(time), 0);
  if (!surface) return forward_error(surface);
  geometry::CellGrid grid{body.spacing, body.origin, frame.cells.index, {}};
  if (!frame.cells.index.empty()) {
    grid.fields.push_back({"pressure", 1, false, frame.cells.pressure});
    grid.fields.push_back({"velocity", 3, true, frame.cells.velocity});
  }
  return surface->write(path, grid);
}

// One frame of a run in one format. Liquids: particles in VTU, their surface in PLY and OBJ, level sets in VDB.
class Exporter {
 public:
  static Expected<Exporter> create(const fs::path& directory, const std::string& format, fs::path folder) {
    auto run = RunFrames::open(directory);
    if (!run) return forward_error(run);
    Exporter exporter(std::move(*run), format, folder.empty() ? directory / format : std::move(folder),
                      fs::weakly_canonical(directory).filename().string());
    const auto& bodies = exporter.run_.bodies();
    const auto liquid = std::find_if(bodies.begin(), bodies.end(), [](const FrameBody& b) { return b.liquid && b.dimension == 3; });
    if (liquid != bodies.end()) {
      const auto scene = scene::load_scene((directory / "scene.toml").string());
      if (!scene) return forward_error(scene);
      auto solids = SceneSolids::create(*scene, 3);
      if (!solids) return forward_error(solids);
      exporter.solids_ = std::move(*solids);
    } else if (format == "vdb") {
      return input_error("{}: there is no liquid in space, and only those are written as .vdb", directory.string());
    }
    if (const auto made = io::make_directory(exporter.folder_); !made) return forward_error(made);
    return exporter;
  }

  // One line about what was written.
  Expected<std::string> write_all() {
    for (const std::int64_t number : run_.numbers()) {
      const auto data = run_.read(number);
      if (!data) return forward_error(data);
      const auto written = format_ == "vdb" ? write_level_sets(number, *data) : write_bodies(number, *data);
      if (!written) return forward_error(written);
    }
    return fmt::format("{} frames in {}", run_.numbers().size(), folder_.string()) + about_volumes();
  }

 private:
  Exporter(RunFrames run, std::string format, fs::path folder, std::string stem)
      : run_(std::move(run)), format_(std::move(format)), folder_(std::move(folder)), stem_(std::move(stem)), vtu_(folder_, stem_) {}

  Expected<void> write_bodies(std::int64_t number, const RunFrames::Data& data) {
    std::vector<io::SeriesBody> bodies;
    std::vector<LiquidMesh> liquids;
    liquids.reserve(data.bodies.size());  // spans point into it
    for (std::size_t i = 0; i < data.bodies.size(); ++i) {
      const FrameBody& body = run_.bodies()[i];
      if (!body.liquid || body.dimension == 2 || format_ == "vtu") {
        bodies.push_back(series_body(body, data.bodies[i]));
        continue;
      }
      auto surface = liquid_mesh(body, data.bodies[i], solids_, data.time);
      if (!surface) return forward_error(surface);
      liquids.push_back(std::move(*surface));
      volumes_.push_back(geometry::enclosed_volume(liquids.back().mesh));
      bodies.push_back(series_body(body, liquids.back().frame));
      bodies.back().triangles = liquids.back().mesh.triangles;
    }
    if (format_ == "vtu") return vtu_.add_frame(number, data.time, bodies);
    const auto surface = format_ == "obj" ? io::SurfaceFormat::Obj : io::SurfaceFormat::Ply;
    return io::write_surface_frame(folder_, stem_, surface, number, bodies);
  }

  Expected<void> write_level_sets(std::int64_t number, const RunFrames::Data& data) {
    for (std::size_t i = 0; i < data.bodies.size(); ++i) {
      const FrameBody& body = run_.bodies()[i];
      if (!body.liquid) continue;
      const fs::path path = folder_ / fmt::format("{}_{:06}.vdb", stem_, number);
      if (auto written = write_vdb(body, data.bodies[i], solids_, data.time, path); !written) return written;
    }
    return {};
  }

  // What the surface of a liquid has enclosed.
  std::string about_volumes() const {
    if (volumes_.empty() || !(volumes_.front() > 0)) return "";
    const auto [least, most] = std::minmax_element(volumes_.begin(), volumes_.end());
    const auto percent = [&](double volume) { return 100 * (volume / volumes_.front() - 1); };
    return fmt::format("\nthe liquid's surface encloses {:.5g} m³ at first, {:.5g} m³ at last ({:+.2f} %); between {:+.2f} % and {:+.2f} %",
                       volumes_.front(), volumes_.back(), percent(volumes_.back()), percent(*least), percent(*most));
  }

  RunFrames run_;
  std::string format_;
  fs::path folder_;
  std::string stem_;
  io::VtuSeries vtu_;
  SceneSolids solids_;
  std::vector<double> volumes_;  // m³, of the liquid's surface in each frame
};

Expected<std::string> export_run(const fs::path& directory, const std::string& format, fs::path folder) {
  auto exporter = Exporter::create(directory, format, std::move(folder));
  if (!exporter) return forward_error(exporter);
  return exporter->write_all();
}

}  // namespace

Expected<std::vector<std::string>> export_frames(const fs::path& directory, const std::vector<std::string>& formats) {
  std::vector<std::string> lines;
  for (const std::string& format : formats) {
    auto done = export_run(directory, format, {});
    if (!done) return forward_error(done);
    lines.push_back(std::move(*done));
  }
  return lines;
}

void add_export(Arguments& app, int& status) {
  Arguments* command =
      app.add_subcommand("export", "Write the frames of a run as VTU (ParaView), PLY, OBJ or VDB");
  auto directory = std::make_shared<std::string>(), format = std::make_shared<std::string>("vtu");
  auto folder = std::make_shared<std::string>();
  command->add_option("run", *directory, "Directory of a run")->required();
  command->add_option("--format", *format, "vtu (with a .pvd index), ply, obj or vdb (liquids)")
      ->one_of({"vtu", "ply", "obj", "vdb"});
  command->add_option("-o,--output", *folder, "Folder to write to (default: RUN/FORMAT)")->type_name("DIR");
  command->callback([=, &status] {
    const auto done = export_run(*directory, *format, *folder);
    if (done) {
      fmt::print("{}\n", *done);
    } else {
      status = complain(done.error());
    }
  });
}

}  // namespace lope::program
