// What there is to see of something: a surface, points, a volume, each with named fields. Frames, exporters, pictures and
// whatever else shows a simulation know these three and no kind of matter (docs/formats.md).
//
// All numbers in single precision and SI units, positions in space also for what is flat (z = 0).
#pragma once

#include <lope/math/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lope::geometry {

// A quantity in every place: a scalar, a vector (x y z) or a symmetric tensor (xx yy zz xy yz zx).
struct DrawnField {
  std::string name;
  std::string unit;            // SI; empty: none
  int components = 1;          // 1, 3 or 6, one after the other in `values`
  std::vector<float> values;
};

// What is woven or printed on a surface, by its material coordinates: bands along the second one ("stripes"), bands along both ("checks"),
// threads that go over and under each other ("weave").
struct Pattern {
  std::string kind;  // empty: none
  double width = 0;  // of a band or a thread, metres
  Vec3 color =
      Vec3::Constant(1.0);  // sRGB: of every other band, or of the threads along the first coordinate
};

// A hint for pictures. `material`: empty for something plain; "water" for a clear liquid, "glass" for thin clear walls.
struct Look {
  Vec3 color = Vec3::Constant(0.5);  // sRGB
  std::string material;
  bool backdrop = false;  // obstacles: no field is shown on it
  bool bounded = true;    // false: cut off somewhere; a picture need not show all of it
  bool cut = false;       // walls that hide what is inside are better left out
  std::optional<Vec3> back;  // sRGB, of the side where triangles are clockwise; none: like the other one
  Pattern pattern;           // of the other one
};

// Triangles, counter-clockwise seen from outside. Elements are the tetrahedra that fill it; where there are none, the triangles.
struct DrawnSurface {
  std::vector<float> positions;         // 3 per vertex
  std::vector<std::int32_t> triangles;  // 3 per triangle
  std::vector<std::int32_t> tetrahedra; // 4 per tetrahedron
  std::vector<DrawnField> vertex_fields, element_fields;
  std::vector<float> material_coordinates;  // of the corners of triangles, 6 per triangle, metres; or empty
  // 3 per vertex, or empty. The surface may reach a little into the walls that it touches, so that pictures show no air in
  // between; moved by this it lies upon them.
  std::vector<float> out_of_walls;

  std::size_t vertices() const { return positions.size() / 3; }
};

struct DrawnPoints {
  std::vector<float> positions;  // 3 per point
  double radius = 0;             // of the balls that are drawn; metres
  // Colours of what the points consist of (3 numbers each, sRGB), chosen by the field "part"; empty: all have that of the look.
  std::vector<float> palette;
  std::vector<DrawnField> fields;

  std::size_t count() const { return positions.size() / 3; }
};

// Cells of a regular grid. Of vectors that are `staggered` each component lies on the lower face of its axis.
struct DrawnVolume {
  double spacing = 0;          // side of a cell; 0: there is no volume
  Vec3 origin = Vec3::Zero();  // the lowest corner of cell (0, 0, 0)
  std::vector<std::int32_t> cells;  // 3 per cell: its place in the grid
  std::vector<DrawnField> fields;
  std::vector<std::string> staggered;  // names of fields
  // What the numbers of the field "kind" mean, from 0: empty space, what is shown, walls.
  std::vector<std::string> kinds;

  std::size_t count() const { return cells.size() / 3; }
};

struct Drawable {
  int dimension = 3;
  Look look;
  DrawnSurface surface;
  DrawnPoints points;
  DrawnVolume volume;
};

// Null if there is none of that name.
inline const DrawnField* find_field(const std::vector<DrawnField>& fields, const std::string& name) {
  for (const DrawnField& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

}  // namespace lope::geometry
