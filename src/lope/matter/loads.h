// Forces from outside on a part of a body: so many newtons in all, a torque, a traction or a pressure. What follows
// the body (torques and pressures) is taken where the body is at the beginning of the step; equilibria renew it until
// it fits (Scheme::Static).
#pragma once

#include <lope/geometry/motion.h>
#include <lope/math/types.h>

#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace lope::matter {

// On a set of vertices, times a factor that may change with time; several kinds add up.
struct Load {
  std::string name;
  std::vector<int> vertices;
  Vec3 force = Vec3::Zero();       // in all, newtons
  Vec3 traction = Vec3::Zero();    // per area at rest, pascals
  double pressure = 0;             // against the surface as it is, pascals
  Vec3 torque = Vec3::Zero();      // in all, about the middle of the vertices as they are, newton metres
  geometry::Curve<double> factor;  // of time since `begin`; without keys: 1
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
  // Filled by spread().
  std::vector<double> share;              // per vertex; 1 in all
  std::vector<std::array<int, 3>> faces;  // of the surface, outward (2D: edges, third vertex −1)
  double total_area = 0;                  // at rest, m² (2D: per metre of depth)
};

// Adds the forces of loads at time t, with the nodes at x, to `force` (both interleaved, newtons). A load acts from `begin`
// to `end`, both with this slack, seconds: times are sums of steps, and rounding should not decide.
void add_loads(std::span<const Load> loads, int dimension, std::span<const double> x, double time,
               std::span<double> force, double slack = 0);

// Fills the parts of a load that follow from its vertices: the faces of the surface all of whose vertices it has, and the
// share of each vertex in them (equal shares where there is none). In 2D faces are edges, with −1 as the third vertex.
void spread(std::span<const Vec3> vertices, std::span<const std::array<int, 3>> surface, Load& load);

}  // namespace lope::matter
