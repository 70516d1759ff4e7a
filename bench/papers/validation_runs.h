// What the cases of `lope bench validation` share: bodies, a plane, and a run that is watched.
#pragma once

#include <lope/geometry/level_set/analytic.h>
#include <lope/step/simulation.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <papers/bodies.h>

namespace lope::bench {

inline constexpr double gravity = 9.81;
inline constexpr std::array schemes = {step::Scheme::BackwardEuler, step::Scheme::Bdf2,
                                       step::Scheme::Trapezoid};
std::string_view name_of(step::Scheme scheme);
// "1/24 s", "0.1 ms".
std::string seconds(double h);

// From the origin to `size`.
matter::SolidBody box_body(const Vec3& size, std::array<int, 3> nodes, double young, double density = 1000);
// y = 0, seen from above.
step::Obstacle plane(double friction);

// A run and what was seen of it.
struct Run {
  step::Simulation simulation;
  std::vector<double> masses;
  double mass = 0;
  int unconverged = 0;
  double first_energy = 0, largest_energy = 0;

  explicit Run(const step::Model& model);
  step::StepReport step();
  void steps(double duration, const std::function<void(const step::StepReport&)>& see = {});
  Vec3 center_velocity() const { return mean(simulation.state().nodes(0).v); }
  Vec3 center() const { return mean(simulation.state().nodes(0).x); }

 private:
  Vec3 mean(const std::vector<double>& values) const;
};

}  // namespace lope::bench
