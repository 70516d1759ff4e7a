// Sequences of files for other programs: VTU with a PVD index (ParaView), surfaces as PLY or OBJ (Blender
// and others), points as CSV. Every file is written atomically, and the index after the files that it names: what exists can
// be opened while the simulation goes on.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/io/surface.h>
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
  Vec3 color = Vec3::Constant(0.5);  // sRGB
  double point_radius = 0;  // of the balls that pictures draw where there is no surface; 0: not known
  std::string material = {};  // a hint how it looks: geometry::Look
  // Where the corners of the triangles are in the flat cloth, 2 numbers for each: texture coordinates in metres. Or nothing.
  std::span<const float> texture = {};
};

// What takes the frames of a run one after another, and is told when there are no more.
class SeriesWriter {
 public:
  virtual ~SeriesWriter() = default;
  // Fails for fields that do not match their mesh.
  virtual Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) = 0;
  virtual Expected<void> finish() { return {}; }
};

// STEM.pvd, and STEM_000012_0_NAME.vtu for every frame and body (the 0 is its `part` in the index). A body
// with tetrahedra is written without its triangles.
class VtuSeries final : public SeriesWriter {
 public:
  // Nothing is written before the first frame.
  VtuSeries(std::filesystem::path folder, std::string stem, Precision precision = Precision::Single);

  Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) override;

 private:
  std::filesystem::path folder_;
  std::string stem_;
  Precision precision_;
  std::string entries_;  // of the index, so far
};

// "STEM_NAME_000012.ply": what sequences of files are called that have no index.
std::string numbered_name(const std::string& stem, const std::string& name, std::int64_t number, const char* extension);
// The same of a file for all frames: "STEM_NAME.pc2".
std::string file_name(const std::string& stem, const std::string& name, const char* extension);

// Write the surfaces of all bodies with the vertices that they use; of a body without one its points. OBJ: one file
// STEM_000012.obj with one object per body, with texture coordinates where it has them. PLY: a file for each body, with the scalars and vectors (NAME_x, NAME_y, NAME_z) on
// its points. CSV: a file for each body, with a line of names and one for each of its points: x, y, z and their scalars and vectors.
Expected<void> write_obj_frame(const std::filesystem::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies);
Expected<void> write_ply_frame(const std::filesystem::path& folder, const std::string& stem, std::int64_t number,
                               std::span<const SeriesBody> bodies);
Expected<void> write_csv_frame(const std::filesystem::path& folder, const std::string& stem,
                               std::int64_t number, std::span<const SeriesBody> bodies);
// The text of an OBJ file.
std::string obj_bytes(std::span<const SeriesBody> bodies);

// The same as a writer of a series.
using WriteFrame = Expected<void> (*)(const std::filesystem::path& folder, const std::string& stem,
                                      std::int64_t number, std::span<const SeriesBody> bodies);
class FrameFiles final : public SeriesWriter {
 public:
  FrameFiles(WriteFrame write, std::filesystem::path folder, std::string stem)
      : write_(write), folder_(std::move(folder)), stem_(std::move(stem)) {}
  Expected<void> add_frame(std::int64_t number, double /*time*/,
                           std::span<const SeriesBody> bodies) override {
    return write_(folder_, stem_, number, bodies);
  }

 private:
  WriteFrame write_;
  std::filesystem::path folder_;
  std::string stem_;
};

// The vertices of a body that its surface uses, and it; all points where there is none.
Surface shown_part(const SeriesBody& body);
// Whether the fields of a body match its mesh.
Expected<void> check_body(const SeriesBody& body);

}  // namespace lope::io
