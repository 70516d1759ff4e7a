// Meshes from files and to files. The formats:
//
//   reading  OBJ, PLY, STL, Gmsh .msh (2.2, 4.0, 4.1), VTK legacy .vtk, VTU, TetGen .node + .ele, MEDIT .mesh
//   writing  OBJ, PLY, STL, Gmsh .msh 4.1, VTU, MEDIT .mesh
//
// What each carries, and what is left aside, is in docs/formats.md. In short: polygons become triangle fans;
// cells other than triangles and tetrahedra are left out with a warning; a physical group, reference,
// attribute or cell array "region" becomes Mesh::region (left empty when the file distinguishes nothing); STL
// corners at identical positions become one vertex; if *every* tetrahedron of a file is negatively oriented,
// all are turned around.
//
// Failure: one Error that says where ("file:line" in text, "file: byte n" in binary), what is wrong and what
// to do. Truncated, damaged or hostile files fail that way too; memory stays proportional to the size of the
// file.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>

#include <filesystem>

namespace lope::io {

// Recognises the format by the file's first bytes where they tell, otherwise by its extension. A mesh that is
// returned has finite coordinates, indices in range and at least one triangle or tetrahedron.
Expected<geometry::Mesh> read_mesh(const std::filesystem::path& path);

enum class Encoding { Binary, Text };

// Whether write_mesh() knows the extension; the error names those it knows.
Expected<void> check_writable(const std::filesystem::path& path);

// The format is that of the extension. OBJ and MEDIT are always text. Doubles survive a round trip exactly
// (STL: the format has floats only). The surface formats (OBJ, PLY, STL) take the triangles, or the boundary
// of the tetrahedra if there are none. The file is replaced atomically.
Expected<void> write_mesh(const geometry::Mesh& mesh, const std::filesystem::path& path,
                          Encoding encoding = Encoding::Binary);

}  // namespace lope::io
