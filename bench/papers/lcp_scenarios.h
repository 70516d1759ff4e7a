// Pressure problems at a standstill: the containers of LCP §5 with liquid and a velocity field in them, so
// that solvers can be compared on one system without a simulation around it.
//
// The unit square or cube has n cells along a side. Liquid fills the left half (x < ½, slightly wavy), as in
// the paper; the containers' sizes are ours where the paper gives none.
#pragma once

#include <lope/math/types.h>
#include <lope/matter/liquid/pressure_system.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace lope::bench {

enum class LcpScenario {
  Circle,        // 2D
  Square,        // 2D
  Maze,          // 2D: a square with staggered inner walls of one to two cells' thickness, filled to the left
  Sphere,        // 3D, scenario 1
  SphereCuboid,  // 3D, scenario 2: a cuboid hangs inside the sphere
  TwoSpheres,    // 3D, scenario 3: union of two spheres; two hollow spheres inside, the lower one with holes
};

// The velocity field: smooth (some swirls and gravity), or with noise of the same size on every face besides.
enum class LcpVelocity { Smooth, Rough };

std::string_view name(LcpScenario scenario);
std::string_view name(LcpVelocity velocity);
std::span<const LcpScenario> lcp_scenarios(int dimension);

// Positive where liquid may be, about a distance near the walls; where the liquid ends along x.
double free_space(LcpScenario scenario, const Vec3& x);
double liquid_side(LcpScenario scenario);

// `phase` turns the velocity field a little: a sequence of phases is a sequence of similar problems, as in a
// run.
template <int Dim>
matter::PressureGrid<Dim> lcp_problem(LcpScenario scenario, int n, LcpVelocity velocity, double phase = 0);

extern template matter::PressureGrid<2> lcp_problem(LcpScenario, int, LcpVelocity, double);
extern template matter::PressureGrid<3> lcp_problem(LcpScenario, int, LcpVelocity, double);

}  // namespace lope::bench
