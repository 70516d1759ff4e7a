#include <lope/base/errors.h>
#include <lope/base/log.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/level_set/grid.h>
#include <lope/geometry/level_set/implicit.h>
#include <lope/geometry/shapes.h>
#include <lope/geometry/thickness.h>
#include <lope/geometry/topology.h>
#include <lope/geometry/transform.h>
#include <lope/io/mesh_io.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/limits.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <variant>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::scene {
namespace {

// When no edge is given: cells along the largest extent; at least so many across the thinnest part, because linear
// elements are far too stiff in bending with fewer; but, for the sake of shells, at most so many in all.
constexpr double default_resolution = 12;
constexpr double default_across = 3;
constexpr double most_default_cells = 50000;

// Of a shape before its transform.
struct Size {
  double extent = 0;    // the largest
  double thinnest = 0;  // across its thinnest part, about
  double volume = 0;    // 2D: area; about
  int dimension = 3;

  double default_edge() const {
    const double usual = extent / default_resolution;
    if (!(thinnest > 0 && volume > 0)) return usual;  // no closed surface: the mesher will say so
    const double least = std::pow(volume / most_default_cells, 1.0 / dimension);
    return std::min(usual, std::max(thinnest / default_across, least));
  }
};

// A shape to be meshed.
struct Outline {
  std::variant<geometry::Shape, geometry::PlanarShape> shape;
  Size size;
  geometry::MeshingOptions options;
  geometry::PlanarOptions planar_options;
};

struct BoxSides {
  Vec3 center;
  Vec3 size;
};

BoxSides box_sides(const Value& box) {
  if (!box.has("size")) {
    const Vec3 min = box.vector_at("min"), max = box.vector_at("max");
    return {0.5 * (min + max), max - min};
  }
  return {box.has("center") ? box.vector_at("center") : Vec3(Vec3::Zero()), box.vector_at("size")};
}

template <std::size_t n>
std::array<int, n> lattice(const Value& box) {
  std::array<int, n> counts{};
  if (!box.has("lattice")) return counts;
  for (std::size_t k = 0; k < n; ++k) counts[k] = static_cast<int>(box["lattice"].items[k].integer);
  return counts;
}

geometry::LatticePattern pattern(const std::string& word) {
  if (word == "kuhn") return geometry::LatticePattern::Kuhn;
  return word == "five-tets" ? geometry::LatticePattern::FiveTets : geometry::LatticePattern::MirroredKuhn;
}

// Per coordinate: how far a unit disc across `axis` reaches.
Vec3 across(const Vec3& axis) { return (Vec3::Ones() - axis.cwiseAbs2()).cwiseMax(0).cwiseSqrt(); }

geometry::PlanarShape polygon(const Value& value) {
  geometry::Polygon made;
  made.loops.emplace_back();
  for (const Value& point : value["points"].items) made.loops[0].push_back(point.as_vector().head<2>());
  return made;
}

Size size_of(const std::vector<Vec2>& points) {
  Size size{.dimension = 2};
  Vec2 min = points.front(), max = points.front();
  std::vector<std::array<Vec3, 2>> sides;
  double area = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2 &a = points[i], &b = points[(i + 1) % points.size()];
    min = min.cwiseMin(a);
    max = max.cwiseMax(a);
    area += 0.5 * (a.x() * b.y() - a.y() * b.x());
    sides.push_back({Vec3(a.x(), a.y(), 0), Vec3(b.x(), b.y(), 0)});
  }
  if (area < 0) {
    for (auto& side : sides) std::swap(side[0], side[1]);
  }
  size.extent = (max - min).maxCoeff();
  size.volume = std::abs(area);
  size.thinnest = geometry::thin_part(sides).extent;
  return size;
}

// Of a closed surface.
Size size_of(geometry::Mesh surface) {
  Size size;
  size.extent = geometry::bounds(surface.vertices).extent().maxCoeff();
  for (const geometry::Triangle& t : surface.triangles) {
    const auto corner = [&](std::size_t k) -> const Vec3& {
      return surface.vertices[static_cast<std::size_t>(t[k])];
    };
    size.volume += corner(0).dot(corner(1).cross(corner(2))) / 6;
  }
  if (size.volume < 0) {
    size.volume = -size.volume;
    for (geometry::Triangle& t : surface.triangles) std::swap(t[1], t[2]);
  }
  size.thinnest = geometry::thin_part(surface, false).extent;
  return size;
}

