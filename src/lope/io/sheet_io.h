// Sheets of cloth from OBJ files: `vt` lines are the material coordinates.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/sheet.h>

#include <filesystem>

namespace lope::io {

// `unit`: metres per unit of the texture coordinates; 0: so that the sheet has the same area in the material as in space.
// Without texture coordinates a sheet that lies in a plane is its own rest shape; any other one is flattened (geometry/flattening.h),
// which the log says, with the distortion. Mirrored texture coordinates are turned over. The result is not checked (geometry::check_sheet).
Expected<geometry::Sheet> read_sheet(const std::filesystem::path& path, double unit = 0);

}  // namespace lope::io
