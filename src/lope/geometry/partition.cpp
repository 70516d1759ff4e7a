#include <lope/base/errors.h>
#include <lope/geometry/partition.h>

#include <algorithm>

#include <metis.h>

namespace lope::geometry {

Expected<std::vector<int>> partition_elements(const Mesh& mesh, int parts) {
  const bool solid = !mesh.tetrahedra.empty();
  const std::size_t count = solid ? mesh.tetrahedra.size() : mesh.triangles.size();
  if (parts < 1) return input_error("a mesh cannot be divided into {} parts", parts);
  if (count < static_cast<std::size_t>(parts)) {
    return input_error("a mesh of {} elements cannot be divided into {} parts; use fewer parts", count,
                       parts);
  }
  if (parts == 1) return std::vector<int>(count, 0);

  const idx_t corners = solid ? 4 : 3;
  std::vector<idx_t> starts, nodes;
  starts.reserve(count + 1);
  nodes.reserve(count * static_cast<std::size_t>(corners));
  for (std::size_t e = 0; e <= count; ++e) starts.push_back(static_cast<idx_t>(e) * corners);
  for (const Tetrahedron& t : mesh.tetrahedra) nodes.insert(nodes.end(), t.begin(), t.end());
  if (!solid) {
    for (const Triangle& t : mesh.triangles) nodes.insert(nodes.end(), t.begin(), t.end());
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;

  idx_t elements = static_cast<idx_t>(count), vertices = static_cast<idx_t>(mesh.vertices.size());
  idx_t shared = corners - 1, wanted = parts, cut = 0;
  std::vector<idx_t> part_of_element(count), part_of_vertex(mesh.vertices.size());
  const int status =
      METIS_PartMeshDual(&elements, &vertices, starts.data(), nodes.data(), nullptr, nullptr, &shared,
                         &wanted, nullptr, options, &cut, part_of_element.data(), part_of_vertex.data());
  if (status == METIS_ERROR_MEMORY)
    return environment_error("no memory to divide a mesh of {} elements", count);
  if (status != METIS_OK) return input_error("METIS could not divide the mesh into {} parts", parts);
  return std::vector<int>(part_of_element.begin(), part_of_element.end());
}

std::vector<int> partition_for_colouring(const Mesh& mesh) {
  const std::size_t count = mesh.tetrahedra.empty() ? mesh.triangles.size() : mesh.tetrahedra.size();
  const int parts = static_cast<int>(std::max<std::size_t>(1, count / 2000));
  return partition_elements(mesh, parts).value_or(std::vector<int>(count, 0));
}

}  // namespace lope::geometry