double ball(double radius) { return 4.0 / 3 * std::numbers::pi * std::pow(radius, 3); }
double tube(double radius, double length) { return std::numbers::pi * radius * radius * length; }

// Everything but mesh files. The extents of implicit shapes are those of their bounding boxes, a little too
// large.
Outline outline(const std::string& word, const Value& value) {
  Outline made;
  const auto length = [&value](const char* key) { return value.number_at(key); };
  const auto center = [&value] { return value.vector_at("center"); };
  const auto axis = [&value] { return Vec3(value.vector_at("axis").normalized()); };
  const auto measures = [&made](double extent, double thinnest, double volume) {
    made.size = {extent, thinnest, volume, 3};
  };
  const auto implicit = [&](geometry::ImplicitShape shape, double thinnest, double volume) {
    measures(shape.box.extent().maxCoeff(), thinnest, volume);
    made.shape = geometry::Shape(std::move(shape));
  };
  if (word == "box") {
    const BoxSides sides = box_sides(value);
    made.shape = geometry::Shape(geometry::Box{sides.center, sides.size});
    measures(sides.size.maxCoeff(), sides.size.minCoeff(), sides.size.prod());
    made.options.lattice = lattice<3>(value);
    if (value.has("pattern")) made.options.pattern = pattern(value.text_at("pattern"));
  } else if (word == "rectangle") {
    const BoxSides sides = box_sides(value);
    made.shape = geometry::PlanarShape(geometry::Rectangle{sides.center.head<2>(), sides.size.head<2>()});
    const Vec2 size = sides.size.head<2>();
    made.size = {size.maxCoeff(), size.minCoeff(), size.prod(), 2};
    made.planar_options.lattice = lattice<2>(value);
  } else if (word == "sphere") {
    made.shape = geometry::Shape(geometry::Sphere{center(), length("radius")});
    measures(2 * length("radius"), 2 * length("radius"), ball(length("radius")));
  } else if (word == "disc") {
    made.shape = geometry::PlanarShape(geometry::Disc{center().head<2>(), length("radius")});
    made.size = {2 * length("radius"), 2 * length("radius"), tube(length("radius"), 1), 2};
  } else if (word == "torus") {
    const double ring = length("ring_radius"), thick = length("tube_radius");
    made.shape = geometry::Shape(geometry::Torus{center(), axis(), ring, thick});
    measures(2 * (ring * across(axis()).maxCoeff() + thick), 2 * thick,
             tube(thick, 2 * std::numbers::pi * ring));
  } else if (word == "cylinder") {
    made.shape = geometry::Shape(geometry::Cylinder{center(), axis(), length("radius"), length("length")});
    measures((length("length") * axis().cwiseAbs() + 2 * length("radius") * across(axis())).maxCoeff(),
             std::min(length("length"), 2 * length("radius")), tube(length("radius"), length("length")));
  } else if (word == "capsule") {
    made.shape = geometry::Shape(geometry::Capsule{center(), axis(), length("radius"), length("length")});
    measures(length("length") * axis().cwiseAbs().maxCoeff() + 2 * length("radius"), 2 * length("radius"),
             tube(length("radius"), length("length")) + ball(length("radius")));
  } else if (word == "hollow_sphere") {
    implicit(geometry::hollow_sphere(center(), length("radius"), length("inner_radius")),
             length("radius") - length("inner_radius"),
             ball(length("radius")) - ball(length("inner_radius")));
  } else if (word == "gyroid_ball") {
    // A labyrinth is half of the ball; its passages are about this wide.
    implicit(geometry::gyroid_ball(center(), length("radius"), length("period")), 0.4 * length("period"),
             0.5 * ball(length("radius")));
  } else if (word == "torus_knot") {
    geometry::TorusKnot knot{center(),
                             value.integer_at("p"),
                             value.integer_at("q"),
                             length("ring_radius"),
                             length("winding_radius"),
                             length("tube_radius")};
    const double turns = std::hypot(knot.p * length("ring_radius"), knot.q * length("winding_radius"));
    implicit(geometry::torus_knot(knot), 2 * length("tube_radius"),
             tube(length("tube_radius"), 2 * std::numbers::pi * turns));
  } else if (word == "pierced_shell") {
    implicit(
        geometry::pierced_shell({center(), length("radius"), length("inner_radius"), length("hole_radius")}),
        length("radius") - length("inner_radius"), ball(length("radius")) - ball(length("inner_radius")));
  } else if (word == "metaballs") {
    geometry::Metaballs balls{{}, value["radii"].as_numbers(), length("blend")};
    for (const Value& point : value["centers"].items) balls.centers.push_back(point.as_vector());
    double smallest = balls.radii.front(), volume = 0;
    for (std::size_t i = 0; i < balls.centers.size(); ++i) {
      const double radius = balls.radii[std::min(i, balls.radii.size() - 1)];
      smallest = std::min(smallest, radius);
      volume += ball(radius);
    }
    implicit(geometry::metaballs(balls), 2 * smallest, volume);
  } else {
    made.shape = polygon(value);
    made.size = size_of(std::get<geometry::Polygon>(std::get<geometry::PlanarShape>(made.shape)).loops[0]);
  }
  return made;
}

