// The step loop: the only writer of State. One call of advance() is one time step, one minimisation per
// island.
//
// Bodies that may touch form an island; every other body is an island of its own. Islands are numbered in the
// order of their first bodies.
#pragma once

#include <lope/base/expected.h>
#include <lope/matter/contact/contact.h>
#include <lope/matter/step_objective.h>
#include <lope/optimize/minimizer.h>
#include <lope/step/model.h>
#include <lope/step/time_scheme.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lope::matter {
struct FrictionContact;
class SelfContact;
}  // namespace lope::matter

namespace lope::step {

// Everything that changes. Enough, with the Model, to go on exactly where it was left.
struct State {
  double time = 0;
  std::int64_t step = 0;
  double previous_h = 0;  // of the last step (0: none yet)
  std::vector<BodyState> bodies;
  std::vector<optimize::KeptModelPtr> kept;     // per island: what its minimiser remembers
  // Per island: what touched at the end of the last step, where the friction of the next one begins. Empty
  // without implicit friction.
  std::vector<std::vector<matter::Contact>> contacts;
  std::optional<matter::liquid::State> liquid;  // where the model has one
};

struct Energies {
  double kinetic = 0, elastic = 0, gravity = 0;
  double total() const { return kinetic + elastic + gravity; }
};

// What a handle does to a body, at the end of a step: its vertices' mass times acceleration less all other forces on them,
// inner and outer, damping among them.
struct HandleReport {
  std::string name;
  Vec3 force = Vec3::Zero();   // newtons
  Vec3 torque = Vec3::Zero();  // about the middle of its vertices, newton metres
};

struct BodyReport {
  std::string name;
  std::size_t island = 0;
  Energies energy;
  Vec3 momentum = Vec3::Zero();          // kg m/s
  Vec3 angular_momentum = Vec3::Zero();  // kg m²/s about the origin
  int inverted_elements = 0;
  std::vector<HandleReport> handles;  // those that hold
};

// What touches at the end of a step.
struct ContactReport {
  int obstacle_pairs = 0;            // nodes against obstacles: active constraints and penalties
  int body_pairs = 0;                // nodes inside a body
  double deepest = 0;                // penetration by any node, metres
  double friction_loss = 0;          // what implicit friction took in the step, joules
  int rounds = 1;                    // minimisations until normal forces and following loads had settled
  std::vector<Vec3> obstacle_force;  // per obstacle of the model: on the bodies of this island, newtons
};

struct IslandReport {
  std::vector<std::size_t> bodies;
  optimize::MinimizerSummary solve;
  ContactReport contact;
  bool fell_back = false;  // to backward Euler: in this step the scheme would have gained energy in contact
};

struct StepReport {
  std::int64_t step = 0;  // 1 for the first
  double time = 0;        // at the end of the step
  double h = 0;
  double seconds = 0;     // wall clock
  bool accepted = false;  // false: some island's minimisation, or the liquid's pressure, failed outright or was
                          // interrupted, and State is as before
  bool interrupted = false;  // by Simulation::set_stop_request
  // A minimisation that fails or is interrupted ends the step: its island is the last one here.
  std::vector<IslandReport> islands;
  std::vector<BodyReport> bodies;
  std::optional<matter::liquid::Report> liquid;
  bool converged() const;
  // The island to blame for a step that is not accepted, or else the first one that did not converge. Null:
  // none.
  const IslandReport* culprit() const;
};

class Simulation {
 public:
  // The model must outlive the simulation. Vertices that start inside a constraint are moved to its surface,
  // unless a handle holds them.
  explicit Simulation(const Model& model);
  ~Simulation();

  const Model& model() const { return model_; }
  const State& state() const { return state_; }
  // Continues from a saved state; fails if its sizes do not fit the model, and changes nothing then.
  Expected<void> restore(State state);
  // Undoes the last step. False, and nothing happens, if the state is not the end of an advance().
  bool take_back();

  // One step of length h (the model's by default).
  StepReport advance();
  StepReport advance(double h);

  // Fields of a body at the current state (stress, stretch, …), displacements from the rest shape where the model placed
  // it, velocities, and the norms of the remaining force and the contact force at its vertices in the step that led
  // there (0 where the state is not the end of an advance()).
  std::vector<matter::Field> fields(
      std::size_t body, const matter::FieldFilter& wanted = [](const std::string&) { return true; });
  Energies energies(std::size_t body);
  // What keeps a body at rest away from its shape. Costs about as much as an iteration of a step.
  struct Tangle {
    std::vector<int> vertices;  // geometry/full_turns.h; empty: the body is not tangled
    // From rest, longer steps than this have less energy in the rest shape placed nearest than where the body is
    // (seconds): with InitialGuess::Rescue they start there.
    double rescue_step = 0;
  };
  Tangle tangle(std::size_t body);
  // The liquid's grid in the last substep that led to the current state; where that is not the end of an
  // advance(), at the state itself. Empty without a liquid.
  matter::liquid::GridFields liquid_fields();
  // Particles that the liquid's sources would have had where obstacles are.
  std::size_t liquid_covered() const { return liquid_covered_; }
  // Called for every iteration of every minimisation.
  void set_observer(optimize::Observer observer) { observer_ = std::move(observer); }
  // Asked in every iteration of every minimisation; true: the step is broken off and the state stays what it was.
  void set_stop_request(std::function<bool()> stop_requested) { stop_requested_ = std::move(stop_requested); }
  // Uses another method from now on (comparisons); keeps everything else.
  void use_method(optimize::Method method);
  // The same for a minimiser that is not in the table of methods (ablations): called once per island with its
  // objective.
  using MakeMinimizer = std::function<std::unique_ptr<optimize::Minimizer>(const optimize::Objective&)>;
  void use_minimizer(const MakeMinimizer& make);

