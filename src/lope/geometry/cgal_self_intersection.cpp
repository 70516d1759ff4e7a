#include <lope/base/errors.h>
#include <lope/geometry/delaunay_meshing.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/self_intersections.h>
#include <CGAL/Surface_mesh.h>

namespace lope::geometry::delaunay {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Surface = CGAL::Surface_mesh<Kernel::Point_3>;

Expected<std::optional<std::array<int, 2>>> find_self_intersection(const Mesh& mesh) {
  try {
    Surface surface;
    for (const Vec3& p : mesh.vertices) surface.add_vertex(Kernel::Point_3(p.x(), p.y(), p.z()));
    const auto vertex = [](int i) { return Surface::Vertex_index(static_cast<Surface::size_type>(i)); };
    for (const auto& [i, j, k] : mesh.triangles) surface.add_face(vertex(i), vertex(j), vertex(k));
    std::vector<std::pair<Surface::Face_index, Surface::Face_index>> pairs;
    CGAL::Polygon_mesh_processing::self_intersections(surface, std::back_inserter(pairs),
                                                      CGAL::parameters::maximum_number(1));
    if (pairs.empty()) return std::nullopt;
    const int a = static_cast<int>(pairs.front().first), b = static_cast<int>(pairs.front().second);
    return std::array<int, 2>{std::min(a, b), std::max(a, b)};
  } catch (const std::exception& failure) {
    return input_error("the test for self-intersections failed ({})", failure.what());
  }
}

}  // namespace lope::geometry::delaunay
