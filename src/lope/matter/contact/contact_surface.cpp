#include <lope/geometry/topology.h>
#include <lope/matter/contact/contact_surface.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

#include <Eigen/Geometry>

namespace lope::matter {
namespace {

using geometry::Edge;
using geometry::Mesh;
using geometry::Triangle;

std::vector<Triangle> surface_triangles(const Mesh& mesh) {
  return mesh.tetrahedra.empty() ? mesh.triangles : geometry::boundary_triangles(mesh.tetrahedra);
}

// The part of the surface that belongs to one owner; nodes are those of its mesh.
struct Part {
  std::vector<Edge> edges;
  std::vector<Triangle> triangles;
  std::vector<double> edge_area, point_area;  // of edges, of all vertices
};

Part part_in_space(const Mesh& mesh) {
  Part part;
  part.triangles = surface_triangles(mesh);
  part.point_area.assign(mesh.vertices.size(), 0.0);
  std::map<Edge, double> areas;
  for (const Triangle& t : part.triangles) {
    const auto at = [&](int k) { return mesh.vertices[static_cast<std::size_t>(t[static_cast<std::size_t>(k)])]; };
    const double third = (at(1) - at(0)).cross(at(2) - at(0)).norm() / 6;
    for (std::size_t k = 0; k < 3; ++k) {
      part.point_area[static_cast<std::size_t>(t[k])] += third;
      areas[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}] += third;
    }
  }
  for (const auto& [edge, area] : areas) {
    part.edges.push_back(edge);
    part.edge_area.push_back(area);
  }
  return part;
}

Part part_in_plane(const Mesh& mesh) {
  Part part;
  part.edges = geometry::boundary_edges(mesh.triangles);
  part.point_area.assign(mesh.vertices.size(), 0.0);
  for (const Edge& edge : part.edges) {
    const double length = (mesh.vertices[static_cast<std::size_t>(edge[1])] - mesh.vertices[static_cast<std::size_t>(edge[0])]).norm();
    part.edge_area.push_back(length);
    for (const int v : edge) part.point_area[static_cast<std::size_t>(v)] += 0.5 * length;
  }
  return part;
}

double mean_length(const std::vector<Vec3>& points, const std::vector<Edge>& edges) {
  double sum = 0;
  for (const Edge& e : edges) sum += (points[static_cast<std::size_t>(e[1])] - points[static_cast<std::size_t>(e[0])]).norm();
  return edges.empty() ? 0 : sum / static_cast<double>(edges.size());
}

void add_owner(ContactSurface& surface, const Mesh& mesh, SurfaceOwner owner) {
  const int first = static_cast<int>(surface.rest.size()), number = static_cast<int>(surface.owners.size());
  const Part part = surface.dimension == 3 ? part_in_space(mesh) : part_in_plane(mesh);
  if (!(owner.reach > 0)) owner.reach = relative_reach * mean_length(mesh.vertices, part.edges);
  surface.owners.push_back(owner);
  surface.rest.insert(surface.rest.end(), mesh.vertices.begin(), mesh.vertices.end());
  surface.owner.resize(surface.rest.size(), number);
  std::vector<std::uint8_t> used(mesh.vertices.size(), 0);
  for (std::size_t k = 0; k < part.edges.size(); ++k) {
    const auto [a, b] = part.edges[k];
    used[static_cast<std::size_t>(a)] = used[static_cast<std::size_t>(b)] = 1;
    surface.edges.push_back({first + a, first + b});
    surface.edge_area.push_back(part.edge_area[k]);
    surface.edge_length.push_back((mesh.vertices[static_cast<std::size_t>(b)] - mesh.vertices[static_cast<std::size_t>(a)]).norm());
  }
  for (const Triangle& t : part.triangles) surface.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    surface.points.push_back(first + static_cast<int>(v));
    surface.point_area.push_back(part.point_area[v]);
  }
}

}  // namespace

ContactSurface make_contact_surface(int dimension, std::span<const SelfContactBody> bodies,
                                    std::span<const geometry::Mesh* const> obstacles, double reach) {
  assert(dimension == 2 || dimension == 3);
  ContactSurface surface;
  surface.dimension = dimension;
  for (const SelfContactBody& body : bodies) {
    add_owner(surface, *body.mesh, {body.with_itself, false, reach, 0.5 * body.thickness, 0});
  }
  surface.bodies = static_cast<int>(bodies.size());
  surface.body_nodes = static_cast<int>(surface.rest.size());
  double largest = 0;
  for (const SurfaceOwner& owner : surface.owners) largest = std::max(largest, owner.reach);
  // An obstacle may be as coarse as it likes: the bodies' reaches count, and areas no larger than theirs.
  const auto mean = [](const std::vector<double>& areas) {
    return areas.empty() ? 0 : std::accumulate(areas.begin(), areas.end(), 0.0) / static_cast<double>(areas.size());
  };
  const std::size_t body_points = surface.points.size(), body_edges = surface.edges.size();
  const double point_limit = mean(surface.point_area), edge_limit = mean(surface.edge_area);
  for (const geometry::Mesh* obstacle : obstacles) add_owner(surface, *obstacle, {false, true, largest, 0, 0});
  for (std::size_t k = body_points; k < surface.point_area.size(); ++k)
    surface.point_area[k] = std::min(surface.point_area[k], point_limit);
  for (std::size_t k = body_edges; k < surface.edge_area.size(); ++k)
    surface.edge_area[k] = std::min(surface.edge_area[k], edge_limit);
  surface.mean_edge = mean_length(surface.rest, surface.edges);
  return surface;
}

}  // namespace lope::matter