  std::size_t island_count() const { return islands_.size(); }
  // The bodies of an island, whose unknowns follow one another in this order.
  const std::vector<std::size_t>& bodies_of(std::size_t island) const;

  // The step problem of one island at the current state, for comparisons: objective and starting point of a
  // step of length h. The simulation must not advance while they are in use, and what it knew of the last
  // step is lost.
  struct StepProblem {
    optimize::Objective& objective;
    std::vector<double> start;
    std::vector<double> reference;  // xₙ, for MinimizerOptions::reference
  };
  StepProblem step_problem(std::size_t island, double h) { return step_problem(island, h, false); }

 private:
  struct Body;
  struct Island;
  struct Past;
  class Renewal;
  StepProblem step_problem(std::size_t island, double h, bool falls_back);
  void make_islands();
  void make_liquid();
  void move_obstacles(double h);
  void leave_obstacles(BodyState& body, const SolidBody& solid) const;
  bool keeps_weights(const Island& island, double h) const;
  bool solve(std::size_t island, double h, optimize::MinimizerOptions& options, IslandReport& result);
  bool solve_once(std::size_t island, double h, optimize::MinimizerOptions& options, IslandReport& result);
  bool gained_energy(const Island& island, double h);
  double work_from_outside(std::size_t body, double h);
  void commit(const StepReport& step);
  void forget_last_step();
  Expected<void> check_fit(const State& state) const;
  Expected<void> check_fit(std::size_t body, const BodyState& saved) const;
  void prepare(std::size_t body, double h, bool falls_back);
  void apply_loads(std::size_t body, std::span<const double> x, double time);
  void begin_objective(std::size_t body);
  bool renew_friction(Island& island, double h) const;
  bool another_round(Island& island, StepProblem& problem, double h, const optimize::MinimizerOptions& options,
                     Renewal& renewal, optimize::MinimizerSummary& all);
  bool renew_equilibrium(Island& island, std::span<const double> x, double time);
  std::span<const double> anchor_of(std::size_t body, std::size_t handle);
  std::span<const double> start_accelerations(std::size_t body);
  std::vector<double> initial_guess(Island& island, double h);
  optimize::MinimizerSummary minimize(std::size_t island, StepProblem& problem, double h,
                                      const optimize::MinimizerOptions& options, ContactReport& report);
  std::vector<matter::Contact> contacts_at(Island& island, std::span<const double> x) const;
  std::vector<matter::Contact> contacts_of(Island& island) const;
  bool take_friction(Island& island, std::vector<matter::Contact> contacts, std::span<const double> x, double h) const;
  void set_friction(Island& island, std::span<const matter::Contact> contacts, std::span<const double> x,
                    double h) const;
  matter::FrictionContact sliding(const Island& island, const matter::Contact& contact,
                                  std::span<const double> x, double h) const;
  double friction_of(const matter::Contact& contact) const;
  std::vector<double> fitted_rest_shape(std::size_t body) const;
  void free_acceleration(std::size_t body, std::span<const double> x, std::vector<double>& a);
  std::unique_ptr<matter::SelfContact> make_self_contact(const std::vector<std::size_t>& members) const;
  void finish_contacts(Island& island, std::span<const double> x, double h, ContactReport& report);
  void note_carried(Island& island, const matter::Contact& contact, double h);
  Vec3 carried_by(const matter::Contact& contact, double h, const Vec3& x) const;
  void come_to_rest(Island& island, const matter::Contact& contact, double h);
  void slide(Island& island, const matter::Contact& contact, double h);
  BodyReport report(std::size_t body);
  void report_handles(std::size_t body, BodyReport& result);

  const Model& model_;
  State state_;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<std::unique_ptr<Island>> islands_;
  struct MovedObstacles;
  std::unique_ptr<MovedObstacles> obstacles_;
  std::unique_ptr<Past> past_;  // none: the last step cannot be undone
  std::unique_ptr<matter::liquid::Liquid> liquid_;
  std::optional<matter::liquid::State> other_liquid_;  // of the step being taken, or of the one before
  std::size_t liquid_covered_ = 0;
  optimize::Observer observer_;
  std::function<bool()> stop_requested_;
};

}  // namespace lope::step
