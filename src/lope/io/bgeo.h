// Particles for Houdini, Partio and what reads them (importers for Blender and Maya): geometry files of version 5, a file for each body
// with points and frame.
//
// All numbers big-endian. "Bgeo", 'V', int32 5; int32 counts of points, primitives, groups of points, groups of primitives, attributes
// of points, of vertices, of primitives, of the whole. Then for each attribute of points: its name (uint16 length, characters), uint16
// numbers per point, int32 type (0: floats, 5: a vector, which turns with the geometry), and a default, 0, for each number. Then for
// each point x, y, z, 1 and its attributes, as floats. There are no primitives; bytes 0 and 255 end the file.
//
// `v` is the velocity, as Houdini calls it, `pscale` the radius of the balls; other fields keep their names.
#pragma once

#include <lope/io/series.h>

namespace lope::io {

// STEM_NAME_000012.bgeo.
Expected<void> write_bgeo_frame(const std::filesystem::path& folder, const std::string& stem,
                                std::int64_t number, std::span<const SeriesBody> bodies);

}  // namespace lope::io
