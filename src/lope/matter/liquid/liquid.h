// A liquid with a free surface: particles on a sparse staggered grid, with pressure from a mixed
// complementarity problem so that it can let go of walls (LCP). One call of advance() is one step, cut into
// substeps by the CFL condition.
//
// A substep: walls move to their places, emitters are fed, particles hand their velocities to the grid (APIC
// or FLIP), gravity acts, the pressure makes the field divergence-free (pressure_system.h), the velocities
// are extended beyond the liquid, particles take them back and are carried along (Ralston's third-order
// Runge–Kutta scheme), stopped by walls. The liquid is where its particles are (surface.h).
//
// Volume is kept by volume.h: a wanted expansion of crowded and sparse cells in the pressure equations, a
// drift of particles inside the liquid, and an exchange of particles between the most crowded inner cells and
// those that have hardly any. The number of particles never changes by this.
//
// Lengths in metres, the dimension is a run-time value; in 2D all masses are per metre of depth.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>
#include <lope/matter/liquid/particles.h>
#include <lope/matter/liquid/pressure_methods.h>
#include <lope/matter/liquid/transfers.h>
#include <lope/optimize/complementarity/problem.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace lope::matter {
template <int Dim>
class PressureSystem;
}

namespace lope::matter::liquid {

// Sees a pressure system, its first guess q (a value per cell) and the substep's length before it is solved.
template <int Dim>
using PressureObserver =
    std::function<void(const PressureSystem<Dim>& system, std::span<const double> q, double dt)>;

// What is full at the start: {φ < 0}.
struct Source {
  geometry::LevelSetPtr shape;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();  // rad/s about the middle of its bounds
};

// Kept full of liquid with this velocity.
struct Emitter {
  geometry::LevelSetPtr shape;
  Vec3 velocity = Vec3::Zero();
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
};

struct MovingWall {
  geometry::LevelSetPtr at_rest;
  std::function<geometry::RigidPose(double time)> pose;
};

struct Description {
  int dimension = 3;
  double dx = 0.05;            // side of a cell
  Vec3 origin = Vec3::Zero();  // a corner of the grid's cells: walls on it are exact
  geometry::Bounds domain;     // particles beyond are removed
  double density = 1000;       // kg/m³
  Vec3 gravity = Vec3(0, -9.81, 0);
  bool separating = true;  // walls let go; otherwise they hold the liquid
  // Of the pressure, on its own. None: the grid's multigrid, truncated where walls let go and linear where not, and
  // policy iteration for what it does not finish.
  std::optional<AnyPressureMethod> solver;
  TransferOptions transfer{.flip = 0.97};
  int particles_per_axis = 2;  // of a cell
  double cfl = 2;              // cells that the fastest particle may cross in a substep
  // Of a pressure solve: largest net flow out of a cell that may remain, m/s; and the same as a part of what
  // gravity, the motion and the walls have done to any cell in the substep. The smaller one counts, so that slow,
  // small and weightless scenes are solved as well as others (docs/accuracy.md).
  double tolerance = 1e-6;
  double relative_tolerance = 1e-3;
  int max_iterations = 500;  // of a pressure solve: cycles, and outer iterations of what takes over from them
  std::uint64_t seed = 1;
  std::vector<Source> sources;
  std::vector<Emitter> emitters;
  std::vector<MovingWall> walls;
  // For comparisons of solvers; the one of the dimension is called.
  std::tuple<PressureObserver<2>, PressureObserver<3>> pressure_observers;
};

// Everything that changes.
struct State {
  AnyParticles<Particles> particles;
  std::int64_t round = 0;  // substeps so far
  // The pressure of the last substep, as p/ρ [m²/s²]: where the next solve starts. Brick coordinates, Dim
  // each, and the values of their cells.
  std::vector<std::int32_t> pressure_bricks;
  std::vector<double> pressure;

