// The frames of a run as files of other programs.
//
//   vtu  ParaView: a file per body and frame, with a .pvd index; elements with all fields, or points; where a body has both a
//        surface and points, the surface as NAME_surface
//   ply  a file per body and frame: the surface with the fields on its vertices; points where there is no surface
//   obj  a file per frame with one object per body
//   csv  a file per body and frame: points, or the vertices of the surface, with their fields
//   usd  one file of text with all bodies and frames: meshes, points, velocities (usd.h)
//   gltf one binary file with all bodies and frames, for small cases (gltf.h)
//   bgeo a file per body with points and frame, for Houdini (bgeo.h)
//   pc2, mdd  a file per body whose mesh stays the same, with all frames, and its mesh as OBJ (point_cache.h)
//   vdb  OpenVDB, a file per body with a volume and frame: distances from its surface and the fields of its cells
#pragma once

#include <lope/base/expected.h>
#include <lope/io/run_frames.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace lope::io {

// "vtu", "ply", "obj", …
const std::vector<std::string>& export_formats();

// What the closed surface of a body, which encloses something without elements, has enclosed in each frame.
struct EnclosedVolumes {
  std::string name;
  std::vector<double> volumes;  // m³
};

struct ExportOptions {
  std::string format;
  std::filesystem::path folder;  // is made
  std::string stem;              // file names begin with it
  // Lengths are multiplied by `scale`, velocities and accelerations with them; z_up: turned so that what pointed along y points
  // along z.
  bool z_up = false;
  double scale = 1;
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max(), every = 1;  // numbers of frames
  bool takes(std::int64_t frame) const {
    return frame >= first && frame <= last && (frame - first) % every == 0;
  }
};

// Fails where there is nothing that the format holds (volumes in space, meshes that stay the same, points), where volumes or glTF are
// to be turned or scaled, where glTF would be too large, and without a frame.
Expected<std::vector<EnclosedVolumes>> export_run(const RunFrames& run, const ExportOptions& options);

}  // namespace lope::io