// How lengths grow by the transform; `extent` is the largest one before it.
double total_scale(const Value* transform, double extent) {
  if (!transform) return 1;
  const double fit = transform->has("fit") ? transform->number_at("fit") / extent : 1;
  return fit * (transform->has("scale") ? transform->number_at("scale") : 1);
}

Expected<geometry::Mesh> transformed(geometry::Mesh mesh, const Value& transform) {
  if (transform.has("fit")) {
    Expected<geometry::Mesh> fitted = geometry::fitted(std::move(mesh), transform.number_at("fit"));
    if (!fitted) return fitted;
    mesh = std::move(*fitted);
  }
  if (transform.has("scale")) {
    const Mat3 linear = transform.number_at("scale") * Mat3::Identity();
    Expected<geometry::Mesh> scaled = geometry::transformed(std::move(mesh), linear);
    if (!scaled) return scaled;
    mesh = std::move(*scaled);
  }
  if (const Value* rotate = transform.find("rotate")) {
    geometry::rotate(mesh, rotate->vector_at("axis"), rotate->number_at("angle"));
  }
  if (transform.has("translate")) geometry::translate(mesh, transform.vector_at("translate"));
  return mesh;
}

// The wanted edge length before the transform.
double edge_before(const Value& body, const Size& size) {
  if (!body.has("edge")) return size.default_edge();
  return body.number_at("edge") / total_scale(body.find("transform"), size.extent);
}

Expected<geometry::Mesh> mesh_outline(const Value& body, Outline outline) {
  const double edge = edge_before(body, outline.size);
  outline.options.max_vertices = most_vertices(3);
  outline.planar_options.max_vertices = most_vertices(2);
  if (const auto* planar = std::get_if<geometry::PlanarShape>(&outline.shape)) {
    return geometry::triangulate(*planar, edge, outline.planar_options);
  }
  return geometry::tetrahedralize(std::get<geometry::Shape>(outline.shape), edge, outline.options);
}

Expected<geometry::LevelSetPtr> planar_level_set(const geometry::PlanarShape& shape) {
  if (const auto* rectangle = std::get_if<geometry::Rectangle>(&shape)) {
    const Vec2 &size = rectangle->size, &center = rectangle->center;
    return geometry::level_set(geometry::Box{{center.x(), center.y(), 0},
                                             {size.x(), size.y(), std::numeric_limits<double>::infinity()}});
  }
  if (const auto* disc = std::get_if<geometry::Disc>(&shape))
    return geometry::level_set(geometry::Sphere{{disc->center.x(), disc->center.y(), 0}, disc->radius});
  return geometry::level_set(std::get<geometry::Polygon>(shape));
}

