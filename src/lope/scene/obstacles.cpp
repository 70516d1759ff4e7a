#include <lope/base/errors.h>
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/level_set/grid.h>
#include <lope/io/mesh_io.h>
#include <lope/scene/handle_motion.h>
#include <lope/scene/limits.h>
#include <lope/matter/nodal_matter.h>
#include <lope/scene/obstacles.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::scene {
namespace {

// Around a full circle: of what is only drawn, and of what barriers are around, whose cost grows with their triangles.
constexpr int drawn_segments = 64, barrier_segments = 32;

geometry::Box box(const Value& value, int dimension) {
  geometry::Box made;
  if (value.has("size")) {
    made.size = value.vector_at("size");
    made.center = value.has("center") ? value.vector_at("center") : Vec3(Vec3::Zero());
  } else {
    made.center = 0.5 * (value.vector_at("min") + value.vector_at("max"));
    made.size = value.vector_at("max") - value.vector_at("min");
  }
  if (dimension == 2) made.size[2] = std::numeric_limits<double>::infinity();
  return made;
}

Expected<geometry::LevelSetPtr> analytic(const std::string& word, const Value& value, int dimension) {
  const auto length = [&](const char* key) { return value.number_at(key); };
  const auto place = [&](const char* key) { return value.vector_at(key); };
  if (word == "half_space") return geometry::level_set(geometry::HalfSpace{place("point"), place("normal")});
  if (word == "sphere") return geometry::level_set(geometry::Sphere{place("center"), length("radius")});
  if (word == "box") return geometry::level_set(box(value, dimension));
  const Vec3 axis = place("axis").normalized();
  if (word == "cylinder") {
    return geometry::level_set(geometry::Cylinder{place("center"), axis, length("radius"), length("length")});
  }
  if (word == "capsule") {
    return geometry::level_set(geometry::Capsule{place("center"), axis, length("radius"), length("length")});
  }
  if (word == "torus") {
    return geometry::level_set(
        geometry::Torus{place("center"), axis, length("ring_radius"), length("tube_radius")});
  }
  return geometry::level_set(geometry::Cone{place("base"), axis, length("radius"), length("length")});
}

geometry::Interpolation interpolation(const Value& value) {
  return value.text_at("interpolation") == "quadratic" ? geometry::Interpolation::Quadratic
                                                       : geometry::Interpolation::Linear;
}

Expected<geometry::Mesh> surface_of(const std::string& file) {
  auto mesh = io::read_mesh(file);
  if (!mesh) return forward_error(mesh);
  if (!mesh->tetrahedra.empty()) mesh->triangles = geometry::boundary_triangles(mesh->tetrahedra);
  mesh->tetrahedra.clear();
  return mesh;
}

Expected<geometry::LevelSetPtr> from_mesh(const std::string& file, const Value& value) {
  const auto read = surface_of(file);
  if (!read) return forward_error(read);
  const geometry::Mesh& surface = *read;
  geometry::GridOptions options;
  options.interpolation = interpolation(value);
  options.max_voxels = most_voxels();
  options.voxel = value.has("voxel")
                      ? value.number_at("voxel")
                      : geometry::bounds(surface.vertices).extent().maxCoeff() / default_obstacle_voxels;
  return geometry::grid_level_set(surface, options);
}

Expected<geometry::LevelSetPtr> level_set(const Value& value, int dimension) {
  const auto& [word, shape] = value["shape"].members.front();
  if (word == "mesh") return from_mesh(shape.text, value);
  if (word == "vdb") return geometry::read_grid_level_set(shape.text, "", interpolation(value));
  if (word != "union") return analytic(word, shape, dimension);
  std::vector<geometry::LevelSetPtr> parts;
  for (const Value& item : shape.items) {
    auto part = analytic(item.members.front().key, item.members.front().value, dimension);
    if (!part) return part;
    parts.push_back(std::move(*part));
  }
  return geometry::union_of(std::move(parts));
}

std::optional<geometry::RigidPose> placement(const Value& value) {
  const Value* transform = value.find("transform");
  if (!transform) return std::nullopt;
  geometry::RigidPose pose;
  if (const Value* rotate = transform->find("rotate")) {
    pose.rotation = Eigen::AngleAxisd(rotate->number_at("angle"), rotate->vector_at("axis").normalized())
                        .toRotationMatrix();
  }
  if (transform->has("translate")) pose.translation = transform->vector_at("translate");
  return pose;
}

// The triangles of a file, or of a formula; placed.
Expected<geometry::Mesh> barrier_surface(const Value& value, const step::Obstacle& obstacle) {
  const auto& [word, shape] = value["shape"].members.front();
  if (word != "mesh") return obstacle.shape->surface({.segments = barrier_segments});
  auto surface = surface_of(shape.text);
  if (!surface) return forward_error(surface);
  if (const auto pose = placement(value)) {
    for (Vec3& v : surface->vertices) v = pose->place(v);
  }
  return surface;
}

// Vertices that no handle holds from the start.
template <class Visit>
void each_free_vertex(const matter::NodalBody& body, const Visit& visit) {
  std::vector<bool> held(body.rest_positions().size(), false);
  for (const matter::Handle& handle : body.handles) {
    if (handle.begin > 0) continue;
    for (const int i : handle.vertices) held[static_cast<std::size_t>(i)] = true;
  }
  const auto& points = body.initial_positions.empty() ? body.rest_positions() : body.initial_positions;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!held[i]) visit(i, points[i]);
  }
}

