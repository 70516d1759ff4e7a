#include <algorithm>

#include <fmt/core.h>

#include <lope/io/file.h>
#include <lope/io/series.h>

#include "commands.h"
#include "frames.h"

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
    (field.on_elements ? result.cell_fields : result.point_fields).push_back({field.name, 1, field.values});
  }
  if (!body.partition.empty() && body.partition.size() == body.element_count()) result.cell_fields.push_back({"partition", 1, body.partition});
  return result;
}

// One line about what was written.
Expected<std::string> export_run(const fs::path& directory, const std::string& format, fs::path folder) {
  const auto run = RunFrames::open(directory);
  if (!run) return forward_error(run);
  if (folder.empty()) folder = directory / format;
  if (const auto made = io::make_directory(folder); !made) return forward_error(made);
  const std::string stem = fs::weakly_canonical(directory).filename().string();
  io::VtuSeries vtu(folder, stem);
  for (const std::int64_t number : run->numbers()) {
    const auto data = run->read(number);
    if (!data) return forward_error(data);
    std::vector<io::SeriesBody> bodies;
    for (std::size_t i = 0; i < data->bodies.size(); ++i) bodies.push_back(series_body(run->bodies()[i], data->bodies[i]));
    const auto surface = format == "obj" ? io::SurfaceFormat::Obj : io::SurfaceFormat::Ply;
    const auto written = format == "vtu" ? vtu.add_frame(number, data->time, bodies)
                                         : io::write_surface_frame(folder, stem, surface, number, bodies);
    if (!written) return forward_error(written);
  }
  return fmt::format("{} frames in {}", run->numbers().size(), folder.string());
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

void add_export(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("export", "Write the frames of a run as VTU (ParaView), PLY or OBJ");
  auto directory = std::make_shared<std::string>(), format = std::make_shared<std::string>("vtu");
  auto folder = std::make_shared<std::string>();
  command->add_option("run", *directory, "Directory of a run")->required();
  command->add_option("--format", *format, "vtu (with a .pvd index), ply or obj")->check(CLI::IsMember({"vtu", "ply", "obj"}));
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