Expected<geometry::LevelSetPtr> outline_level_set(const Outline& outline) {
  if (const auto* planar = std::get_if<geometry::PlanarShape>(&outline.shape)) return planar_level_set(*planar);
  const auto make = [](const auto& shape) -> Expected<geometry::LevelSetPtr> {
    if constexpr (std::is_same_v<std::decay_t<decltype(shape)>, geometry::ClosedSurface>) {
      return input_error("a surface has no formula");
    } else {
      return geometry::level_set(shape);
    }
  };
  return std::visit(make, std::get<geometry::Shape>(outline.shape));
}

Vec3 finite_or_zero(const Vec3& v) {
  return v.unaryExpr([](double c) { return std::isfinite(c) ? c : 0.0; });
}

geometry::LevelSetPtr transformed(geometry::LevelSetPtr set, const Value& transform) {
  if (transform.has("fit")) {
    const geometry::Bounds box = set->bounds();
    set = geometry::moved(set, {Mat3::Identity(), -finite_or_zero(box.min)});
    set = geometry::scaled(set, transform.number_at("fit") / finite_or_zero(box.extent()).maxCoeff());
  }
  if (transform.has("scale")) set = geometry::scaled(set, transform.number_at("scale"));
  geometry::RigidPose pose;
  if (const Value* rotate = transform.find("rotate")) {
    pose.rotation =
        Eigen::AngleAxisd(rotate->number_at("angle"), rotate->vector_at("axis").normalized()).toRotationMatrix();
  }
  if (transform.has("translate")) pose.translation = transform.vector_at("translate");
  return geometry::moved(set, pose);
}

// A flat mesh file: triangles in the plane z = 0, turned counter-clockwise if all are clockwise.
Expected<geometry::Mesh> flat_mesh(geometry::Mesh mesh, const std::string& file) {
  if (!mesh.tetrahedra.empty() || mesh.triangles.empty()) {
    return input_error("{}: a flat body needs a mesh of triangles only", file);
  }
  const double size = geometry::bounds(mesh.vertices).extent().maxCoeff();
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (std::abs(mesh.vertices[i].z()) > 1e-9 * size) {
      return input_error("{}: vertex {} has z = {}; a flat body lies in the plane z = 0", file, i,
                         mesh.vertices[i].z());
    }
    mesh.vertices[i].z() = 0;
  }
  std::size_t clockwise = 0;
  for (std::size_t e = 0; e < mesh.triangles.size(); ++e) clockwise += element_measure(mesh, e) < 0 ? 1 : 0;
  if (clockwise == mesh.triangles.size()) {
    for (geometry::Triangle& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  }
  return mesh;
}

Expected<geometry::Mesh> mesh_file(const Value& body, const std::string& file, int dimension) {
  Expected<geometry::Mesh> read = io::read_mesh(file);
  if (!read) return read;
  if (dimension == 2) return flat_mesh(std::move(*read), file);
  if (!read->tetrahedra.empty()) {
    read->triangles.clear();
    return read;
  }
  const double edge = edge_before(body, size_of(*read));
  geometry::MeshingOptions options;
  options.max_vertices = most_vertices(3);
  Expected<geometry::Mesh> filled =
      geometry::tetrahedralize(geometry::ClosedSurface{std::move(*read)}, edge, options);
  if (!filled) return input_error("{}: {}", file, filled.error().message);
  return filled;
}

Expected<geometry::LevelSetPtr> mesh_level_set(const Value& body, const std::string& file, double voxel) {
  if (body.integer_at("dimension") == 2)
    return input_error("{}: a flat place to fill needs a rectangle, a disc or a polygon", file);
  Expected<geometry::Mesh> mesh = io::read_mesh(file);
  if (mesh && !mesh->tetrahedra.empty()) {
    mesh->triangles = geometry::boundary_triangles(mesh->tetrahedra);
    mesh->tetrahedra.clear();
  }
  if (mesh && body.has("transform")) mesh = transformed(std::move(*mesh), body["transform"]);
  if (!mesh) return forward_error(mesh);
  geometry::GridOptions options;
  options.voxel = voxel;
  options.max_voxels = most_voxels();
  return geometry::grid_level_set(*mesh, options);
}

