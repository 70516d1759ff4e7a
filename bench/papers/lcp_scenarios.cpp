#include <lope/base/parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <papers/lcp_scenarios.h>

namespace lope::bench {
namespace {

using geometry::BrickSet;
using geometry::GridIndex;
using std::numbers::pi;

constexpr LcpScenario plane_scenarios[] = {LcpScenario::Circle, LcpScenario::Square, LcpScenario::Maze};
constexpr LcpScenario space_scenarios[] = {LcpScenario::Sphere, LcpScenario::SphereCuboid,
                                           LcpScenario::TwoSpheres};

double box(const Vec3& x, const Vec3& centre, const Vec3& half) {
  const Vec3 d = (x - centre).cwiseAbs() - half;
  return d.cwiseMax(0).norm() + std::min(d.maxCoeff(), 0.0);
}

// Distance to a maze's walls: a frame and five walls with openings at alternating ends.
double maze(const Vec3& x) {
  double distance = -std::max(std::abs(x.x() - 0.5), std::abs(x.y() - 0.5)) + 0.46;
  for (int wall = 0; wall < 5; ++wall) {
    const double opening = wall % 2 == 0 ? -0.12 : 0.12;
    distance = std::min(distance, box(x, {0.19 + 0.155 * wall, 0.5 + opening, 0}, {0.008, 0.37, 1}));
  }
  return distance;
}

double hollow_sphere(const Vec3& x, const Vec3& centre, double radius) {
  return std::abs((x - centre).norm() - radius) - 0.016;
}

double two_spheres(const Vec3& x) {
  const Vec3 low(0.48, 0.32, 0.5), high(0.52, 0.66, 0.5);
  const double container = std::max(0.29 - (x - low).norm(), 0.3 - (x - high).norm());
  const Vec3 r = x - low;
  // Holes along the three axes.
  double holes = std::hypot(r.y(), r.z());
  holes = std::min({holes, std::hypot(r.x(), r.z()), std::hypot(r.x(), r.y())}) - 0.05;
  const double lower = std::max(hollow_sphere(x, low, 0.14), -holes);
  const double upper = hollow_sphere(x, high + Vec3(0, 0.02, 0), 0.13);
  return std::min({container, lower, upper});
}

}  // namespace

double free_space(LcpScenario scenario, const Vec3& x) {
  const Vec3 middle = Vec3::Constant(0.5);
  switch (scenario) {
    case LcpScenario::Circle:
      return 0.456 - std::hypot(x.x() - 0.5, x.y() - 0.5);
    case LcpScenario::Square:
      return 0.4502 - std::max(std::abs(x.x() - 0.5), std::abs(x.y() - 0.5));
    case LcpScenario::Maze:
      return maze(x);
    case LcpScenario::Sphere:
      return 0.456 - (x - middle).norm();
    case LcpScenario::SphereCuboid:
      return std::min(0.456 - (x - middle).norm(), box(x, {0.37, 0.48, 0.5}, {0.21, 0.08, 0.13}));
    case LcpScenario::TwoSpheres:
      return two_spheres(x);
  }
  return 0;
}

double liquid_side(LcpScenario scenario) { return scenario == LcpScenario::Maze ? 0.62 : 0.5; }

namespace {

double liquid_level(LcpScenario scenario, const Vec3& x) {
  return x.x() - liquid_side(scenario) + 0.01 * std::sin(4 * pi * x.y()) * std::cos(2 * pi * x.z());
}

// Velocity before the projection [m/s]: swirls that neither converge nor follow the walls, and some gravity.
double smooth_velocity(const Vec3& x, int axis, double phase) {
  const double turn = 2 * pi * phase;
  switch (axis) {
    case 0:
      return 0.9 * std::sin(2 * pi * x.y() + 0.5 + turn) * std::cos(pi * x.z());
    case 1:
      return 0.8 * std::cos(3 * pi * x.x() - turn) - 0.3;
    default:
      return 0.7 * std::sin(2 * pi * (x.x() + x.y()) + 1.0 + turn);
  }
}

// A number in [−1, 1] that depends on the face alone.
double noise(const GridIndex<3>& cell, int axis) {
  std::uint64_t h = static_cast<std::uint64_t>(axis + 1);
  for (const int c : cell) {
    h = (h ^ static_cast<std::uint64_t>(c + 77)) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return static_cast<double>(h >> 11) * 0x1p-52 - 1;
}

// Part of a segment between two values of a level set that is positive.
double positive_part(double a, double b) {
  if (a >= 0 && b >= 0) return 1;
  if (a < 0 && b < 0) return 0;
  return std::max(a, b) / std::abs(a - b);
}

// Part of a triangle with these values at its corners that is positive.
double positive_part(double a, double b, double c) {
  double v[3] = {a, b, c};
  std::sort(v, v + 3);
  if (v[0] >= 0) return 1;
  if (v[2] < 0) return 0;
  if (v[1] < 0) return v[2] / (v[2] - v[0]) * v[2] / (v[2] - v[1]);
  return 1 - v[0] / (v[0] - v[1]) * v[0] / (v[0] - v[2]);
}

}  // namespace

std::string_view name(LcpScenario scenario) {
  switch (scenario) {
    case LcpScenario::Circle:
      return "circle";
    case LcpScenario::Square:
      return "square";
    case LcpScenario::Maze:
      return "maze";
    case LcpScenario::Sphere:
      return "sphere";
    case LcpScenario::SphereCuboid:
      return "sphere-cuboid";
    case LcpScenario::TwoSpheres:
      return "two-spheres";
  }
  return "";
}

std::string_view name(LcpVelocity velocity) { return velocity == LcpVelocity::Smooth ? "smooth" : "rough"; }

std::span<const LcpScenario> lcp_scenarios(int dimension) {
  if (dimension == 2) return plane_scenarios;
  return space_scenarios;
}

template <int Dim>
matter::PressureGrid<Dim> lcp_problem(LcpScenario scenario, int n, LcpVelocity velocity, double phase) {
  using Bricks = BrickSet<Dim>;
  const double dx = 1.0 / n;
  // A point of space from cell coordinates and an offset in cells; plane scenes lie in z = ½.
  const auto point = [&](const GridIndex<Dim>& cell, const Vec3& offset) {
    Vec3 x = Vec3::Constant(0.5);
    for (int a = 0; a < Dim; ++a) x[a] = dx * (cell[static_cast<std::size_t>(a)] + offset[a]);
    return x;
  };
  const Vec3 centre = Vec3::Constant(0.5);

  // Bricks with liquid in open space, and those around them.
  const int across = (n + Bricks::side - 1) / Bricks::side;
  std::vector<GridIndex<Dim>> wanted;
  for (int k = 0; k < (Dim == 3 ? across : 1); ++k) {
    for (int j = 0; j < across; ++j) {
      for (int i = 0; i < across; ++i) {
        GridIndex<Dim> brick{i, j};
        if constexpr (Dim == 3) brick[2] = k;
        bool wet = false;
        for (int local = 0; local < Bricks::cells && !wet; ++local) {
          GridIndex<Dim> cell;
          for (int a = 0; a < Dim; ++a)
            cell[static_cast<std::size_t>(a)] = 8 * brick[static_cast<std::size_t>(a)] + (local >> 3 * a & 7);
          const Vec3 x = point(cell, centre);
          wet = liquid_level(scenario, x) < 0 && free_space(scenario, x) > -dx;
        }
        if (wet) wanted.push_back(brick);
      }
    }
  }
  matter::PressureGrid<Dim> grid;
  grid.bricks = std::make_shared<Bricks>(Bricks(wanted).dilated());
  grid.dx = dx;
  grid.liquid.resize(grid.bricks->size());
  for (std::size_t a = 0; a < Dim; ++a) {
    grid.open[a].resize(grid.bricks->size());
    grid.velocity[a].resize(grid.bricks->size());
  }
  parallel_for(static_cast<std::size_t>(grid.bricks->count()), 8, [&](std::size_t brick) {
    for (std::size_t place = brick * Bricks::cells; place < (brick + 1) * Bricks::cells; ++place) {
      const GridIndex<Dim> cell = grid.bricks->cell(static_cast<std::int64_t>(place));
      grid.liquid[place] = liquid_level(scenario, point(cell, centre));
      GridIndex<3> numbered{};
      std::copy(cell.begin(), cell.end(), numbered.begin());
      for (int a = 0; a < Dim; ++a) {
        Vec3 offset = centre;
        offset[a] = 0;
        const Vec3 x = point(cell, offset);
        double u = smooth_velocity(x, a, phase);
        if (velocity == LcpVelocity::Rough) u += noise(numbered, a);
        grid.velocity[static_cast<std::size_t>(a)][place] = u;
        // The face's corners, and in space its centre as the tip of four triangles.
        const auto corner = [&](double s, double t) {
          Vec3 at_corner = offset;
          at_corner[(a + 1) % Dim] = s;
          if (Dim == 3) at_corner[(a + 2) % Dim] = t;
          return free_space(scenario, point(cell, at_corner));
        };
        double& open = grid.open[static_cast<std::size_t>(a)][place];
        if constexpr (Dim == 2) {
          open = positive_part(corner(0, 0), corner(1, 0));
        } else {
          const double v[4] = {corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
          const double tip = free_space(scenario, x);
          open = 0;
          for (int side = 0; side < 4; ++side) open += 0.25 * positive_part(v[side], v[(side + 1) % 4], tip);
        }
      }
    }
  });
  return grid;
}

template matter::PressureGrid<2> lcp_problem(LcpScenario, int, LcpVelocity, double);
template matter::PressureGrid<3> lcp_problem(LcpScenario, int, LcpVelocity, double);

}  // namespace lope::bench
