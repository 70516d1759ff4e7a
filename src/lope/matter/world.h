// What all matter of a scene shares: gravity, obstacles, and how time is stepped. Constant.
#pragma once

#include <lope/math/types.h>
#include <lope/matter/contact/obstacle.h>

#include <vector>

namespace lope::matter {

// Of matter that takes part in islands; what solves its steps by itself has a scheme of its own.
enum class Scheme {
  BackwardEuler,
  Bdf2,
  Trapezoid,
  Static,  // no inertia: every step ends in equilibrium with the loads and scripts of its time
};

struct World {
  Vec3 gravity = Vec3(0, -9.81, 0);
  std::vector<Obstacle> obstacles;
  Scheme scheme = Scheme::BackwardEuler;
  double dissipation = 0;  // of the trapezoid (time_scheme.h), 0 … 1
};

}  // namespace lope::matter
