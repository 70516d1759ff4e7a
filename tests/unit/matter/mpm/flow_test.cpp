// Matter that flows within implicit steps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "small_scenes.h"
#include <gtest/gtest.h>

namespace lope::matter {
namespace {

// A column of dry sand in the plane, 2L wide and aL high, on a rough floor.
constexpr double half_width = 0.1;
step::Model column(double aspect, double largest_substep, bool within) {
  MpmBody body;
  body.name = "points";
  body.dimension = body.description.dimension = 2;
  body.description.dx = 0.0125;
  body.description.largest_substep = largest_substep;
  const double endless = std::numeric_limits<double>::infinity(), height = aspect * half_width;
  mpm::Material sand{material::from_young_poisson(material::Density::StvkHencky, 3.537e5, 0.3),
                     {.flow = material::Flow::DruckerPrager, .friction_angle = 35 * std::acos(-1.0) / 180},
                     2200};
  sand.flows_within = within;
  body.description.parts = {part(
      *geometry::level_set(geometry::Box{Vec3(0, 0.5 * height, 0), Vec3(2 * half_width, height, endless)}),
      sand)};
  step::Model model = model_of(body, Vec3(0, -9.81, 0));
  model.step = 1 / 60.0;
  add_floor(model, 0, mpm::Boundary::Sticky);
  return model;
}

struct Heap {
  double run_out = 0;  // of all but the farthest 2 %, relative to the half width
  double height = 0;   // likewise, relative to the column's
  std::int64_t substeps = 0;
};
Heap collapsed(double aspect, double largest_substep, bool within) {
  step::Simulation simulation(column(aspect, largest_substep, within));
  Heap heap;
  for (int k = 0; k < 36; ++k) {
    const auto report = simulation.advance();
    EXPECT_TRUE(report.accepted);
    EXPECT_TRUE(report.islands[0].solve.converged()) << report.islands[0].solve.reason;
    heap.substeps += report.bodies[0].count("substeps");
  }
  const auto& end = std::get<mpm::Particles<2>>(as<MpmState>(simulation.state().bodies[0]).particles);
  std::vector<double> far, high;
  for (const Vec2& x : end.x) {
    far.push_back(std::abs(x[0]));
    high.push_back(x[1]);
  }
  const auto quantile = [](std::vector<double>& values) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(values.size()));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  heap.run_out = quantile(far) / half_width - 1;
  heap.height = quantile(high) / (aspect * half_width);
  return heap;
}

// Rectangular columns lower than 2.3 widths run out by 1.2 times their height (Lube et al. 2005; Lajeunesse et al. 2005).
TEST(MpmFlow, SandRunsOutInLongStepsAsInExperiments) {
  const Heap heap = collapsed(1, 1e9, true), shorter = collapsed(1, 2e-3, true),
             after = collapsed(1, 1e9, false);
  EXPECT_LT(heap.substeps, 80);  // of 36 steps: those of the CFL condition
  EXPECT_GT(shorter.substeps, 300);
  EXPECT_NEAR(heap.run_out, 1.2, 0.25);
  EXPECT_NEAR(heap.run_out, shorter.run_out, 0.25);
  EXPECT_NEAR(heap.height, shorter.height, 0.05);
  // Flow that follows after a step is no flow at all in such long ones.
  EXPECT_LT(after.run_out, 0.1);
}

// A block of clay too weak for its own weight.
TEST(MpmFlow, ClayYieldsInLongStepsAsInShortOnes) {
  const auto height_after = [](bool within, double largest) {
    MpmBody body = block(5e5);
    mpm::Material& clay = body.description.parts[0].material;
    clay.elastic.density = material::Density::StvkHencky;
    clay.plasticity = {.flow = material::Flow::VonMises, .yield = 1e3};
    clay.flows_within = within;
    body.description.largest_substep = largest;
    step::Model model = model_of(body, Vec3(0, -9.81, 0));
    add_floor(model, 0, mpm::Boundary::Sticky);
    step::Simulation simulation(model);
    for (int k = 0; k < 8; ++k) {
      const auto report = simulation.advance();
      EXPECT_TRUE(report.accepted);
      EXPECT_TRUE(report.islands[0].solve.converged()) << report.islands[0].solve.reason;
    }
    double mean = 0;
    const auto& end = points(simulation);
    for (const Vec3& x : end.x) mean += x[1] / static_cast<double>(end.size());
    return mean;  // 0.2 at the start
  };
  const double within = height_after(true, 1e9), shorter = height_after(true, 2e-3), after = height_after(false, 1e9);
  EXPECT_LT(within, 0.16);
  EXPECT_NEAR(within, shorter, 0.02);
  EXPECT_GT(after, within + 0.02);
}

}  // namespace
}  // namespace lope::matter
