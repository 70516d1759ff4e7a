// Options in, Summary out: how every minimiser is called and how it answers.
#pragma once

#include <lope/optimize/objective.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lope::optimize {

// When a step counts as solved (NUMERICS §6).
enum class StoppingTest {
  Displacement,  // estimated remaining displacement, max norm over nodes ≤ accuracy (a length), and small beside
                 // what happens in the step (Objective::budget): default
  CharacteristicGlobal,    // ‖∇E‖₂ ≤ ε⟨ξ⟩‖ℓ‖₂ (DOT eq. 15)
  CharacteristicNodewise,  // ‖(g_i/(ξ_i ℓ_i))_i‖₂ ≤ ε√n (HOT appendix)
  GradientNorm,            // ‖∇E‖₂ ≤ ε newtons (OPT)
  // Root mean square over the nodes of the direction that a method finds ≤ ε metres; that step is taken and is the last one. For
  // comparisons with programs that stop so (Codim-IPC): it says nothing of the error unless the direction is Newton's. Methods that
  // search along no direction hold the largest remaining displacement against ε instead.
  RmsStep,
};

struct StoppingOptions {
  StoppingTest test = StoppingTest::Displacement;
  // Metres for Displacement (0: 10⁻⁴ of the body's size) and RmsStep, ε for the characteristic norms, newtons for
  // GradientNorm.
  double tolerance = 0;
};

// What an observer receives after each iteration (and once for the starting point, with step_length 0).
struct Iteration {
  int number = 0;
  double value = 0;           // E, joules
  double gradient_norm = 0;   // ‖∇E‖₂, newtons
  double measure = 0;         // left-hand side of the stopping test
  double tolerance = 0;       // its right-hand side
  double step_length = 0;     // α of the line search
  int line_search_steps = 0;  // evaluations of E
  int linear_iterations = 0;  // CG iterations (0 for direct solves)
  double seconds = 0;         // since the minimisation began
};
// `x` is the iterate reached. May be empty.
using Observer = std::function<void(const Iteration&, std::span<const double> x)>;

struct MinimizerOptions {
  StoppingOptions stopping;
  int max_iterations = 500;
  int max_linear_iterations = 10000;
  // Where a model that is built once per minimisation is taken (DOT: the beginning of the step). Empty: at the start.
  std::span<const double> reference;
  Observer observer;
  std::function<bool()> stop_requested;  // asked once per iteration; may be empty
};

// Seconds spent in the parts of a minimisation.
struct MinimizerTimings {
  double evaluate = 0;   // move_to, value, gradient
  double hessian = 0;    // assembly
  double factorize = 0;  // numeric factorisations and preconditioner updates
  double solve = 0;      // back-substitutions, CG
  double total = 0;
};

enum class Outcome {
  Failed,             // the default state; `reason` says why
  Converged,          // the stopping test holds
  IterationLimit,     // max_iterations reached before the test held
  LineSearchStalled,  // no acceptable step along the direction although the test does not hold
  Interrupted,        // stop_requested said so before the test held
  Unsolvable,         // what was asked for does not exist; `reason` says why, the result is what comes nearest
};

struct MinimizerSummary {
  Outcome outcome = Outcome::Failed;
  std::string reason = "the minimiser was not run";
  int iterations = 0;
  int linear_solves = 0;
  long linear_iterations = 0;
  int models = 0;  // of the Hessian that were made anew: factors, preconditioners
  int settled_at = -1;  // iteration at which the objective was told to keep its choices (Objective::settle); −1: never
  double initial_measure = 0;
  // Both sides of the stopping test at the last iterate. With Displacement the result is nearer to the minimiser:
  // an estimate that passed has been applied.
  double measure = 0;
  double tolerance = 0;
  double value = 0;
  double gradient_norm = 0;
  std::vector<Iteration> history;
  MinimizerTimings timings;
  bool converged() const { return outcome == Outcome::Converged; }
  // Whether it ended somewhere, be it not where it should.
  bool has_result() const { return outcome != Outcome::Failed && outcome != Outcome::Interrupted; }
  // Goes on with what another minimisation did from where this one ended: it decides the outcome.
  void append(const MinimizerSummary& next);
};

// All that a minimiser may remember from one minimisation to the next that has an effect on its results: of
// which Hessian it keeps a model (a factor, a preconditioner), and what it has counted. With the objective's
// weights and fixed blocks as they were, the model can be built again from this, bit for bit.
struct KeptModel {
  std::vector<double> point;    // where it was built; empty: there is no model
  std::vector<double> choices;  // Objective::choices() there
  int iterations = 0;           // of the first minimisation with it, where the minimiser judges it by that
  std::vector<double> account;  // what the minimiser chooses its method by (automatic.h)
};
using KeptModelPtr = std::shared_ptr<const KeptModel>;  // null: nothing is kept
// The account alone.
KeptModelPtr without_model(const KeptModelPtr& kept);

// Keeps symbolic work (patterns, orderings, work vectors) between calls; one object per island. May also keep
// one model of the Hessian with its numbers, if the objective says that this is possible
// (Objective::keeps_its_hessian). What it keeps is a value that never changes and belongs to whoever owns the
// state: kept() is saved with it, recall() brings it back. So it commits and rolls back with the state, and
// minimisations that were broken off or belong to a state that was left behind have no effect.
class Minimizer {
 public:
  virtual ~Minimizer() = default;
  // Starts from x and leaves the best point found in x, whatever the outcome.
  virtual MinimizerSummary minimize(Objective& objective, std::span<double> x,
                                    const MinimizerOptions& options) = 0;
  // With what the next minimisation will begin.
  virtual KeptModelPtr kept() const { return nullptr; }
  // Makes the next minimisation begin with this; costs nothing if it is what kept() says. Give without_model()
  // when weights or fixed blocks are not those of the minimisation that left it. The objective is set up for the
  // next minimisation; its current point is unspecified afterwards.
  virtual void recall(Objective& /*objective*/, const KeptModelPtr& /*kept*/) {}
};

}  // namespace lope::optimize
