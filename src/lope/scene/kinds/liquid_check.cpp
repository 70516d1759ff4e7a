#include <lope/scene/kinds/liquid_check.h>

#include <lope/matter/liquid/liquid_matter.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lope::scene {
namespace {

class LiquidChecker {
 public:
  explicit LiquidChecker(Checking& checking) : checking_(checking) {}

  // Fills the sources once to see what the obstacles leave of them.
  void liquid(const matter::LiquidBody& liquid) {
    const matter::liquid::Description& description = liquid.description;
    matter::liquid::Description filled = description;
    for (const step::Obstacle& obstacle : checking_.model.obstacles) {
      filled.walls.push_back({obstacle.shape, [&obstacle](double time) { return obstacle.pose(time); }});
    }
    std::size_t covered = 0;
    const auto model = matter::liquid::make_liquid(filled);
    const matter::liquid::State start = model->start(&covered);
    const std::size_t particles = start.count();
    const auto kinds = model->fields(start, 0).kind;
    const auto cells = static_cast<std::size_t>(
        std::count(kinds.begin(), kinds.end(), matter::liquid::GridFields::Kind::Liquid));
    if (particles == 0 && description.emitters.empty()) {
      checking_.fail("liquid '{}': has no particles: its bodies are {}", liquid.name,
           covered > 0 ? "inside obstacles; move them" : "smaller than a cell or outside the domain");
    } else if (covered > 0) {
      checking_.warn("liquid '{}': {:.2g} % of its bodies is inside obstacles and is left out; shrink or move them", liquid.name,
           100.0 * static_cast<double>(covered) / static_cast<double>(covered + particles));
    }
    const bool has_surface =
        std::find(kinds.begin(), kinds.end(), matter::liquid::GridFields::Kind::Air) != kinds.end();
    if (particles > 0 && !has_surface) sealed(liquid);
    if (!each<matter::NodalBody>(checking_.model.bodies).empty())
      checking_.warn("liquid '{}' and the solid bodies do not feel each other; use obstacles as its walls", liquid.name);
    for (const step::Obstacle& obstacle : checking_.model.obstacles) leaves(obstacle, description);
    tell(liquid, particles, cells);
  }

 private:
  void tell(const matter::LiquidBody& liquid, std::size_t particle_count, std::size_t cell_count) {
    const auto particles = static_cast<double>(particle_count), cells = static_cast<double>(cell_count);
    CheckReport& report = checking_.report;
    report.bodies.push_back(
        {liquid.name,
         fmt::format("liquid '{}': at the start {} particles in {} cells of {:.4g} m, the unknowns of its pressure",
                     liquid.name, particle_count, cell_count, liquid.description.dx),
         fmt::format("{} particles of liquid", particle_count),
         {{"particles", particles}, {"cells", cells}}});
    report.memory.elements += liquid_bytes(liquid.dimension, particles, cells);
    // Particles with their velocities, and where they are asked for cells: places, two velocities, four numbers.
    report.frame += (6 * particles + (writes_field(checking_.scene, "cells") ? 13 * cells : 0)) * sizeof(float);
    report.checkpoint += 15 * particles * sizeof(double);
  }

  // A liquid without a free surface at the start.
  void sealed(const matter::LiquidBody& liquid) {
    constexpr int samples = 100;
    const auto parts = [&](const step::Obstacle& obstacle) {
      for (int k = 1; k <= samples; ++k) {
        const double time = checking_.scene.duration * k / samples;
        const geometry::RigidPose a = checking_.model.obstacles.front().pose(time), b = obstacle.pose(time);
        if (!a.rotation.isApprox(b.rotation, 1e-12) ||
            (a.translation - b.translation).norm() > 1e-9 * liquid.description.dx)
          return true;
      }
      return false;
    };
    const auto mover = std::find_if(checking_.model.obstacles.begin(), checking_.model.obstacles.end(), parts);
    if (mover != checking_.model.obstacles.end()) {
      checking_.warn(
          "liquid '{}': has no free surface at the start, and obstacles move against each other ('{}', "
          "'{}'): liquid that "
          "they squeeze cannot give way, and such steps do not converge; leave some air",
          liquid.name, checking_.model.obstacles.front().name, mover->name);
    }
    if (!liquid.description.emitters.empty())
      checking_.warn("liquid '{}': has no free surface at the start, so that emitters have no room; leave some air",
           liquid.name);
  }

  // An obstacle that was in the domain of the liquid and is no longer.
  void leaves(const step::Obstacle& obstacle, const matter::liquid::Description& liquid) {
    if (!obstacle.extent.min.allFinite() || !obstacle.extent.max.allFinite()) return;
    constexpr int samples = 200;
    const double reach = 0.5 * obstacle.extent.extent().norm();
    const auto away = [&](double time) {
      const Vec3 middle = obstacle.pose(time).place(obstacle.extent.center());
      for (int a = 0; a < liquid.dimension; ++a) {
        if (middle[a] + reach < liquid.domain.min[a] || middle[a] - reach > liquid.domain.max[a]) return true;
      }
      return false;
    };
    if (away(0)) return;
    for (int k = 1; k <= samples; ++k) {
      const double time = checking_.scene.duration * k / samples;
      if (!away(time)) continue;
      return checking_.warn("obstacle '{}' leaves the domain of the liquid at about {:.3g} s", obstacle.name, time);
    }
  }

  Checking& checking_;
};

}  // namespace

// Per particle: place, velocity, its gradient, five times (two states, sorting, output); per cell of liquid the fields,
// walls and hierarchy on the bricks around it. Measured on the scenes that come with Lope to a quarter; spray makes it up to
// twice as much later.
double liquid_bytes(int dimension, double particles, double cells) {
  const double d = dimension;
  return 5 * particles * (2 * d + d * d) * sizeof(double) + (dimension == 3 ? 5000 : 2000) * cells;
}

void check_liquids(Checking& checking) {
  for (const matter::LiquidBody& liquid : each<matter::LiquidBody>(checking.model.bodies))
    LiquidChecker(checking).liquid(liquid);
}

}  // namespace lope::scene
