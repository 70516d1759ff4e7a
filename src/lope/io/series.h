// Sequences of files for other programs: VTU with a PVD index (ParaView), and surfaces as PLY or OBJ (Blender
// and others). Every file is written atomically, and the index after the files that it names: what exists can
// be opened while the simulation goes on.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/io/vtu.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lope::io {

// One body at one time. Cell fields have one value per tetrahedron, or per triangle of a body without
// tetrahedra.
struct SeriesBody {
  std::string name;
  std::span<const Vec3> positions;
  std::span<const geometry::Triangle> triangles;  // its surface; may be empty if there are tetrahedra
  std::span<const geometry::Tetrahedron> tetrahedra;
  std::vector<Field> point_fields;
  std::vector<Field> cell_fields;
};

// STEM.pvd, and STEM_000012_0_NAME.vtu for every frame and body (the 0 is its `part` in the index). A body
// with tetrahedra is written without its triangles.
class VtuSeries {
 public:
  // Nothing is written before the first frame.
  VtuSeries(std::filesystem::path folder, std::string stem, Precision precision = Precision::Single);

  // Fails for fields that do not match their mesh.
  Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies);

 private:
  std::filesystem::path folder_;
  std::string stem_;
  Precision precision_;
  std::string entries_;  // of the index, so far
};

// "STEM_NAME_000012.ply": what sequences of files are called that have no index.
std::string numbered_name(const std::string& stem, const std::string& name, std::int64_t number, const char* extension);

// Write the surfaces of all bodies with the vertices that they use; of a body without one its points. OBJ: one file
// STEM_000012.obj with one object per body. PLY: a file for each body, with the scalars and vectors (NAME_x, NAME_y, NAME_z) on
// its points.
Expected<void> write_obj_frame(const std::filesystem::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies);
Expected<void> write_ply_frame(const std::filesystem::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies);

}  // namespace lope::io
