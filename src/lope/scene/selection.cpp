#include <lope/base/errors.h>
#include <lope/geometry/regions.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/selection.h>

#include <set>

#include <fmt/format.h>

namespace lope::scene {
namespace {

// Thickness of a side's layer when none is given, as a fraction of the extent.
constexpr double default_layer = 0.01;

// The layer as a half-space, so that elements are measured against the body's bounds, not their centroids'.
geometry::InHalfSpace side_layer(const Value& where, const geometry::Bounds& box) {
  const std::string& side = where.text_at("side");
  const int axis = side[0] - 'x';
  const bool low = side.ends_with("min");
  const double fraction = where.has("fraction") ? where.number_at("fraction") : default_layer;
  const double width = where.has("width") ? where.number_at("width") : fraction * box.extent()[axis];
  Vec3 point = low ? box.min : box.max;
  point[axis] += low ? width : -width;
  return {point, low ? Vec3(-Vec3::Unit(axis)) : Vec3(Vec3::Unit(axis))};
}

// Of the geometric choices; regions and tags are handled by the Selector itself.
geometry::Region region_of(const Value& where, const geometry::Bounds& bounds) {
  geometry::Region region;
  if (where.has("side")) {
    region.where = side_layer(where, bounds);
  } else if (where.has("box")) {
    region.where = geometry::InBox{where["box"].vector_at("min"), where["box"].vector_at("max")};
  } else if (where.has("sphere")) {
    region.where =
        geometry::InSphere{where["sphere"].vector_at("center"), where["sphere"].number_at("radius")};
  } else if (where.has("plane")) {
    region.where =
        geometry::InHalfSpace{where["plane"].vector_at("point"), where["plane"].vector_at("normal")};
  } else if (where.has("nearest")) {
    region.where = geometry::NearestTo{where.vector_at("nearest")};
  } else if (where.has("vertices")) {
    geometry::WithIndices given;
    for (const Value& item : where["vertices"].items) given.indices.push_back(static_cast<int>(item.integer));
    region.where = std::move(given);
  } else {
    region.where = geometry::EveryVertex{};
  }
  return region;
}

std::string listed(const std::vector<int>& region) {
  const std::set<int> tags(region.begin(), region.end());
  return tags.empty() ? "the mesh has no region numbers"
                      : fmt::format("the mesh has {}", fmt::join(tags, ", "));
}

std::string format(const Vec3& p) { return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", p.x(), p.y(), p.z()); }

}  // namespace

Selector::Selector(const geometry::Mesh& mesh, const char* noun)
    : mesh_(mesh), noun_(noun), bounds_(geometry::bounds(mesh.vertices)) {}

void Selector::name_region(const std::string& name, std::vector<int> chosen_elements) {
  regions_[name] = std::move(chosen_elements);
}

std::vector<int> Selector::tagged_elements(int tag) const {
  std::vector<int> chosen;
  for (std::size_t e = 0; e < mesh_.region.size(); ++e) {
    if (mesh_.region[e] == tag) chosen.push_back(static_cast<int>(e));
  }
  return chosen;
}

std::vector<int> Selector::vertices_of(const std::vector<int>& chosen_elements) const {
  std::set<int> chosen;
  for (const int e : chosen_elements) {
    const auto element = static_cast<std::size_t>(e);
    if (mesh_.tetrahedra.empty()) {
      chosen.insert(mesh_.triangles[element].begin(), mesh_.triangles[element].end());
    } else {
      chosen.insert(mesh_.tetrahedra[element].begin(), mesh_.tetrahedra[element].end());
    }
  }
  return {chosen.begin(), chosen.end()};
}

Expected<std::vector<int>> Selector::choose(const Value& where, const geometry::Mesh& points,
                                            const char* noun) const {
  Expected<std::vector<int>> chosen = geometry::select_vertices(points, region_of(where, bounds_));
  if (!chosen) return input_error("{}: {}", to_string(where.at), chosen.error().message);
  if (chosen->empty()) {
    return input_error(
        "{}: this region chooses no {} of the body, which reaches from {} to {}; move or enlarge it",
        to_string(where.at), noun, format(bounds_.min), format(bounds_.max));
  }
  return chosen;
}

Expected<std::vector<int>> Selector::elements(const Value& where) const {
  if (where.has("region")) return regions_.at(where.text_at("region"));
  if (where.has("tag")) {
    std::vector<int> chosen = tagged_elements(where.integer_at("tag"));
    if (!chosen.empty()) return chosen;
    return input_error("{}: no element has the region number {}; {}", to_string(where["tag"].at),
                       where.integer_at("tag"), listed(mesh_.region));
  }
  geometry::Mesh centroids;
  for (std::size_t e = 0; e < element_count(mesh_); ++e) {
    centroids.vertices.push_back(element_centroid(mesh_, e));
  }
  return choose(where, centroids, "element");
}

Expected<std::vector<int>> Selector::vertices(const Value& where) const {
  if (!where.has("region") && !where.has("tag")) return choose(where, mesh_, noun_);
  const Expected<std::vector<int>> chosen = elements(where);
  if (!chosen) return chosen;
  return vertices_of(*chosen);
}

}  // namespace lope::scene
