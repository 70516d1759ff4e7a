// What the two tetrahedral meshers share; included only by cgal_implicit.cpp and cgal_polyhedron.cpp.
#pragma once

#include <lope/geometry/delaunay_meshing.h>

#include <unordered_map>

#include <CGAL/Mesh_complex_3_in_triangulation_3.h>
#include <CGAL/Mesh_criteria_3.h>
#include <CGAL/Mesh_triangulation_3.h>
#include <CGAL/Random.h>
#include <CGAL/exude_mesh_3.h>
#include <CGAL/make_mesh_3.h>
#include <CGAL/perturb_mesh_3.h>

namespace lope::geometry::delaunay {

// Refinement bounds circumradii, users think in edge lengths. Measured on balls and tori at several sizes,
// cells of circumradius at most 0.74·edge and facets of at most 0.69·edge give a mean edge length within 5%
// of `edge`.
inline constexpr double cell_radius_per_edge = 0.74;
inline constexpr double facet_radius_per_edge = 0.69;

template <class Complex>
Mesh to_mesh(const Complex& complex) {
  Mesh mesh;
  const auto& triangulation = complex.triangulation();
  std::unordered_map<typename Complex::Vertex_handle, int> index;
  index.reserve(triangulation.number_of_vertices());
  mesh.tetrahedra.reserve(complex.number_of_cells_in_complex());
  for (auto cell = complex.cells_in_complex_begin(); cell != complex.cells_in_complex_end(); ++cell) {
    Tetrahedron tetrahedron;
    for (int i = 0; i < 4; ++i) {
      const auto [entry, is_new] = index.try_emplace(cell->vertex(i), static_cast<int>(mesh.vertices.size()));
      if (is_new) {
        const auto& p = triangulation.point(cell->vertex(i)).point();
        mesh.vertices.emplace_back(p.x(), p.y(), p.z());
      }
      tetrahedron[i] = entry->second;
    }
    mesh.tetrahedra.push_back(tetrahedron);
  }
  return mesh;
}

// CGAL prints its warnings; while this lives it does not (an empty mesh is an Error of ours).
class QuietWarnings {
 public:
  QuietWarnings() : previous_(CGAL::set_warning_handler(ignore)) {}
  ~QuietWarnings() { CGAL::set_warning_handler(previous_); }
  QuietWarnings(const QuietWarnings&) = delete;
  QuietWarnings& operator=(const QuietWarnings&) = delete;

 private:
  static void ignore(const char*, const char*, const char*, int, const char*) {}
  CGAL::Failure_function previous_;
};

// Delaunay refinement, then sliver removal: perturbation moves vertices, exudation changes connectivity only.
template <class Domain>
Mesh refine_and_optimize(const Domain& domain, const Sizes& sizes) {
  using Triangulation = typename CGAL::Mesh_triangulation_3<Domain>::type;
  using Complex = CGAL::Mesh_complex_3_in_triangulation_3<Triangulation, typename Domain::Corner_index,
                                                          typename Domain::Curve_index>;
  using Criteria = CGAL::Mesh_criteria_3<Triangulation>;
  namespace parameters = CGAL::parameters;

  const QuietWarnings quiet;
  CGAL::get_default_random() = CGAL::Random(0);
  const Criteria criteria(parameters::edge_size = sizes.edge, parameters::facet_angle = 25,
                          parameters::facet_size = facet_radius_per_edge * sizes.edge,
                          parameters::facet_distance = sizes.surface_distance,
                          parameters::cell_radius_edge_ratio = 2,
                          parameters::cell_size = cell_radius_per_edge * sizes.edge);
  Complex complex = CGAL::make_mesh_3<Complex>(domain, criteria, parameters::manifold(),
                                               parameters::no_perturb(), parameters::no_exude());
  if (sizes.sliver_angle > 0) {
    CGAL::perturb_mesh_3(complex, domain, parameters::sliver_bound = sizes.sliver_angle);
    CGAL::exude_mesh_3(complex, parameters::sliver_bound = sizes.sliver_angle);
  }
  return to_mesh(complex);
}

}  // namespace lope::geometry::delaunay