// Depths below this fraction of the body's size are rounding.
constexpr double rounding = 1e-9;

}  // namespace

Expected<geometry::LevelSetPtr> formula_level_set(const Value& value, int dimension) {
  const auto& [word, shape] = value["shape"].members.front();
  auto set = analytic(word, shape, dimension);
  if (!set) return input_error("{}: {}", to_string(shape.at), set.error().message);
  const auto pose = placement(value);
  return pose ? geometry::moved(*set, *pose) : *set;
}

Expected<step::Obstacle> build_obstacle(const Value& value, int dimension) {
  auto shape = level_set(value, dimension);
  if (!shape) {
    return input_error("{}: obstacle '{}': {}", to_string(value["shape"].at), value.text_at("name"),
                       shape.error().message);
  }
  step::Obstacle obstacle;
  obstacle.name = value.text_at("name");
  obstacle.shape = std::move(*shape);
  if (const auto pose = placement(value)) obstacle.shape = geometry::moved(obstacle.shape, *pose);
  geometry::Bounds bounds = obstacle.extent = obstacle.shape->bounds();
  if (!bounds.min.allFinite() || !bounds.max.allFinite()) bounds = {Vec3::Zero(), Vec3::Zero()};
  obstacle.container = value.boolean_at("inside");
  if (obstacle.container) obstacle.shape = geometry::complement_of(obstacle.shape);
  obstacle.motion = handle_motion(value, bounds, bounds);
  obstacle.begin = value.number_at("begin");
  // Without solids there is nothing that touches.
  if (value.has("contact")) {
    const std::string& contact = value.text_at("contact");
    obstacle.contact = contact == "penalty"   ? step::ContactKind::Penalty
                       : contact == "barrier" ? step::ContactKind::Barrier
                                              : step::ContactKind::Constraint;
    if (contact == "barrier") {
      auto surface = barrier_surface(value, obstacle);
      if (!surface) return forward_error(surface);
      obstacle.surface = std::make_shared<const geometry::Mesh>(std::move(*surface));
    }
    obstacle.friction = value.number_at("friction");
  }
  if (value.has("stiffness")) obstacle.stiffness = value.number_at("stiffness");
  return obstacle;
}

std::vector<StartInside> find_start_inside(const step::Model& model) {
  std::vector<StartInside> found;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const auto* body = dynamic_cast<const matter::NodalBody*>(model.bodies[b].get());
    if (!body) continue;
    const double least = rounding * body->region().extent().maxCoeff();
    for (std::size_t o = 0; o < model.obstacles.size(); ++o) {
      if (model.obstacles[o].contact == step::ContactKind::Barrier) continue;  // tangles.h
      StartInside inside{b, o, 0, 0};
      each_free_vertex(*body, [&](std::size_t, const Vec3& x) {
        const double depth = -model.obstacles[o].shape->value(x);
        if (depth <= least) return;
        ++inside.vertices;
        inside.depth = std::max(inside.depth, depth);
      });
      if (inside.vertices > 0) found.push_back(inside);
    }
  }
  return found;
}

std::string describe(const StartInside& inside, const step::Model& model) {
  return fmt::format("{} starts inside obstacle '{}': {} vertices, by up to {:.3g} m",
                     model.bodies[inside.body]->called(), model.obstacles[inside.obstacle].name, inside.vertices,
                     inside.depth);
}

geometry::Mesh obstacle_surface(const step::Obstacle& obstacle, const geometry::Bounds& region) {
  if (obstacle.surface) return *obstacle.surface;
  return obstacle.shape->surface({.segments = drawn_segments, .region = region});
}

Expected<std::function<std::vector<geometry::PlacedWall>(double time)>> walls_of(const Scene& scene) {
  std::vector<step::Obstacle> obstacles;
  for (const Value& value : scene.resolved.items_at("obstacle")) {
    auto obstacle = build_obstacle(value, scene.dimension);
    if (!obstacle) return forward_error(obstacle);
    obstacles.push_back(std::move(*obstacle));
  }
  return [obstacles = std::move(obstacles)](double time) {
    std::vector<geometry::PlacedWall> placed;
    for (const step::Obstacle& obstacle : obstacles) placed.push_back({obstacle.shape, obstacle.pose(time)});
    return placed;
  };
}

std::optional<double> floor_height(const Value& obstacle) {
  const auto& [word, shape] = obstacle["shape"].members.front();
  const bool moves = obstacle.has("move") || obstacle.has("rotate") || obstacle.has("script");
  if (word != "half_space" || moves || obstacle.has("transform") || obstacle.boolean_at("inside"))
    return std::nullopt;
  const Vec3 normal = shape.vector_at("normal").normalized();
  if ((normal - Vec3::UnitY()).norm() > 1e-9) return std::nullopt;
  return shape.vector_at("point")[1];
}

}  // namespace lope::scene
