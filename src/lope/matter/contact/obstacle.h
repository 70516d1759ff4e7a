// Obstacles as a step sees them: rigid shapes, scripted, never pushed back.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

namespace lope::matter {

struct Obstacle {
  geometry::LevelSetPtr shape;        // at the end of the step
  geometry::RigidPose before, after;  // of the resting shape, at the beginning and at the end
  double friction = 0;                // Coulomb's μ
  double stiffness = 0;               // of a penalty, N/m²; 0: automatic (obstacle_penalty.h)
};

}  // namespace lope::matter
