// Obstacles: rigid shapes, scripted, that matter cannot enter and that are never pushed back.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

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

// An obstacle as a step of nodes sees it.
struct PlacedObstacle {
  geometry::LevelSetPtr shape;        // at the end of the step
  geometry::RigidPose before, after;  // of the resting shape, at the beginning and at the end
  double friction = 0;
  double stiffness = 0;
};

}  // namespace lope::matter
