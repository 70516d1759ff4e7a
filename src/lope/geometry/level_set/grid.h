// Level sets interpolated from a sparse grid (OpenVDB): for obstacles without a formula. Their gradients are
// not exactly of length 1 and their second derivatives jump from cell to cell, so they serve as penalties
// (OPT §5.2), never as constraints.
//
// Inside the obstacle the grid holds distances everywhere, so that a deep penetration is still pushed out.
// Outside it they end a few voxels from the surface (GridOptions::band); farther out φ is that distance, the
// gradient and the second derivative are zero. Memory: the voxels inside plus those of the band.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/level_set.h>

#include <filesystem>
#include <string>

namespace lope::geometry {

// The derivatives are those of the interpolation itself: exact.
enum class Interpolation {
  Linear,     // trilinear, as in the paper: φ has kinks at the faces of the cells
  Quadratic,  // quadratic B-spline: gradient continuous; shifts the surface by about h²/8 times twice the
              // mean curvature (it smooths the grid's values; h: side of a voxel)
};

struct GridOptions {
  double voxel = 0;  // metres, side of a cell; positive
  double band = 3;   // voxels outside the surface that hold distances; at least 2
  Interpolation interpolation = Interpolation::Linear;
  double max_voxels = 5e8;  // refuse when the estimate is above
};

// The inside of a closed surface. Fails where check_surface (surface_check.h) does: an open or non-manifold
// surface, crossing triangles; for options out of range and for a voxel too large to see the body.
Expected<LevelSetPtr> grid_level_set(const Mesh& surface, const GridOptions& options);

// From a .vdb file: the level set of that name, or the first one. Distances in metres. What the file holds of
// φ is kept; distances deeper inside are added where it has none. Fails where the file cannot be read, has no
// such grid or none that is a level set of single-precision numbers, or the grid is empty.
Expected<LevelSetPtr> read_grid_level_set(const std::filesystem::path& file, const std::string& grid = "",
                                          Interpolation interpolation = Interpolation::Linear);

// Writes a level set made by one of the above. Fails where it is another kind, or the file cannot be written.
Expected<void> write_grid_level_set(const LevelSet& set, const std::filesystem::path& file);

}  // namespace lope::geometry
