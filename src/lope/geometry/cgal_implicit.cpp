#include <lope/base/errors.h>
#include <lope/geometry/cgal_mesh_3.h>

#include <exception>
#include <new>
#include <utility>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Labeled_mesh_domain_3.h>
#include <CGAL/Mesh_domain_with_polyline_features_3.h>

namespace lope::geometry::delaunay {

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;
using LabeledDomain = CGAL::Labeled_mesh_domain_3<Kernel>;

// Vertices are placed by bisection to within this fraction of half the box's diagonal; curved shapes are then
// moved onto the true surface (shapes.cpp).
constexpr double bisection_error = 1e-7;

// CGAL's own domain finds its first surface points by shooting rays from the centre of the box, which misses
// components and never ends for a torus; this one is given them.
class SeededDomain : public LabeledDomain {
 public:
  SeededDomain(const ImplicitBody& body, const Kernel::Iso_cuboid_3& box)
      : LabeledDomain([&body](const Point& p) { return body.value(Vec3(p.x(), p.y(), p.z())) < 0 ? 1 : 0; },
                      box, CGAL::parameters::relative_error_bound = bisection_error),
        seeds_(&body.seeds) {}

  struct Construct_initial_points {
    const SeededDomain& domain;
    template <class Output>
    Output operator()(Output output, int = 0) const {
      const Index index = domain.index_from_surface_patch_index({0, 1});
      for (const Vec3& seed : *domain.seeds_) {
        *output++ = std::make_pair(Point(seed.x(), seed.y(), seed.z()), index);
      }
      return output;
    }
  };
  Construct_initial_points construct_initial_points_object() const { return {*this}; }

 private:
  const std::vector<Vec3>* seeds_;
};

using Domain = CGAL::Mesh_domain_with_polyline_features_3<SeededDomain>;

}  // namespace

Expected<Mesh> mesh_implicit(const ImplicitBody& body, const Sizes& sizes) {
  try {
    const Vec3 &low = body.box.min, &high = body.box.max;
    const Kernel::Iso_cuboid_3 box(Point(low.x(), low.y(), low.z()), Point(high.x(), high.y(), high.z()));
    Domain domain(body, box);
    std::vector<std::vector<Point>> loops;
    for (const std::vector<Vec3>& loop : body.sharp_loops) {
      std::vector<Point>& polyline = loops.emplace_back();
      for (const Vec3& p : loop) polyline.emplace_back(p.x(), p.y(), p.z());
    }
    domain.add_features(loops.begin(), loops.end());
    return refine_and_optimize(domain, sizes);
  } catch (const std::bad_alloc&) {
    return environment_error("no memory for tetrahedra of edge length {}; choose a larger one", sizes.edge);
  } catch (const std::exception& failure) {
    return input_error("the tetrahedral mesher failed ({}); try a smaller edge length", failure.what());
  }
}

}  // namespace lope::geometry::delaunay
