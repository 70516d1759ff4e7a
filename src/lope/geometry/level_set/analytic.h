// Level sets with closed formulas: exact distances and derivatives. The shapes are those of shapes.h and two
// more. Fail where a size is not positive (and finite, unless said otherwise), a place not finite, an axis
// zero.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/shapes.h>

namespace lope::geometry {

// The obstacle fills the side against `normal` (any length but zero), e.g. the ground: normal up.
struct HalfSpace {
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::UnitY();
};

// A full cone: the disc of `radius` about `base`, and the apex at base + length·axis.
struct Cone {
  Vec3 base = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();
  double radius = 0.5;
  double length = 1;
};

Expected<LevelSetPtr> level_set(const HalfSpace& half_space);
Expected<LevelSetPtr> level_set(const Sphere& sphere);
// Sides may be infinite, not all three: scenes in the plane take boxes without end along z. With sharp edges:
// outside, the exact distance; inside, that to the nearest face. Its obstacle_features are its faces.
Expected<LevelSetPtr> level_set(const Box& box);
Expected<LevelSetPtr> level_set(const Cylinder& cylinder);
Expected<LevelSetPtr> level_set(const Capsule& capsule);
Expected<LevelSetPtr> level_set(const Torus& torus);
Expected<LevelSetPtr> level_set(const Cone& cone);

}  // namespace lope::geometry
