// Everything that does not change while a simulation runs. Built by scene/ (or by hand in a test), validated
// there; constant afterwards.
#pragma once

#include <lope/matter/matter.h>
#include <lope/optimize/methods.h>

#include <vector>

namespace lope::step {

using matter::ContactKind;
using matter::Obstacle;
using matter::Scheme;

// How friction is reckoned, everywhere in the model.
enum class FrictionModel {
  Implicit,  // a potential in the same minimisation (matter/contact/friction_potential.h): what should stick, sticks
  Gast15,    // OPT's rules, which change velocities after it (matter/contact/friction.h), for comparison
};

// How bodies are kept out of themselves and each other.
enum class BodyContactModel {
  Penalty,  // what is inside is pushed out (OPT §5.3; matter/contact/self_contact.h)
  Barrier,  // nothing ever crosses (matter/contact/barrier.h)
};

struct BodyContact {
  double friction = 0;
  double stiffness = 0;  // N/m²; 0: automatic
  BodyContactModel model = BodyContactModel::Penalty;
  // Of barriers, metres: the gap at which they begin (0: automatic), and the thickness of bodies that have none of their own.
  double reach = 0;
  double thickness = 0;
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

struct Model : matter::World {
  std::vector<Polymorphic<matter::Body>> bodies;
  BodyContact body_contact;
  FrictionModel friction_model = FrictionModel::Implicit;
  double step = 0.025;  // h, seconds
  // A step in which contact takes energy is divided into parts of at most this length (impact.cpp); seconds, 0: never.
  double impact_step = 0;
  SolverChoice solver;

  template <class Body>
  Body& add(Body body) {
    return as<Body>(bodies.emplace_back(std::move(body)));
  }
};

}  // namespace lope::step
