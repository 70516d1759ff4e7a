// The collapse of a water column against the experiment of Martin and Moyce (1952, Phil. Trans. R. Soc. A
// 244): a column twice as high as its width a; Z: the front's distance from the wall in widths, at T = t
// √(2g/a).
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace lope::step {
namespace {

struct Point {
  double T, Z;
};
constexpr std::array<Point, 15> experiment{{{0.41, 1.11},
                                            {0.84, 1.22},
                                            {1.19, 1.44},
                                            {1.43, 1.67},
                                            {1.63, 1.89},
                                            {1.83, 2.11},
                                            {1.98, 2.33},
                                            {2.20, 2.56},
                                            {2.32, 2.78},
                                            {2.51, 3.00},
                                            {2.65, 3.22},
                                            {2.83, 3.44},
                                            {2.98, 3.67},
                                            {3.11, 3.89},
                                            {3.33, 4.11}}};

geometry::LevelSetPtr rectangle(double width, double height) {
  return *geometry::level_set(geometry::Box{Vec3(width / 2, height / 2, 0),
                                            Vec3(width, height, std::numeric_limits<double>::infinity())});
}

// The front along the floor: a few stray particles may be ahead of it.
double front(const matter::liquid::Particles<2>& particles, double dx) {
  std::vector<double> ahead;
  for (const Vec2& x : particles.x) {
    if (x.y() < 2 * dx) ahead.push_back(x.x());
  }
  constexpr std::size_t stray = 4;
  std::nth_element(ahead.begin(), ahead.begin() + stray, ahead.end(), std::greater<>());
  return ahead[stray];
}

TEST(DamBreak, FrontFollowsMartinAndMoyce) {
  const double a = 0.05715, g = 9.81;
  Model model;
  model.gravity = Vec3(0, -g, 0);
  model.step = 0.1 * std::sqrt(a / (2 * g));
  model.liquid.emplace();
  auto& liquid = model.liquid->description;
  liquid.dimension = 2;
  liquid.dx = a / 20;
  liquid.domain = {Vec3::Constant(-a), Vec3::Constant(7 * a)};
  liquid.sources.push_back({rectangle(a, 2 * a)});
  model.obstacles.emplace_back().shape = geometry::complement_of(rectangle(6 * a, 3 * a));
  Simulation simulation(model);
  std::vector<Point> found{{0, 1}};
  while (found.back().T < 3.4) {
    ASSERT_TRUE(simulation.advance().converged());
    const auto& particles = std::get<matter::liquid::Particles<2>>(simulation.state().liquid->particles);
    found.push_back({simulation.state().time * std::sqrt(2 * g / a), front(particles, liquid.dx) / a});
  }
  // The water is ahead of the experiment, by 11 % in the mean at this resolution: there is no friction at the floor and
  // no gate that takes its time to open. The limits guard what was seen; they are not an estimate of the error.
  double mean = 0;
  for (const Point& measured : experiment) {
    const auto after =
        std::find_if(found.begin(), found.end(), [&](const Point& p) { return p.T >= measured.T; });
    const Point &p = *(after - 1), &q = *after;
    const double Z = p.Z + (measured.T - p.T) / (q.T - p.T) * (q.Z - p.Z);
    EXPECT_GT(Z, measured.Z - 0.1) << "T = " << measured.T;
    EXPECT_LT(Z, measured.Z + 0.55) << "T = " << measured.T;
    mean += (Z - measured.Z) / measured.Z / experiment.size();
  }
  EXPECT_LT(std::abs(mean), 0.13);
}

}  // namespace
}  // namespace lope::step
