#include <lope/base/errors.h>
#include <lope/geometry/curved_body.h>
#include <lope/geometry/delaunay_meshing.h>
#include <lope/geometry/lattice.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/surface_check.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

namespace lope::geometry {

namespace {

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

// Nodes along one side of a lattice; doubles, so that absurd requests do not overflow.
Expected<double> node_count(const char* shape, char axis, double side, double edge, int wanted) {
  if (!is_positive(side)) {
    return input_error("the {}-size of the {} is {}; it must be a positive number of metres", axis, shape,
                       side);
  }
  if (wanted == 0) return std::max(1.0, std::round(side / edge)) + 1;
  if (wanted < 2)
    return input_error("a {} lattice needs at least 2 nodes along {}, not {}", shape, axis, wanted);
  return static_cast<double>(wanted);
}

std::optional<Error> check_total(const std::string& shape, double vertices, double limit) {
  const double most = std::min(limit, 0.25 * std::numeric_limits<int>::max());
  if (vertices <= most) return std::nullopt;
  return Error{
      fmt::format("the {} would get about {:.3g} vertices, more than the limit of {:.3g}; choose a larger "
                  "edge length",
                  shape, vertices, most)};
}

// Fails where the mesher found nothing or a tetrahedron has no volume.
std::optional<Error> make_positive(Mesh& mesh, const std::string& name) {
  if (mesh.tetrahedra.empty()) {
    return Error{fmt::format("the mesher found nothing inside the {}; choose a smaller edge length", name)};
  }
  for (std::size_t e = 0; e < mesh.tetrahedra.size(); ++e) {
    Tetrahedron& t = mesh.tetrahedra[e];
    const double volume = six_volumes(mesh.vertices, t);
    if (volume < 0) std::swap(t[2], t[3]);
    if (volume == 0)
      return Error{
          fmt::format("{}: meshing left a tetrahedron without volume; choose a slightly "
                      "different edge length",
                      name)};
  }
  return std::nullopt;
}

// Moves the boundary onto the true surface and the body to its place; `mesh` is positively oriented.
std::optional<Error> place_exactly(Mesh& mesh, const CurvedBody& body, double edge) {
  const double tolerance = 1e-2 * edge;
  for (const int v : boundary_vertices(mesh)) mesh.vertices[v] = body.project(mesh.vertices[v], tolerance);
  for (const Tetrahedron& t : mesh.tetrahedra) {
    if (six_volumes(mesh.vertices, t) > 0) continue;
    const Vec3& p = mesh.vertices[t[0]];
    return Error{
        fmt::format("{}: a tetrahedron near ({:.4g}, {:.4g}, {:.4g}) folds over the curved surface; choose "
                    "an edge length below {:.3g}",
                    body.name, p.x(), p.y(), p.z(), edge)};
  }
  for (Vec3& p : mesh.vertices) p = body.center + body.rotation * p;
  return std::nullopt;
}

// About 1.8 vertices per cube of the edge length in a Delaunay mesh (measured); coarse ones have more.
double vertex_estimate(double volume, double edge) { return 1.8 * volume / (edge * edge * edge); }

Expected<Mesh> mesh_curved(CurvedBody body, double edge_length, const MeshingOptions& options) {
  const double edge = std::min(edge_length, body.thinnest);
  const double vertices = vertex_estimate(approximate_volume(body.implicit), edge);
  if (auto error = check_total(body.name, vertices, options.max_vertices)) return tl::unexpected(*error);
  const double spacing = std::min(0.5 * body.thinnest, body.implicit.box.extent().maxCoeff() / 16);
  body.implicit.seeds =
      surface_seeds(body.implicit, spacing, std::max(std::min(2 * edge, 0.8 * body.thinnest), spacing));
  if (body.implicit.seeds.empty()) {
    return input_error("{}: nothing of the body was found in its bounding box", body.name);
  }
  Expected<Mesh> mesh = delaunay::mesh_implicit(body.implicit, {edge, 0.1 * edge, options.sliver_angle});
  if (!mesh) return input_error("{}: {}", body.name, mesh.error().message);
  if (body.largest_part_only) keep_largest_component(*mesh);
  if (auto error = make_positive(*mesh, body.name)) return tl::unexpected(*error);
  if (auto error = place_exactly(*mesh, body, edge)) return tl::unexpected(*error);
  sort_spatially(*mesh);
  return mesh;
}

Expected<Mesh> mesh_shape(const Box& box, double edge, const MeshingOptions& options) {
  if (!box.center.allFinite()) return input_error("the centre of the box is not a finite point");
  std::array<int, 3> nodes;
  double total = 1;
  std::array<double, 3> counts;
  for (int axis = 0; axis < 3; ++axis) {
    const Expected<double> count =
        node_count("box", "xyz"[axis], box.size[axis], edge, options.lattice[axis]);
    if (!count) return forward_error(count);
    counts[axis] = *count;
    total *= *count;
  }
  if (auto error = check_total("box", total, options.max_vertices)) return tl::unexpected(*error);
  for (int axis = 0; axis < 3; ++axis) nodes[axis] = static_cast<int>(counts[axis]);
  return box_lattice(box.center - 0.5 * box.size, box.center + 0.5 * box.size, nodes, options.pattern);
}

Expected<Mesh> mesh_shape(const ClosedSurface& shape, double edge, const MeshingOptions& options) {
  if (!(shape.feature_angle > 0 && shape.feature_angle <= 180)) {
    return input_error("the feature angle is {}; it must be between 0 and 180 degrees", shape.feature_angle);
  }
  const Expected<Mesh> surface = check_surface(shape.surface);
  if (!surface) return forward_error(surface);
  const double vertices = vertex_estimate(enclosed_volume(*surface), edge);
  if (auto error = check_total("closed surface", vertices, options.max_vertices))
    return tl::unexpected(*error);
  const double size = std::min(edge, bounds(surface->vertices).extent().maxCoeff());
  Expected<Mesh> mesh =
      delaunay::mesh_polyhedron(*surface, shape.feature_angle, {size, 0.1 * size, options.sliver_angle});
  if (!mesh) return forward_error(mesh);
  if (auto error = make_positive(*mesh, "closed surface")) return tl::unexpected(*error);
  sort_spatially(*mesh);
  return mesh;
}

template <class Curved>
Expected<Mesh> mesh_shape(const Curved& shape, double edge, const MeshingOptions& options) {
  Expected<CurvedBody> body = curved_body(shape);
  if (!body) return forward_error(body);
  return mesh_curved(std::move(*body), edge, options);
}

Expected<Mesh> mesh_planar(const Rectangle& rectangle, double edge, const PlanarOptions& options) {
  std::array<int, 2> nodes;
  std::array<double, 2> counts;
  if (!rectangle.center.allFinite()) return input_error("the centre of the rectangle is not a finite point");
  for (int axis = 0; axis < 2; ++axis) {
    const Expected<double> count =
        node_count("rectangle", "xy"[axis], rectangle.size[axis], edge, options.lattice[axis]);
    if (!count) return forward_error(count);
    counts[axis] = *count;
  }
  if (auto error = check_total("rectangle", counts[0] * counts[1], options.max_vertices)) {
    return tl::unexpected(*error);
  }
  for (int axis = 0; axis < 2; ++axis) nodes[axis] = static_cast<int>(counts[axis]);
  const Vec2 half = 0.5 * rectangle.size;
  return rectangle_lattice(rectangle.center - half, rectangle.center + half, nodes, options.alternating);
}

Expected<Mesh> mesh_planar(const Disc& disc, double edge, const PlanarOptions& options) {
  if (!is_positive(disc.radius)) {
    return input_error("the radius of the disc is {}; it must be a positive number of metres", disc.radius);
  }
  if (!disc.center.allFinite()) return input_error("the centre of the disc is not a finite point");
  constexpr double pi = std::numbers::pi;
  const double ratio = disc.radius / edge;
  if (auto error = check_total("disc", 1.2 * pi * ratio * ratio, options.max_vertices)) {
    return tl::unexpected(*error);
  }
  const int segments = static_cast<int>(std::max(6.0, std::ceil(2 * pi * ratio)));
  std::vector<Vec2> loop;
  for (int i = 0; i < segments; ++i) {
    const double angle = 2 * pi * i / segments;
    loop.emplace_back(disc.radius * std::cos(angle), disc.radius * std::sin(angle));
  }
  Expected<Mesh> mesh = delaunay::mesh_polygon({loop}, std::min(edge, disc.radius));
  if (!mesh) return mesh;
  for (const int v : boundary_vertices(*mesh))
    mesh->vertices[v] = disc.radius * mesh->vertices[v].normalized();
  for (Vec3& p : mesh->vertices) p.head<2>() += disc.center;
  sort_spatially(*mesh);
  return mesh;
}

Expected<Mesh> mesh_planar(const Polygon& polygon, double edge, const PlanarOptions& options) {
  Bounds box;
  for (std::size_t l = 0; l < polygon.loops.size(); ++l) {
    if (polygon.loops[l].size() < 3) {
      return input_error("loop {} of the polygon has {} points; it needs at least 3", l,
                         polygon.loops[l].size());
    }
    for (std::size_t i = 0; i < polygon.loops[l].size(); ++i) {
      const Vec2& p = polygon.loops[l][i];
      if (!p.allFinite()) return input_error("point {} of loop {} of the polygon is not finite", i, l);
      box.add(Vec3(p.x(), p.y(), 0));
    }
  }
  if (polygon.loops.empty()) return input_error("the polygon has no points");
  const double area = box.extent().x() * box.extent().y();
  if (auto error = check_total("polygon", 1.2 * area / (edge * edge), options.max_vertices)) {
    return tl::unexpected(*error);
  }
  Expected<Mesh> mesh = delaunay::mesh_polygon(polygon.loops, edge);
  if (mesh) sort_spatially(*mesh);
  return mesh;
}

std::optional<Error> check_edge_length(double edge_length) {
  if (is_positive(edge_length)) return std::nullopt;
  return Error{fmt::format("the edge length is {}; it must be a positive number of metres", edge_length)};
}

}  // namespace

Expected<Mesh> tetrahedralize(const Shape& shape, double edge_length, const MeshingOptions& options) {
  const auto* box = std::get_if<Box>(&shape);
  const auto& counts = options.lattice;
  const bool needs_edge = box == nullptr || *std::min_element(counts.begin(), counts.end()) == 0;
  if (needs_edge) {
    if (auto error = check_edge_length(edge_length)) return tl::unexpected(*error);
  }
  return std::visit([&](const auto& s) { return mesh_shape(s, edge_length, options); }, shape);
}

Expected<Mesh> triangulate(const PlanarShape& shape, double edge_length, const PlanarOptions& options) {
  const bool counted =
      std::holds_alternative<Rectangle>(shape) && options.lattice[0] != 0 && options.lattice[1] != 0;
  if (!counted) {
    if (auto error = check_edge_length(edge_length)) return tl::unexpected(*error);
  }
  return std::visit([&](const auto& s) { return mesh_planar(s, edge_length, options); }, shape);
}

}  // namespace lope::geometry
