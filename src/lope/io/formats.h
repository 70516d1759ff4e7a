// The readers and writers behind mesh_io.h, one source file per format. Readers take the whole file in a
// Scanner and check everything but what is common to all formats (mesh_io.cpp does that). Writers return the
// bytes of the file.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/io/mesh_io.h>
#include <lope/io/scanner.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lope::io {

Expected<geometry::Mesh> read_obj(Scanner& in);
Expected<geometry::Mesh> read_ply(Scanner& in);
Expected<geometry::Mesh> read_stl(Scanner& in);
Expected<geometry::Mesh> read_gmsh(Scanner& in);
Expected<geometry::Mesh> read_vtk(Scanner& in);
Expected<geometry::Mesh> read_vtu(Scanner& in);
Expected<geometry::Mesh> read_medit(Scanner& in);
// Two files: `path` is either of them.
Expected<geometry::Mesh> read_tetgen(const std::filesystem::path& path);

std::string write_obj(const geometry::Mesh& mesh);
std::string write_ply(const geometry::Mesh& mesh, Encoding encoding);
std::string write_stl(const geometry::Mesh& mesh, Encoding encoding);
std::string write_gmsh(const geometry::Mesh& mesh, Encoding encoding);
std::string write_vtu(const geometry::Mesh& mesh, Encoding encoding);
std::string write_medit(const geometry::Mesh& mesh);

// Appends the fan of triangles around the first corner.
void add_polygon(const std::vector<int>& corners, std::vector<geometry::Triangle>& triangles);

// Cells of one file in VTK's numbering of cell types, shared by .vtk and .vtu.
class VtkCells {
 public:
  explicit VtkCells(geometry::Mesh& mesh) : mesh_(mesh) {}
  // One cell with corners in range. False if the type has fewer or more corners than were given.
  bool add(int type, const std::vector<int>& corners);
  // Call once, after the last cell: `values` holds one number per cell, or nothing.
  void set_regions(const std::vector<double>& values);
  std::size_t count() const { return cells_; }
  std::size_t left_out() const { return left_out_; }

 private:
  geometry::Mesh& mesh_;
  std::vector<std::size_t> triangle_cell_, tetrahedron_cell_;  // which cell each one came from
  std::size_t cells_ = 0;
  std::size_t left_out_ = 0;
};

// A warning that `count` cells of a file were left out (none for 0).
void warn_left_out(const std::string& path, std::size_t count, const std::string& what);

// Clears regions that distinguish nothing (all zero).
void drop_trivial_regions(std::vector<int>& region);

}  // namespace lope::io
