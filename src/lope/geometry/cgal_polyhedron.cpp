#include <lope/base/errors.h>
#include <lope/geometry/cgal_mesh_3.h>

#include <exception>
#include <new>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Mesh_polyhedron_3.h>
#include <CGAL/Polygon_mesh_processing/polygon_soup_to_polygon_mesh.h>
#include <CGAL/Polyhedral_mesh_domain_with_features_3.h>

namespace lope::geometry::delaunay {

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Polyhedron = CGAL::Mesh_polyhedron_3<Kernel>::type;
using Domain = CGAL::Polyhedral_mesh_domain_with_features_3<Kernel>;

Polyhedron to_polyhedron(const Mesh& surface) {
  std::vector<Kernel::Point_3> points;
  points.reserve(surface.vertices.size());
  for (const Vec3& p : surface.vertices) points.emplace_back(p.x(), p.y(), p.z());
  Polyhedron polyhedron;
  CGAL::Polygon_mesh_processing::polygon_soup_to_polygon_mesh(points, surface.triangles, polyhedron);
  return polyhedron;
}

}  // namespace

Expected<Mesh> mesh_polyhedron(const Mesh& surface, double feature_angle, const Sizes& sizes) {
  try {
    CGAL::Random random(0);
    Domain domain(to_polyhedron(surface), &random);
    domain.detect_features(feature_angle);
    return refine_and_optimize(domain, sizes);
  } catch (const std::bad_alloc&) {
    return environment_error("no memory for tetrahedra of edge length {}; choose a larger one", sizes.edge);
  } catch (const std::exception& failure) {
    return input_error("the tetrahedral mesher failed ({}); try a smaller edge length", failure.what());
  }
}

}  // namespace lope::geometry::delaunay
