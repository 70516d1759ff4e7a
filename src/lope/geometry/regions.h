// Choosing vertices by where they are. Comparisons are generous by 10⁻⁹ of the mesh's largest extent, so that
// a face of a box is selected in spite of round-off.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <variant>
#include <vector>

namespace lope::geometry {

struct EveryVertex {};

struct InBox {
  Vec3 min;
  Vec3 max;
};

struct InSphere {
  Vec3 center;
  double radius;
};

// (x − point)·normal ≥ 0. The normal may have any length but zero.
struct InHalfSpace {
  Vec3 point;
  Vec3 normal;
};

// Within `fraction` (0 to 1) of the mesh's extent along an axis (0, 1, 2) from its lower or upper end.
struct NearEnd {
  int axis = 0;
  bool upper = false;
  double fraction = 0.01;
};

// The one vertex closest to a point; the lowest index of several.
struct NearestTo {
  Vec3 point;
};

struct WithIndices {
  std::vector<int> indices;  // from 0
};

struct Region {
  std::variant<EveryVertex, InBox, InSphere, InHalfSpace, NearEnd, NearestTo, WithIndices> where;
  bool surface_only =
      false;  // only vertices of boundary triangles (of boundary edges, for meshes of triangles)
};

// Sorted, each once; may be empty. Fails for an index out of range, a zero normal, a fraction outside [0, 1],
// an axis that is none, or numbers that are not finite.
Expected<std::vector<int>> select_vertices(const Mesh& mesh, const Region& region);

}  // namespace lope::geometry
