// Reading the frames of a run back, for pictures and exports.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/io/frame.h>

namespace lope::program {

// What does not change from frame to frame.
struct FrameBody {
  std::string name;
  int dimension = 3;
  std::vector<geometry::Triangle> triangles;  // the surface, or the body itself in 2D
  std::vector<geometry::Tetrahedron> tetrahedra;
  std::vector<double> partition;  // per element; empty: the run's scene did not ask for it
  Vec3 color = Vec3::Constant(0.5);
  bool obstacle = false;
  bool bounded = true;  // an obstacle with an end: belongs into the picture
  bool cut = false;     // a container: walls that hide what is inside are not drawn
  bool glass = false;   // a container of clear, thin walls
  bool liquid = false;  // the positions are particles
  double spacing = 0;   // of a liquid: side of its cells
  Vec3 origin = Vec3::Zero();  // corner of its cell (0, 0, 0)
  std::size_t element_count() const { return dimension == 3 ? tetrahedra.size() : triangles.size(); }
};

struct FieldData {
  std::string name, unit;
  bool on_elements = false;
  int components = 1;  // 3: a vector; 6: a symmetric tensor xx yy zz xy yz zx
  std::vector<double> values;
};

// The grid of a liquid: what is in the arrays NAME/cell/... (docs/formats.md).
struct CellData {
  std::vector<std::array<int, 3>> index;
  std::vector<std::uint8_t> kind, separating;
  std::vector<float> pressure, level_set, velocity;  // velocity: three per cell
};

struct BodyFrame {
  std::vector<Vec3> positions;
  std::vector<FieldData> fields;
  CellData cells;  // empty where the run wrote none
};

class RunFrames {
 public:
  static Expected<RunFrames> open(const std::filesystem::path& run_directory);
  const std::vector<FrameBody>& bodies() const { return bodies_; }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  struct Data {
    double time = 0;
    std::vector<BodyFrame> bodies;
  };
  Expected<Data> read(std::int64_t number) const;

 private:
  std::filesystem::path folder_;
  std::vector<FrameBody> bodies_;
  std::vector<std::int64_t> numbers_;
};

// The field of this name, or the one that is drawn in its place: "velocity" for "speed", and "stress" and "von_mises" for
// each other. Null if there is none.
const FieldData* field_named(const BodyFrame& frame, const std::string& name);

// What pictures show of that field, on the vertices or particles: the length of a vector, the von Mises stress of a tensor.
// Elements' values are averaged around each vertex. Empty if there is none.
std::vector<double> vertex_values(const FrameBody& body, const BodyFrame& frame, const std::string& field);

// The partition of a body's elements; found now where the run did not write it.
std::vector<double> partition_of(const FrameBody& body);

}  // namespace lope::program
