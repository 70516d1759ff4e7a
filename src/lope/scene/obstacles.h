// From validated [[obstacle]] tables to the obstacles of a Model, and what starts inside them.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lope::scene {

// Voxels along the largest extent of a mesh when no size is given.
inline constexpr double default_obstacle_voxels = 64;

// Fails where a file cannot be read or is not a closed surface, with the position of its key.
Expected<step::Obstacle> build_obstacle(const Value& value, int dimension);

// The level set of a table with a shape that has a formula, and perhaps a transform.
Expected<geometry::LevelSetPtr> formula_level_set(const Value& value, int dimension);

// A body whose vertices are inside an obstacle at the start.
struct StartInside {
  std::size_t body = 0;
  std::size_t obstacle = 0;
  std::size_t vertices = 0;
  double depth = 0;  // of the deepest, metres
};
std::vector<StartInside> find_start_inside(const step::Model& model);

// "body 'ball' starts inside obstacle 'floor': 12 vertices, by up to 0.03 m".
std::string describe(const StartInside& inside, const step::Model& model);

// The surface of an obstacle at time 0, cut off around `region` where it has no end.
geometry::Mesh obstacle_surface(const step::Obstacle& obstacle, const geometry::Bounds& region);

// The obstacles of a scene as level sets, where they are at a time. Fails as build_obstacle does.
Expected<std::function<std::vector<geometry::PlacedWall>(double time)>> walls_of(const Scene& scene);

// The height of a floor: an obstacle that is everything below a horizontal plane and never moves.
std::optional<double> floor_height(const Value& obstacle);

}  // namespace lope::scene
