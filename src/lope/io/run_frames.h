// The frames of a run, read back for pictures and exports.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/drawable.h>
#include <lope/geometry/mesh.h>
#include <lope/io/drawable_frame.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lope::io {

class RunFrames {
 public:
  // Fails for a directory without frames.
  static Expected<RunFrames> open(const std::filesystem::path& run_directory);

  // What does not change, and what it belongs to.
  struct Thing {
    std::string name;
    geometry::Drawable constant;
  };
  const std::vector<Thing>& things() const { return things_; }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  // "3, 7 to 9": the numbers from 0 to the last that are not there; empty where there are none.
  std::string gaps() const;

  struct Data {
    double time = 0;
    std::vector<geometry::Drawable> drawables;  // whole ones, as things()
  };
  Expected<Data> read(std::int64_t number) const;

 private:
  std::filesystem::path folder_;
  std::vector<Thing> things_;
  std::vector<std::int64_t> numbers_;
};

// The field of this name, or the one that is drawn in its place: "velocity" for "speed", and "stress" and "von_mises" for
// each other. Null if there is none.
const geometry::DrawnField* field_or_like(const std::vector<geometry::DrawnField>& fields, const std::string& name);

// One number in every place (shown_values) of such a field.
std::vector<double> shown(const geometry::DrawnField& field);

// What pictures show of a field on the vertices of the surface: elements' values are averaged around each vertex; a field that
// only the cells have, over the cells nearby that are not empty. Empty if there is none.
std::vector<double> on_vertices(const geometry::Drawable& drawable, const std::string& field);

// The same on points: a field of theirs, or of the cell that each is in (NaN in no known cell).
std::vector<double> on_points(const geometry::Drawable& drawable, const std::string& field);

std::vector<Vec3> to_vectors(const std::vector<float>& numbers);
std::vector<geometry::Triangle> to_triangles(const std::vector<std::int32_t>& indices);
std::vector<geometry::Tetrahedron> to_tetrahedra(const std::vector<std::int32_t>& indices);

}  // namespace lope::io
