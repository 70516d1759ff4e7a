// VTU (VTK's XML unstructured grid) as bytes: the writer shared by write_mesh and the time series.
#pragma once

#include <lope/geometry/mesh.h>
#include <lope/io/mesh_io.h>

#include <span>
#include <string>
#include <vector>

namespace lope::io {

// A quantity per vertex or per cell: `components` numbers for each, one after the other. Three are a vector, six a
// symmetric tensor in VTK's order xx yy zz xy yz xz.
struct Field {
  std::string name;
  int components = 1;
  std::vector<double> values;
};

// How real numbers are stored.
enum class Precision { Single, Double };

// A grid of triangles and tetrahedra with fields. Cells are the triangles, then the tetrahedra; so are the
// values of cell fields. Without either every vertex is a cell: a cloud of points.
struct VtuGrid {
  std::span<const Vec3> vertices;
  std::span<const geometry::Triangle> triangles;
  std::span<const geometry::Tetrahedron> tetrahedra;
  std::span<const Field> point_fields;
  std::span<const Field> cell_fields;
  std::span<const int> region;  // one per cell, written as the integer cell array "region"; or empty
};

// Binary: raw appended data, zlib blocks of 1 MiB, UInt64 headers, little-endian. Text: plain numbers.
std::string vtu_bytes(const VtuGrid& grid, Encoding encoding, Precision precision);

}  // namespace lope::io
