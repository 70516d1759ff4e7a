// Volumes as OpenVDB files.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace lope::geometry {

// A quantity on the cells of a regular grid.
struct CellField {
  std::string name;
  int components = 1;              // 1, or 3 for vectors
  bool staggered = false;          // vectors whose components lie on the lower faces of the cells
  std::vector<float> values = {};  // components of cell 0, of cell 1, …
};
struct CellGrid {
  double spacing = 0;
  Vec3 origin = Vec3::Zero();  // the corner of cell (0, 0, 0)
  std::vector<std::array<int, 3>> cells = {};
  std::vector<CellField> fields = {};
};

// A .vdb file with the level set "surface" (distances in metres from a closed surface, three voxels of this side to both
// sides) and the fields. Written under a temporary name first. Fails for fields that do not fit the cells, and where it
// cannot be written.
Expected<void> write_volume(const Mesh& surface, double voxel, const CellGrid& cells, const std::filesystem::path& file);

}  // namespace lope::geometry
