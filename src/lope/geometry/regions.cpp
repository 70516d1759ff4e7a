#include <lope/base/errors.h>
#include <lope/geometry/regions.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace lope::geometry {

namespace {

using Selection = Expected<std::vector<int>>;

struct Selector {
  const Mesh& mesh;
  const std::vector<int>& candidates;  // sorted
  Bounds box;
  double tolerance;

  template <class Accept>
  std::vector<int> filter(const Accept& accept) const {
    std::vector<int> chosen;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(chosen),
                 [&](int v) { return accept(mesh.vertices[v]); });
    return chosen;
  }

  Selection operator()(const EveryVertex&) const { return candidates; }

  Selection operator()(const InBox& region) const {
    const Vec3 margin = Vec3::Constant(tolerance);
    const Vec3 low = region.min - margin, high = region.max + margin;
    if (low.hasNaN() || high.hasNaN())
      return input_error("the box of the region has corners that are not numbers");
    if (!(region.min.array() <= region.max.array()).all()) {
      return input_error(
          "the box of the region is empty: its lower corner ({}) is not below its upper corner ({})",
          fmt::join(region.min.begin(), region.min.end(), ", "),
          fmt::join(region.max.begin(), region.max.end(), ", "));
    }
    return filter(
        [&](const Vec3& x) { return (x.array() >= low.array()).all() && (x.array() <= high.array()).all(); });
  }

  Selection operator()(const InSphere& region) const {
    if (!region.center.allFinite() || !(region.radius >= 0)) {
      return input_error("the sphere of the region needs a finite centre and a radius that is not negative");
    }
    return filter([&](const Vec3& x) { return (x - region.center).norm() <= region.radius + tolerance; });
  }

  Selection operator()(const InHalfSpace& region) const {
    if (!region.point.allFinite() || !region.normal.allFinite() || region.normal.norm() == 0) {
      return input_error("the half-space of the region needs a finite point and a normal that is not zero");
    }
    const Vec3 normal = region.normal.normalized();
    return filter([&](const Vec3& x) { return (x - region.point).dot(normal) >= -tolerance; });
  }

  Selection operator()(const NearEnd& region) const {
    if (region.axis < 0 || region.axis > 2) return input_error("the region's axis must be x, y or z");
    if (!(region.fraction >= 0 && region.fraction <= 1)) {
      return input_error("the region takes {} of the extent; give a fraction between 0 and 1",
                         region.fraction);
    }
    const double reach = region.fraction * box.extent()[region.axis] + tolerance;
    const double end = region.upper ? box.max[region.axis] : box.min[region.axis];
    return filter([&](const Vec3& x) { return std::abs(x[region.axis] - end) <= reach; });
  }

  Selection operator()(const NearestTo& region) const {
    if (!region.point.allFinite()) return input_error("the point of the region is not finite");
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> nearest;
    for (const int v : candidates) {
      const double distance = (mesh.vertices[v] - region.point).squaredNorm();
      if (distance < least) {
        least = distance;
        nearest = {v};
      }
    }
    return nearest;
  }

  Selection operator()(const WithIndices& region) const {
    const int count = static_cast<int>(mesh.vertices.size());
    for (const int v : region.indices) {
      if (v < 0 || v >= count) {
        return input_error("the region names vertex {}, but the mesh has {} vertices, counted from 0", v,
                           count);
      }
    }
    std::vector<int> wanted = region.indices, chosen;
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::set_intersection(wanted.begin(), wanted.end(), candidates.begin(), candidates.end(),
                          std::back_inserter(chosen));
    return chosen;
  }
};

}  // namespace

Expected<std::vector<int>> select_vertices(const Mesh& mesh, const Region& region) {
  std::vector<int> candidates;
  if (region.surface_only) {
    candidates = boundary_vertices(mesh);
  } else {
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) candidates.push_back(static_cast<int>(v));
  }
  const Bounds box = bounds(mesh.vertices);
  const double tolerance = mesh.vertices.empty() ? 0 : 1e-9 * box.extent().maxCoeff();
  return std::visit(Selector{mesh, candidates, box, tolerance}, region.where);
}

}  // namespace lope::geometry
