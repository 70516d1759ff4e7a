// Obstacles: rigid shapes, scripted, that matter cannot enter and that are never pushed back.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

#include <cstddef>
#include <memory>
#include <string>

namespace lope::matter {

enum class ContactKind {
  Constraint,  // exactly: no node is ever inside (OPT §5.1); needs an exact level set
  Penalty,     // nearly: nodes inside are pushed out (OPT §5.2); any level set
  Barrier,     // exactly: no primitive ever crosses its triangles (barrier.h); needs a surface
};

struct Obstacle {
  std::string name;
  geometry::LevelSetPtr shape;  // at time 0
  geometry::Motion motion;
  std::shared_ptr<const geometry::Mesh> surface;  // of a barrier, at time 0: its triangles (2D: its boundary)
  double begin = 0;  // s: at rest before
  ContactKind contact = ContactKind::Constraint;
  double friction = 0;      // Coulomb's μ
  double stiffness = 0;     // of a penalty, N/m²; 0: automatic (obstacle_penalty.h)
  bool container = false;   // what is inside the shape is free
  geometry::Bounds extent;  // of the shape at time 0, that of a container too; infinite where it has no end

  geometry::RigidPose pose(double time) const { return motion.pose(time > begin ? time - begin : 0); }
};

// An obstacle where it is at the end of a step.
struct PlacedObstacle {
  geometry::LevelSetPtr shape;
  double stiffness = 0;    // of a penalty; 0: automatic
  std::size_t number = 0;  // among the obstacles of the model
};

}  // namespace lope::matter
