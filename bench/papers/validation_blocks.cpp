#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <papers/validation.h>
#include <papers/validation_runs.h>

namespace lope::bench {
namespace {

constexpr double angle = 0.5;  // of the slope, radians
const Vec3 size(0.4, 0.2, 0.4);

struct Setting {
  double young = 2e11;
  double friction = 0;
  step::Scheme scheme = step::Scheme::BackwardEuler;
  double h = 1.0 / 24;
  std::array<int, 3> nodes = {4, 3, 4};
};

// The slope is level and gravity leans. Of a softer block than this the normal forces swing while it settles; so do those of the trapezoid rule.
constexpr double stiff = 1e7;

void slide(const Setting& setting, std::vector<Check>& result) {
  step::Model model;
  model.step = setting.h;
  model.scheme = setting.scheme;
  model.dissipation = 0.2;
  model.gravity = gravity * Vec3(std::sin(angle), -std::cos(angle), 0);
  model.bodies = {box_body(size, setting.nodes, setting.young)};
  model.obstacles = {plane(setting.friction)};
  Run run(model);
  const double weight = run.mass * gravity * std::cos(angle);
  double farthest = 1;  // from 1: of the normal force, beside that weight
  int iterations = 0, steps = 0;
  run.steps(std::min(1.0, 120 * setting.h), [&](const step::StepReport& report) {
    const double force = report.islands.front().contact.obstacle_force.front()[1] / weight;
    if (std::abs(force - 1) > std::abs(farthest - 1)) farthest = force;
    iterations += report.islands.front().solve.iterations;
    ++steps;
  });
  const auto& [x, y, z] = setting.nodes;
  const std::string name =
      fmt::format("friction {}, {}, h = {}, E = {:.0e} Pa, {} x {} x {} nodes: {:.1f} iterations per step",
                  setting.friction, name_of(setting.scheme), seconds(setting.h), setting.young, x, y, z,
                  double(iterations) / steps);
  const double down = gravity * std::sin(angle) * setting.h * steps;
  const double theory =
      std::max(0.0, down - setting.friction * gravity * std::cos(angle) * setting.h * steps);
  result.push_back({"speed of a flat block on a slope", name, "m/s", run.center_velocity()[0], theory, down,
                    0.01, run.unconverged});
  if (setting.young >= stiff && setting.scheme != step::Scheme::Trapezoid)
    result.push_back(
        {"its normal force beside its weight, at worst", name, "", farthest, 1, 0, 0.01, run.unconverged});
}

}  // namespace

std::vector<Check> stiff_blocks(bool quick) {
  std::vector<Check> result;
  for (const double friction : quick ? std::vector{0.0, 0.4} : std::vector{0.0, 0.2, 0.4, 1.0}) {
    for (const step::Scheme scheme : schemes) {
      for (const double h : quick ? std::vector{1.0 / 24} : std::vector{1.0 / 24, 1.0 / 240, 1e-3})
        slide({.friction = friction, .scheme = scheme, .h = h}, result);
    }
    if (quick) continue;
    for (const double young : {1e5, 1e7, 1e9}) slide({.young = young, .friction = friction}, result);
    slide({.friction = friction, .nodes = {9, 7, 9}}, result);
  }
  return result;
}

}  // namespace lope::bench