  std::size_t count() const {
    return std::visit([](const auto& p) { return p.size(); }, particles);
  }
};

// Seconds of the parts of a step.
struct PartSeconds {
  double sorting = 0;    // of the particles, with feeding
  double walls = 0;     // open parts of faces
  double to_grid = 0;    // with the surface and the wanted expansion
  double pressure = 0;   // equations, solution, gradient
  double extension = 0;  // of the velocities beyond the liquid
  double to_particles = 0;
  double movement = 0;  // of the particles, with their exchange
};

// Liquid without a free surface whose walls close in on it: it cannot give way, and loses volume.
struct Squeeze {
  double flux = 0;             // what is lost, m³/s (2D: m²/s)
  double volume = 0;           // of the region, m³
  Vec3 middle = Vec3::Zero();  // of the region
};

struct Report {
  bool accepted = false;   // false: the pressure solve failed outright, numbers stopped being finite, or interrupted
  bool interrupted = false;
  bool converged = false;  // every pressure solve reached its tolerance, and no liquid was squeezed
  std::string reason;      // why not
  int substeps = 0;
  std::size_t particles = 0;  // at the end
  std::size_t emitted = 0;
  std::size_t removed = 0;            // left the domain, or were crushed between walls
  std::size_t moved = 0;              // from crowded cells to empty ones
  double volume = 0;                  // that the particles stand for, m³ (2D: m²)
  double covered_volume = 0;          // ∫ ψ over the open space: what they cover, crowding not counted
  double largest_speed = 0;           // m/s
  double kinetic = 0, potential = 0;  // J
  Vec3 momentum = Vec3::Zero();       // kg m/s
  // Pressure solves, over the substeps.
  int unknowns = 0;  // largest
  int wall_unknowns = 0;
  int separated = 0;         // walls cells that have let go, in the last substep
  int enclosed_regions = 0;  // largest number of regions without a free surface
  // What was taken from the flow into such regions to make their equations solvable, largest, m³/s (2D: m²/s):
  // what squeezes them, and the expansion that crowded particles would like.
  double removed_flux = 0;
  double squeezed_volume = 0;  // lost by squeezes in this step, m³ (2D: m²)
  Squeeze squeeze;             // the largest
  long iterations = 0;       // in all: cycles or outer iterations
  long inner_iterations = 0;
  double residual = 0;  // m/s, of the substep in which it is largest beside its tolerance
  double tolerance = 0;
  std::vector<optimize::complementarity::LcpIteration> history;  // of the substep with the most iterations
  PartSeconds part_seconds;
  double seconds = 0;  // all
};

// The grid's view of the liquid at the beginning of the last substep, for output: the cells of liquid and
// those next to them. Values per axis (three per cell, 0 along z in 2D) belong to the lower face.
struct GridFields {
  enum class Kind : std::uint8_t { Air, Liquid, Wall };
  std::vector<std::int32_t> index;  // 3 per cell: cell c spans origin + c dx … origin + (c + 1) dx
  std::vector<Kind> kind;
  std::vector<std::uint8_t> separating;  // 1: touches a wall and has let go of it (its pressure is 0)
  std::vector<float> pressure;           // Pa
  std::vector<float> level_set;          // of the liquid at the centre, within ±dx; m
  std::vector<float> velocity;           // 3 per cell, m/s
  std::vector<float> open;               // 3 per cell: open part of the face
};

class Liquid {
 public:
  virtual ~Liquid() = default;
  // The state at time 0. `covered`: particles that the sources would have had where walls are.
  virtual State start(std::size_t* covered = nullptr) const = 0;
  // One step of length h from `time`; the state is changed even if the report says that the step is not
  // accepted. `stop_requested`, if there is one, is asked before every substep.
  virtual Report advance(State& state, double time, double h, const std::function<bool()>& stop_requested = {}) = 0;
  // Of the last step that this object has taken, which led to the given state; before the first and after
  // forget(), those of the state itself, with the pressure that it remembers.
  virtual GridFields fields(const State& state, double time) = 0;
  // The next state is not where the last step led.
  virtual void forget() = 0;
};

std::unique_ptr<Liquid> make_liquid(const Description& description);

}  // namespace lope::matter::liquid
