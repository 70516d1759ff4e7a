// Material points on a grid, stepped at the rate of the CFL condition (HOT; OPT §6). One call of advance() is one step, cut
// into substeps of length min(rest, cfl dx / v_max, largest_substep); the last two of a step are of equal length.
//
// A substep: points are sorted into blocks and hand their velocities to the grid, nodes inside obstacles get their
// conditions, the grid's motion is the minimiser of the step's energy (implicit: mpm_objective.h) or follows the forces at
// the beginning (explicit: symplectic Euler, bounded by the speed of sound), points take it back, plastic flow follows.
// Separating nodes are held or let go in rounds: those that are pulled in a solution are free in the next one.
//
// Jets fill their parts (filling.h) and scripts carry their points (scripted.h); a substep ends where a script begins or ends.
//
// A length with gravity: v_max counts what gravity adds in the substep. A substep in which a node moves by more than 1.5 dx,
// or which has no solution, is done again with half the length.
//
// Lengths in metres; in 2D masses are per metre of depth. The dimension is a run-time value.
#pragma once

#include <lope/matter/mpm/boundary.h>
#include <lope/matter/mpm/filling.h>
#include <lope/matter/mpm/mpm_objective.h>
#include <lope/matter/mpm/positions.h>
#include <lope/matter/mpm/scripted.h>
#include <lope/matter/mpm/transfers.h>
#include <lope/matter/particles/particle_arrays.h>
#include <lope/matter/world.h>
#include <lope/optimize/methods.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace lope::matter::mpm {

enum class Stepping { Implicit, Explicit };

struct Description {
  int dimension = 3;
  double dx = 0.05;
  std::vector<Part> parts;
  std::vector<Script> scripts;
  std::vector<Boundary> boundaries;  // one per obstacle of the world
  TransferOptions transfer;
  Positions positions = Positions::Forward;
  Stepping stepping = Stepping::Implicit;
  optimize::Method method = optimize::Method::Auto;  // of implicit steps
  std::function<std::unique_ptr<optimize::Minimizer>()> minimizer;  // in place of the method, for comparisons
  Embedding embedding = Embedding::Linear;           // for methods with multigrid
  double cfl = 0.6;
  double largest_substep = std::numeric_limits<double>::infinity();  // s
  std::uint64_t seed = 1;
};

// Seconds spent in the parts of a step.
struct PartSeconds {
  double sorting = 0;       // and numbering nodes
  double to_grid = 0;
  double conditions = 0;
  double assembly = 0;      // Hessians
  double preconditioner = 0;
  double linear = 0;        // products, cycles
  double evaluation = 0;    // energies, gradients
  double to_particles = 0;  // and plastic flow
};

struct Report {
  optimize::MinimizerSummary solve;
  std::int64_t substeps = 0, particles = 0;
  std::int64_t nodes = 0, blocks = 0;  // of the last substep: unknowns are dimension × nodes; blocks of the matrix
  std::int64_t rounds = 0;             // of separation, beyond the first
  std::int64_t repeated = 0;           // substeps done again
  PositionCounts positions;            // of backward positions, all substeps
  double shortest = 0;                 // substep, s
  double largest_speed = 0;
  double kinetic = 0, elastic = 0, potential = 0;  // J
  Vec3 momentum = Vec3::Zero(), angular_momentum = Vec3::Zero();
  PartSeconds seconds;
};

// What a step may cost in memory, bytes: particles with their batches, and the matrix with its preconditioner.
double memory_estimate(const Description& description);

class Mpm {
 public:
  virtual ~Mpm() = default;
  virtual AnyParticles<Particles> start() = 0;
  // Failed or Interrupted in the report: the particles are unspecified.
  virtual Report advance(AnyParticles<Particles>& particles, double time, double h, const optimize::MinimizerOptions& options) = 0;
  virtual double elastic_energy(const AnyParticles<Particles>& particles) = 0;
  // Parts without points, or whose points have no volume.
  virtual std::vector<std::string> complaints() const = 0;
};

// The world outlives what is made.
std::unique_ptr<Mpm> make_mpm(const Description& description, const World& world);

}  // namespace lope::matter::mpm
