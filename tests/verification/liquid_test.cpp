// The collapse of a water column against the experiment of Martin and Moyce (1952, Phil. Trans. R. Soc. A
// 244): a column twice as high as its width a; Z: the front's distance from the wall in widths, at T = t
// √(2g/a).
#include <lope/geometry/level_set/analytic.h>
#include <lope/geometry/level_set/combined.h>
#include <lope/geometry/level_set/particle_surface.h>
#include <lope/geometry/surface_check.h>
#include <lope/step/simulation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <support/kinds.h>
#include <support/sanitized.h>

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

// The front along the floor, in metres from the wall: where the level set of the unbroken row of liquid cells
// that begins there ends. Drops ahead of it do not count.
double front(const matter::liquid::GridFields& fields, double dx) {
  std::map<int, float> floor;  // φ by cell
  for (std::size_t c = 0; c < fields.kind.size(); ++c) {
    if (fields.index[3 * c + 1] == 0) floor[fields.index[3 * c]] = fields.level_set[c];
  }
  int last = -1;
  while (floor.count(last + 1) && floor[last + 1] < 0) ++last;
  const double inside = floor[last], outside = floor.count(last + 1) ? floor[last + 1] : dx;
  return dx * (last + 0.5 + inside / (inside - outside));
}

// The front of a column of width 1 and height 2 (in units of a) until it is at Z = 5, with this many cells
// along a.
std::vector<Point> front_positions(int cells) {
  const double a = 0.05715, g = 9.81;
  Model model;
  model.gravity = Vec3(0, -g, 0);
  model.step = 0.1 * std::sqrt(a / (2 * g));
  matter::LiquidBody& body = model.add(matter::LiquidBody());
  auto& liquid = body.description;
  body.dimension = liquid.dimension = 2;
  liquid.dx = a / cells;
  liquid.domain = {Vec3::Constant(-a), Vec3::Constant(7 * a)};
  liquid.sources.push_back({rectangle(a, 2 * a)});
  model.obstacles.emplace_back().shape = geometry::complement_of(rectangle(6 * a, 3 * a));
  Simulation simulation(model);
  std::vector<Point> found{{0, 1}};
  while (found.back().T < 3.5) {
    EXPECT_TRUE(simulation.advance().converged());
    found.push_back(
        {simulation.state().time * std::sqrt(2 * g / a), front(kinds::liquid_grid(simulation), liquid.dx) / a});
  }
  return found;
}

double position_at(const std::vector<Point>& course, double T) {
  const auto after = std::find_if(course.begin(), course.end(), [&](const Point& p) { return p.T >= T; });
  const Point &p = *(after - 1), &q = *after;
  return p.Z + (T - p.T) / (q.T - p.T) * (q.Z - p.Z);
}
double time_at(const std::vector<Point>& course, double Z) {
  const auto after = std::find_if(course.begin(), course.end(), [&](const Point& p) { return p.Z >= Z; });
  const Point &p = *(after - 1), &q = *after;
  return p.T + (Z - p.Z) / (q.Z - p.Z) * (q.T - p.T);
}

// A straight line through the front's positions from Z = 2.33 on.
struct Line {
  double speed = 0, error = 0,
         scatter = 0;  // slope, its standard error, standard deviation of the readings in T
};
Line line_through(std::span<const Point> points) {
  const auto n = static_cast<double>(points.size());
  double T = 0, Z = 0, TT = 0, TZ = 0, rest = 0;
  for (const Point& p : points) {
    T += p.T / n;
    Z += p.Z / n;
  }
  for (const Point& p : points) {
    TT += (p.T - T) * (p.T - T);
    TZ += (p.T - T) * (p.Z - Z);
  }
  const double speed = TZ / TT;
  for (const Point& p : points) rest += std::pow(p.Z - Z - speed * (p.T - T), 2);
  const double deviation = std::sqrt(rest / (n - 2));
  return {speed, deviation / std::sqrt(TT), deviation / speed};
}

// Clocks of the experiment and of the simulation begin at different moments: what held the column took time
// to let go. So speeds are compared, from Z = 2.33 on, by three standard errors of the experiment's; and the
// lead in time must be the same at the beginning and at the end, by four standard deviations of the readings.
TEST(DamBreak, FrontFollowsMartinAndMoyce) {
  const std::vector<Point> found = front_positions(20);
  const auto late = std::span(experiment).subspan(6);
  std::vector<Point> at_same_places;
  for (const Point& p : late) at_same_places.push_back({time_at(found, p.Z), p.Z});
  const Line measured = line_through(late), simulated = line_through(at_same_places);
  EXPECT_NEAR(simulated.speed, measured.speed, 3 * measured.error);
  const auto lead = [&](std::size_t k) { return experiment[k].T - time_at(found, experiment[k].Z); };
  for (std::size_t k = 2; k < experiment.size(); ++k) {
    EXPECT_GT(lead(k), 0) << "Z = " << experiment[k].Z;
    EXPECT_NEAR(lead(k), lead(2), 4 * measured.scatter) << "Z = " << experiment[k].Z;
  }
  // Ritter's front, from shallow water without friction, is the fastest that is possible: 2 √(gH).
  for (const Point& p : found) EXPECT_LE(p.Z, 1 + 2 * p.T + 0.1);
  fmt::print(
      "front: speed {:.3f} (experiment {:.3f} ± {:.3f}), ahead in T by {:.2f} at Z = {} and by {:.2f} at Z = "
      "{}\n",
      simulated.speed, measured.speed, measured.error, lead(2), experiment[2].Z, lead(14), experiment[14].Z);
}

