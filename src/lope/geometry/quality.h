// How good a mesh is: shapes of elements and everything that makes a mesh unusable. The elements are the
// tetrahedra or, where there are none, the triangles (in the plane z = 0 when all z are zero: then
// orientation counts too).
#pragma once

#include <lope/geometry/mesh.h>

#include <array>
#include <cstddef>
#include <string>

namespace lope::geometry {

// How many there are and which is the first (−1: none).
struct Finding {
  std::size_t count = 0;
  int first = -1;
};

struct QualityOptions {
  double sliver_angle = 5;  // degrees; an element with a dihedral angle (2D: angle) below it is a sliver
  double flat = 1e-12;  // an element has no volume below this fraction of its longest edge cubed (squared)
};

struct QualityReport {
  int dimension = 3;  // of the elements
  std::size_t vertices = 0;
  std::size_t elements = 0;
  int components = 0;

  // Fatal for a simulation.
  Finding bad_indices;  // elements that name vertices that do not exist; all else ignores them
  Finding not_finite;   // vertices
  Finding inverted;     // elements of negative volume
  Finding flat;         // elements without volume
  // Suspicious.
  Finding slivers;     // elements
  Finding unused;      // vertices
  Finding duplicates;  // vertices at exactly the place of a vertex with a lower index

  double volume = 0;  // m³ (m²), signed sum
  double smallest_volume = 0;
  double largest_volume = 0;
  double shortest_edge = 0;  // metres
  double longest_edge = 0;
  double mean_edge = 0;       // over elements, so inner edges count several times
  double smallest_angle = 0;  // degrees, dihedral (2D: interior)
  double largest_angle = 0;
  std::array<std::size_t, 18> angle_histogram = {};  // 10° each, all angles of all elements
  double mean_radius_ratio = 0;                      // 3·inradius/circumradius (2D: 2·): 1 regular, 0 flat
  double worst_radius_ratio = 0;                     // negative for inverted elements
  int worst_element = -1;

  bool usable() const {
    return elements > 0 && bad_indices.count + not_finite.count + inverted.count + flat.count == 0;
  }
};

struct ElementQuality {
  double volume = 0;        // m³ (m²), signed
  double radius_ratio = 0;  // carries the sign of the volume
  double smallest_angle = 0;
  double largest_angle = 0;
};

ElementQuality tetrahedron_quality(const std::array<Vec3, 4>& corners);
// The sign is that of the area's z-component where `planar`, positive otherwise.
ElementQuality triangle_quality(const std::array<Vec3, 3>& corners, bool planar);

QualityReport assess_quality(const Mesh& mesh, const QualityOptions& options = {});

// One paragraph.
std::string describe(const QualityReport& report);

}  // namespace lope::geometry
