// Everything that does not change while a simulation runs. Built by scene/ (or by hand in a test), validated
// there; constant afterwards.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/mesh.h>
#include <lope/geometry/motion.h>
#include <lope/material/parameters.h>
#include <lope/matter/liquid/liquid.h>
#include <lope/optimize/methods.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lope::step {

enum class Scheme {
  BackwardEuler,
  Bdf2,
  Trapezoid,
  Static,  // no inertia: every step ends in equilibrium with the loads and scripts of its time
};

// A set of vertices that follows a script instead of the equations of motion, from `begin` until `end`
// (released).
struct Handle {
  std::vector<int> vertices;
  geometry::Motion motion;
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
  std::string name = {};
};

// Forces on a set of vertices, times a factor that may change with time; several kinds add up (step/loads.h).
struct Load {
  std::string name;
  std::vector<int> vertices;
  Vec3 force = Vec3::Zero();     // in all, newtons
  Vec3 traction = Vec3::Zero();  // per area at rest, pascals
  double pressure = 0;           // against the surface as it is, pascals
  Vec3 torque = Vec3::Zero();    // in all, about the middle of the vertices as they are, newton metres
  geometry::Curve<double> factor;  // of time since `begin`; without keys: 1
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
  // Filled by spread().
  std::vector<double> share;               // per vertex; 1 in all
  std::vector<std::array<int, 3>> faces;   // of the surface, outward (2D: edges, third vertex −1)
  double total_area = 0;                   // at rest, m² (2D: per metre of depth)
};

// An elastic body. dimension 3: the mesh's tetrahedra are the elements; 2: its triangles (z = 0), per metre
// of depth.
struct SolidBody {
  std::string name;
  int dimension = 3;
  geometry::Mesh mesh;                          // the rest shape
  std::vector<material::Parameters> materials;  // one, or one per distinct region
  std::vector<int> material_of_element;         // empty: materials[0] everywhere
  std::vector<double> density_of_material;  // kg/m³ (2D: kg/m² per metre of depth), parallel to materials
  std::vector<Vec3> initial_positions;      // empty: the rest shape
  std::vector<Vec3> initial_velocities;     // empty: at rest
  std::vector<Handle> handles;              // a vertex belongs to at most one at any time
  std::vector<Load> loads;
  double mass_damping = 0;                  // 1/s
  double stiffness_damping = 0;             // s, lagged Rayleigh (OPT §4.2)
  bool touches_others = true;               // touches every other body that says so
  bool self_contact = false;                // touches itself
};

// A rigid, scripted shape that bodies cannot enter.
enum class ContactKind {
  Constraint,  // exactly: no node is ever inside (OPT §5.1); needs an exact level set
  Penalty,     // nearly: nodes inside are pushed out (OPT §5.2); any level set
};

struct Obstacle {
  std::string name;
  geometry::LevelSetPtr shape;  // at time 0
  geometry::Motion motion;
  double begin = 0;  // s: at rest before
  ContactKind contact = ContactKind::Constraint;
  double friction = 0;   // Coulomb's μ
  double stiffness = 0;  // of a penalty, N/m²; 0: automatic (matter/contact/obstacle_penalty.h)
  bool container = false;   // what is inside the shape is free
  geometry::Bounds extent;  // of the shape at time 0, that of a container too; infinite where it has no end

  geometry::RigidPose pose(double time) const { return motion.pose(time > begin ? time - begin : 0); }
};

// How friction is reckoned, everywhere in the model.
enum class FrictionModel {
  Implicit,  // a potential in the same minimisation (matter/contact/friction_potential.h): what should stick, sticks
  Gast15,    // OPT's rules, which change velocities after it (matter/contact/friction.h), for comparison
};

// Bodies against themselves and each other (OPT §5.3).
struct BodyContact {
  double friction = 0;
  double stiffness = 0;  // N/m²; 0: automatic
};

// The liquid of a scene. Its gravity and solids are the model's: every obstacle, whatever its kind of contact, is a
// wall; bodies do not feel the liquid, nor it them.
struct Liquid {
  std::string name;
  matter::liquid::Description description;
};

// Where a step's minimisation starts.
enum class InitialGuess {
  Best,  // the one of smallest energy among four: the current positions, x + hv, x̂ and explicit Euler (OPT §3.1)
  Inertia,  // x̂, where the nodes would go without internal forces (DOT)
  Rescue,  // as Best, with each body's rest shape, placed nearest to its current positions, as a further guess: for
           // bodies that start torn to pieces
};

struct SolverChoice {
  optimize::Method method = optimize::Method::Auto;
  optimize::StoppingOptions stopping;
  InitialGuess initial_guess = InitialGuess::Best;
  int max_iterations = 500;
};

struct Model {
  std::vector<SolidBody> solids;
  std::optional<Liquid> liquid;
  std::vector<Obstacle> obstacles;
  BodyContact body_contact;
  FrictionModel friction_model = FrictionModel::Implicit;
  Vec3 gravity = Vec3(0, -9.81, 0);
  double step = 0.025;  // h, seconds
  Scheme scheme = Scheme::BackwardEuler;
  double dissipation = 0;  // of the trapezoid (time_scheme.h), 0 … 1
  SolverChoice solver;
};

}  // namespace lope::step
