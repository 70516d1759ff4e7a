#include <lope/io/export.h>

#include <algorithm>

#include "commands.h"
#include <fmt/core.h>

namespace lope::program {
namespace {

namespace fs = std::filesystem;

// What the surface of a body has enclosed over time.
std::string about(const io::EnclosedVolumes& body) {
  const std::vector<double>& volumes = body.volumes;
  if (!(volumes.front() > 0)) return "";
  const auto [least, most] = std::minmax_element(volumes.begin(), volumes.end());
  const auto percent = [&](double volume) { return 100 * (volume / volumes.front() - 1); };
  return fmt::format("\nthe surface of '{}' encloses {:.5g} m³ at first, {:.5g} m³ at last ({:+.2f} %); between {:+.2f} % and {:+.2f} %",
                     body.name, volumes.front(), volumes.back(), percent(volumes.back()), percent(*least), percent(*most));
}

Expected<std::string> export_run(const fs::path& directory, const std::string& format, fs::path folder) {
  const auto run = open_frames(directory);
  if (!run) return forward_error(run);
  if (folder.empty()) folder = directory / format;
  const auto volumes = io::export_run(*run, format, folder, fs::weakly_canonical(directory).filename().string());
  if (!volumes) return forward_error(volumes);
  std::string line = fmt::format("{} frames in {}", run->numbers().size(), folder.string());
  for (const io::EnclosedVolumes& body : *volumes) line += about(body);
  return line;
}

}  // namespace

Expected<io::RunFrames> open_frames(const fs::path& directory) {
  auto run = io::RunFrames::open(directory);
  if (!run) return forward_error(run);
  if (const std::string missing = run->gaps(); !missing.empty())
    fmt::print(stderr, "warning: {}: frames are missing: {}\n", (directory / "frames").string(), missing);
  return run;
}

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
  command->add_option("--format", *format, "vtu (with a .pvd index), ply, obj or vdb (volumes)")
      ->one_of(io::export_formats());
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
