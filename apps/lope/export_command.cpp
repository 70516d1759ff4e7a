#include <lope/io/export.h>

#include <algorithm>
#include <charconv>

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

Expected<std::string> export_run(const fs::path& directory, io::ExportOptions options) {
  const auto run = open_frames(directory);
  if (!run) return forward_error(run);
  if (options.folder.empty()) options.folder = directory / options.format;
  options.stem = fs::weakly_canonical(directory).filename().string();
  const auto volumes = io::export_run(*run, options);
  if (!volumes) return forward_error(volumes);
  const auto frames = std::count_if(run->numbers().begin(), run->numbers().end(),
                                    [&](std::int64_t number) { return options.takes(number); });
  std::string line = fmt::format("{} frames in {}", frames, options.folder.string());
  for (const io::EnclosedVolumes& body : *volumes) line += about(body);
  return line;
}

// "7", "10-50", "10-50/5"; empty: all. False: it is none of these.
bool read_range(const std::string& text, io::ExportOptions& options) {
  if (text.empty()) return true;
  const char *at = text.data(), *const end = at + text.size();
  const auto number = [&](std::int64_t& value) {
    const auto found = std::from_chars(at, end, value);
    at = found.ptr;
    return found.ec == std::errc() && value >= 0;
  };
  const auto follows = [&](char c) { return at != end && *at == c && (++at, true); };
  if (!number(options.first)) return false;
  options.last = options.first;
  if (follows('-') && !number(options.last)) return false;
  if (follows('/') && !(number(options.every) && options.every > 0)) return false;
  return at == end && options.last >= options.first;
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
    io::ExportOptions options;
    options.format = format;
    auto done = export_run(directory, options);
    if (!done) return forward_error(done);
    lines.push_back(std::move(*done));
  }
  return lines;
}

void add_export(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand(
      "export", "Write the frames of a run as VTU (ParaView), PLY, OBJ, CSV, USD, glTF, point caches, BGEO or VDB");
  struct Choices {
    std::string directory, up = "y", frames;
    io::ExportOptions options;
  };
  auto chosen = std::make_shared<Choices>();
  chosen->options.format = "vtu";
  command->add_option("run", chosen->directory, "Directory of a run")->required()->suggest({}, Paths::Folders);
  command
      ->add_option("--format", chosen->options.format,
                   "vtu (with a .pvd index), ply, obj, csv, usd (text), gltf (.glb, small cases), pc2 or mdd "
                   "(point caches and their mesh), bgeo (particles), vdb (volumes)")
      ->one_of(io::export_formats());
  command->add_option("-o,--output", chosen->options.folder, "Folder to write to (default: RUN/FORMAT)")
      ->type_name("DIR");
  command
      ->add_option("--up", chosen->up,
                   "The axis that points up in the files: z turns what is up in the scene, y")
      ->one_of({"y", "z"});
  command->add_option("--scale", chosen->options.scale, "Units of the files per metre: 100 for centimetres")
      ->check(positive);
  command
      ->add_option("--frames", chosen->frames,
                   "Frames by their numbers: 7, 10-50, 10-50/5 (every fifth) (default: all)")
      ->type_name("RANGE");
  const auto look = [=] {
    io::ExportOptions options;
    if (read_range(chosen->frames, options)) return static_cast<int>(Done);
    return complain({fmt::format("--frames: '{}' is no range of frames; write 7, 10-50 or 10-50/5", chosen->frames),
                     Trouble::Input});
  };
  command->rehearse(look);
  command->callback([=, &status] {
    if (status = look(); status != Done) return;
    io::ExportOptions options = chosen->options;
    options.z_up = chosen->up == "z";
    read_range(chosen->frames, options);
    const auto done = export_run(chosen->directory, options);
    if (done) {
      fmt::print("{}\n", *done);
    } else {
      status = complain(done.error());
    }
  });
}

}  // namespace lope::program
