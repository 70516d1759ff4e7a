#include <lope/base/errors.h>
#include <lope/base/log.h>
#include <lope/io/file.h>
#include <lope/io/formats.h>
#include <lope/io/mesh_io.h>
#include <lope/io/surface.h>

#include <algorithm>
#include <array>
#include <cctype>

#include <Eigen/Geometry>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using geometry::Mesh;

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

using Reader = Expected<Mesh> (*)(Scanner&);

// By what the file says of itself, if it does.
Reader reader_by_content(std::string_view bytes) {
  const auto begins = [&](std::string_view word) { return bytes.substr(0, word.size()) == word; };
  if (begins("$MeshFormat")) return read_gmsh;
  if (begins("ply\n") || begins("ply\r")) return read_ply;
  if (begins("# vtk DataFile")) return read_vtk;
  if (begins("<?xml") || begins("<VTKFile")) return read_vtu;
  if (bytes.substr(0, 4096).find("MeshVersionFormatted") != std::string_view::npos) return read_medit;
  return nullptr;
}

Reader reader_by_extension(const std::string& extension) {
  if (extension == ".obj") return read_obj;
  if (extension == ".ply") return read_ply;
  if (extension == ".stl") return read_stl;
  if (extension == ".msh") return read_gmsh;
  if (extension == ".vtk") return read_vtk;
  if (extension == ".vtu") return read_vtu;
  if (extension == ".mesh") return read_medit;
  return nullptr;
}

Expected<Mesh> read_any(const fs::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".node" || extension == ".ele") return read_tetgen(path);
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  if (bytes->empty()) return input_error("{}: the file is empty; export or copy it again", path.string());
  Reader reader = reader_by_content(*bytes);
  if (!reader) reader = reader_by_extension(extension);
  if (!reader) {
    return input_error(
        "{}: the format is not known; meshes are read from .obj, .ply, .stl, .msh, .vtk, .vtu, .node, .ele "
        "and .mesh",
        path.string());
  }
  Scanner in(path.string(), *bytes);
  return reader(in);
}

double signed_volume(const Mesh& mesh, const geometry::Tetrahedron& t) {
  const Vec3& a = mesh.vertices[t[0]];
  return (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).dot(mesh.vertices[t[3]] - a);
}

// Some programs number tetrahedra the other way round; a file where that holds for all of them is in order.
void turn_around_if_all_negative(const std::string& path, Mesh& mesh) {
  const auto negative = [&](const geometry::Tetrahedron& t) { return signed_volume(mesh, t) < 0; };
  if (mesh.tetrahedra.empty() || !std::all_of(mesh.tetrahedra.begin(), mesh.tetrahedra.end(), negative))
    return;
  for (geometry::Tetrahedron& t : mesh.tetrahedra) std::swap(t[2], t[3]);
  log_info("{}: all {} tetrahedra are negatively oriented; turned them around", path, mesh.tetrahedra.size());
}

void warn_of_unused_vertices(const std::string& path, const Mesh& mesh) {
  std::vector<char> used(mesh.vertices.size(), 0);
  for (const geometry::Triangle& t : mesh.triangles) {
    for (const int vertex : t) used[vertex] = 1;
  }
  for (const geometry::Tetrahedron& t : mesh.tetrahedra) {
    for (const int vertex : t) used[vertex] = 1;
  }
  const auto unused = std::count(used.begin(), used.end(), 0);
  if (unused > 0) log_warning("{}: {} of {} vertices belong to no element", path, unused, used.size());
}

// What a surface format gets of a mesh. A mesh of triangles stays as it is; a solid loses the vertices
// inside.
Mesh surface_mesh(const Mesh& mesh) {
  if (mesh.tetrahedra.empty()) return mesh;
  Surface surface = surface_of(mesh.vertices.size(), mesh.triangles, mesh.tetrahedra);
  Mesh result;
  for (const int vertex : surface.vertices) result.vertices.push_back(mesh.vertices[vertex]);
  result.triangles = std::move(surface.triangles);
  return result;
}

}  // namespace

void add_polygon(const std::vector<int>& corners, std::vector<geometry::Triangle>& triangles) {
  for (std::size_t i = 2; i < corners.size(); ++i)
    triangles.push_back({corners[0], corners[i - 1], corners[i]});
}

void warn_left_out(const std::string& path, std::size_t count, const std::string& what) {
  if (count > 0) log_warning("{}: left out {} {}", path, count, what);
}

void drop_trivial_regions(std::vector<int>& region) {
  if (std::all_of(region.begin(), region.end(), [](int value) { return value == 0; })) region.clear();
}

Expected<Mesh> read_mesh(const fs::path& path) {
  Expected<Mesh> mesh = read_any(path);
  if (!mesh) return mesh;
  if (mesh->triangles.empty() && mesh->tetrahedra.empty()) {
    return input_error(
        "{}: has {} vertices but no triangles or tetrahedra; export the mesh with its faces or cells",
        path.string(), mesh->vertices.size());
  }
  turn_around_if_all_negative(path.string(), *mesh);
  warn_of_unused_vertices(path.string(), *mesh);
  return mesh;
}

Expected<void> check_writable(const fs::path& path) {
  static constexpr std::array known{".msh", ".vtu", ".mesh", ".obj", ".ply", ".stl"};
  const std::string extension = lower_extension(path);
  if (std::find(known.begin(), known.end(), extension) != known.end()) return {};
  return input_error(
      "{}: meshes are written as .msh, .vtu, .mesh, .obj, .ply or .stl; choose one of these extensions",
      path.string());
}

Expected<void> write_mesh(const Mesh& mesh, const fs::path& path, Encoding encoding) {
  const std::size_t labelled = mesh.tetrahedra.empty() ? mesh.triangles.size() : mesh.tetrahedra.size();
  if (!mesh.region.empty() && mesh.region.size() != labelled) {
    return input_error("{}: the mesh has {} regions for {} elements", path.string(), mesh.region.size(),
                       labelled);
  }
  if (const auto known = check_writable(path); !known) return known;
  const std::string extension = lower_extension(path);
  if (extension == ".msh") return write_file(path, write_gmsh(mesh, encoding));
  if (extension == ".vtu") return write_file(path, write_vtu(mesh, encoding));
  if (extension == ".mesh") return write_file(path, write_medit(mesh));
  if (extension == ".obj") return write_file(path, write_obj(surface_mesh(mesh)));
  if (extension == ".ply") return write_file(path, write_ply(surface_mesh(mesh), encoding));
  return write_file(path, write_stl(surface_mesh(mesh), encoding));
}

}  // namespace lope::io
