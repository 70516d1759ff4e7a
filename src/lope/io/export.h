// The frames of a run as files of other programs.
//
//   vtu  ParaView: a file per body and frame, with a .pvd index; elements with all fields, or points; where a body has both a
//        surface and points, the surface as NAME_surface
//   ply  a file per body and frame: the surface with the fields on its vertices; points where there is no surface
//   obj  a file per frame with one object per body
//   vdb  OpenVDB, a file per body with a volume and frame: distances from its surface and the fields of its cells
#pragma once

#include <lope/base/expected.h>
#include <lope/io/run_frames.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lope::io {

// "vtu", "ply", "obj" and "vdb".
const std::vector<std::string>& export_formats();

// What the closed surface of a body, which encloses something without elements, has enclosed in each frame.
struct EnclosedVolumes {
  std::string name;
  std::vector<double> volumes;  // m³
};

// Writes all frames into a folder, which is made. Fails for .vdb without a volume in space.
Expected<std::vector<EnclosedVolumes>> export_run(const RunFrames& run, const std::string& format,
                                                  const std::filesystem::path& folder, const std::string& stem);

}  // namespace lope::io