TEST(DamBreak, FrontConvergesWithTheResolution) {
  const std::vector<Point> coarse = front_positions(10), middle = front_positions(20),
                           fine = front_positions(40);
  for (const double T : {1.0, 2.0, 3.0}) {
    const double first = std::abs(position_at(middle, T) - position_at(coarse, T)),
                 second = std::abs(position_at(fine, T) - position_at(middle, T));
    fmt::print("T = {}: Z = {:.3f}, {:.3f}, {:.3f} with 10, 20, 40 cells along a\n", T,
               position_at(coarse, T), position_at(middle, T), position_at(fine, T));
    EXPECT_LT(second, 0.75 * first) << "T = " << T;
    EXPECT_LT(second, 0.03 * position_at(fine, T)) << "T = " << T;
  }
}

// The volume that the drawn surface encloses, against that at the start: every sixth of a second of five, for
// water in a tank of 1 m × 0.75 m × 0.5 m that fills these boxes at first.
struct Volumes {
  double least = 1, most = 1, last = 1;
  void add(double volume) {
    last = volume;
    least = std::min(least, volume);
    most = std::max(most, volume);
  }
  std::string text() const {
    const auto percent = [](double volume) { return 100 * (volume - 1); };
    return fmt::format("between {:+.2f} % and {:+.2f} %, at last {:+.2f} %", percent(least), percent(most),
                       percent(last));
  }
};
struct Slosh {
  Volumes at_first, later;  // until 1.5 s, and then
};
Slosh slosh(std::initializer_list<std::pair<Vec3, Vec3>> boxes) {
  Model model;
  model.gravity = Vec3(0, -9.81, 0);
  model.step = 1.0 / 30;
  auto& liquid = model.add(matter::LiquidBody()).description;
  liquid.dx = 1.0 / 32;
  liquid.domain = {Vec3::Constant(-1), Vec3::Constant(2)};
  for (const auto& [min, max] : boxes)
    liquid.sources.push_back({*geometry::level_set(geometry::box_between(min, max))});
  const auto tank =
      geometry::complement_of(*geometry::level_set(geometry::box_between(Vec3::Zero(), Vec3(1, 0.75, 0.5))));
  model.obstacles.emplace_back().shape = tank;
  Simulation simulation(model);
  const auto volume = [&] {
    geometry::ParticleSurfaceOptions options;
    options.spacing = liquid.dx;
    options.walls = {{tank, {}}};
    const auto& particles = std::get<matter::liquid::Particles<3>>(kinds::liquid(simulation.state()).particles);
    return geometry::enclosed_volume(geometry::ParticleSurface::create(particles.x, options).value().mesh());
  };
  const double start = volume();
  Slosh result;
  for (int step = 1; step <= (sanitized ? 50 : 150); ++step) {
    EXPECT_TRUE(simulation.advance().converged());
    if (step % 5 == 0) (step <= 45 ? result.at_first : result.later).add(volume() / start);
  }
  return result;
}

// A tank whose halves are filled 40 cm and 25 cm high.
TEST(Slosh, KeepsItsVolume) {
  const Slosh found = slosh({{Vec3::Zero(), Vec3(0.5, 0.4, 0.5)}, {Vec3(0.5, 0, 0), Vec3(1, 0.25, 0.5)}});
  fmt::print("volume: {} until 1.5 s; then {}\n", found.at_first.text(), found.later.text());
  for (const Volumes& volumes : {found.at_first, found.later}) {
    EXPECT_GT(volumes.least, 0.98);
    EXPECT_LT(volumes.most, 1.02);
  }
}

// A column falls over and strikes the other end. While the wave breaks, sheets and spray are thinner than
// cells, and what is drawn of them is not theirs to a few percent; afterwards the volume is there again.
TEST(Slosh, RegainsItsVolumeAfterASplash) {
  const Slosh found = slosh({{Vec3::Zero(), Vec3(0.5, 0.6, 0.5)}});
  fmt::print("volume: {} until 1.5 s; then {}\n", found.at_first.text(), found.later.text());
  EXPECT_GT(found.at_first.least, 0.95);
  EXPECT_LT(found.at_first.most, 1.05);
  EXPECT_GT(found.later.least, 0.98);
  EXPECT_LT(found.later.most, 1.02);
}

}  // namespace
}  // namespace lope::step