// Elements without volume cannot be simulated: their rest shape is singular.
Expected<void> check_elements(const geometry::Mesh& mesh, const std::string& what) {
  const double size = geometry::bounds(mesh.vertices).extent().maxCoeff();
  const bool solid = !mesh.tetrahedra.empty();
  const double smallest = std::pow(size, solid ? 3 : 2) * 1e-18;
  std::size_t inverted = 0, empty = 0, first = 0;
  for (std::size_t e = element_count(mesh); e-- > 0;) {
    const double measure = element_measure(mesh, e);
    if (measure > smallest) continue;
    (measure < -smallest ? inverted : empty) += 1;
    first = e;
  }
  if (inverted + empty == 0) return {};
  const char* kind = solid ? "tetrahedron" : "triangle";
  return input_error(
      "{}: {} {} (counting from 0) {}, its {} is {:.3g}; {} inverted, {} empty elements in all: repair the "
      "mesh, or "
      "give a closed surface and let it be meshed",
      what, kind, first, element_measure(mesh, first) < -smallest ? "is inverted" : "has no extent",
      solid ? "volume" : "area", element_measure(mesh, first), inverted, empty);
}

}  // namespace

std::size_t element_count(const geometry::Mesh& mesh) {
  return mesh.tetrahedra.empty() ? mesh.triangles.size() : mesh.tetrahedra.size();
}

double element_measure(const geometry::Mesh& mesh, std::size_t element) {
  if (!mesh.tetrahedra.empty()) return geometry::six_volumes(mesh.vertices, mesh.tetrahedra[element]) / 6;
  const geometry::Triangle& t = mesh.triangles[element];
  const Vec3& origin = mesh.vertices[static_cast<std::size_t>(t[0])];
  const Vec3 a = mesh.vertices[static_cast<std::size_t>(t[1])] - origin;
  const Vec3 b = mesh.vertices[static_cast<std::size_t>(t[2])] - origin;
  return 0.5 * (a.x() * b.y() - a.y() * b.x());
}

Vec3 element_centroid(const geometry::Mesh& mesh, std::size_t element) {
  Vec3 sum = Vec3::Zero();
  if (mesh.tetrahedra.empty()) {
    for (const int i : mesh.triangles[element]) sum += mesh.vertices[static_cast<std::size_t>(i)] / 3;
  } else {
    for (const int i : mesh.tetrahedra[element]) sum += mesh.vertices[static_cast<std::size_t>(i)] / 4;
  }
  return sum;
}

Expected<geometry::Mesh> body_mesh(const Value& body) {
  const auto& [word, value] = body["shape"].members.front();
  const std::string where = fmt::format("{}: body '{}'", to_string(value.at), body.text_at("name"));
  Expected<geometry::Mesh> mesh = word == "mesh" ? mesh_file(body, value.text, body.integer_at("dimension"))
                                                 : mesh_outline(body, outline(word, value));
  if (mesh && body.has("transform")) mesh = transformed(std::move(*mesh), body["transform"]);
  if (!mesh) return tl::unexpected<Error>(Error{where + ": " + mesh.error().message, mesh.error().trouble});
  const std::size_t before = mesh->vertices.size();
  geometry::drop_unused_vertices(*mesh);
  if (mesh->vertices.size() < before) {
    log_warning("{}: dropped {} vertices that no element uses", where, before - mesh->vertices.size());
  }
  if (const auto sound = check_elements(*mesh, word == "mesh" ? where + ": " + value.text : where); !sound) {
    return forward_error(sound);
  }
  return mesh;
}

Expected<geometry::LevelSetPtr> body_level_set(const Value& body, double voxel) {
  const auto& [word, value] = body["shape"].members.front();
  Expected<geometry::LevelSetPtr> set =
      word == "mesh" ? mesh_level_set(body, value.text, voxel) : outline_level_set(outline(word, value));
  if (!set) {
    const std::string where = fmt::format("{}: body '{}'", to_string(value.at), body.text_at("name"));
    return tl::unexpected<Error>(Error{where + ": " + set.error().message, set.error().trouble});
  }
  if (word == "mesh" || !body.has("transform")) return set;
  return transformed(std::move(*set), body["transform"]);
}

}  // namespace lope::scene
