// The step loop: the only writer of State. One call of advance() is one time step: everything moves, or nothing.
//
// Bodies that may touch form an island, which is one minimisation (island.h); matter that solves its steps by itself is
// one of its own. Islands are numbered in the order of their first bodies, those of lone matter after the others.
#pragma once

#include <lope/base/expected.h>
#include <lope/matter/contact/barrier.h>
#include <lope/matter/contact/contact.h>
#include <lope/matter/nodal_matter.h>
#include <lope/optimize/minimizer.h>
#include <lope/step/model.h>
#include <lope/step/report.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lope::step {

class Island;
struct IslandStart;

// Everything that changes. Enough, with the Model, to go on exactly where it was left.
struct State {
  double time = 0;
  std::int64_t step = 0;
  double previous_h = 0;                               // of the last step (0: none yet)
  std::vector<Polymorphic<matter::BodyState>> bodies;  // as in the model
  // Per island of nodes: what its minimiser remembers, and what touched at the end of the last step, where the friction
  // of the next one begins (empty without implicit friction).
  std::vector<optimize::KeptModelPtr> kept;
  std::vector<std::vector<matter::Contact>> contacts;
  std::vector<matter::BarrierMemory> barriers;  // per island of nodes

  // Positions and velocities of a body of nodes.
  const matter::NodalState& nodes(std::size_t body) const { return as<matter::NodalState>(bodies[body]); }
};

class Simulation {
 public:
  explicit Simulation(Model model);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation();

  const Model& model() const { return model_; }
  const State& state() const { return state_; }
  // Continues from a saved state; fails if its sizes do not fit the model, and changes nothing then.
  Expected<void> restore(State state);
  // The state of a body to somebody who looks at its arrays for longer than until the next step; the simulation goes on with a
  // copy of it.
  Polymorphic<matter::BodyState> hand_over(std::size_t body);
  // Undoes the last step. False, and nothing happens, if the state is not the end of an advance().
  bool take_back();

  // One step of length h (the model's by default), in parts if the model asks for it and something hits something.
  StepReport advance();
  StepReport advance(double h);

  matter::Matter& matter(std::size_t body) { return *matter_[body]; }
  // Fields of a body at the current state.
  std::vector<matter::Field> fields(
      std::size_t body, const matter::FieldFilter& wanted = [](const std::string&) { return true; }) {
    return matter_[body]->fields(*state_.bodies[body], wanted);
  }
  matter::BodyReport report(std::size_t body);
  matter::Energies energies(std::size_t body) { return report(body).energy; }

  // Called for every iteration of every minimisation, with the number of its island.
  using Observer = std::function<void(std::size_t island, const optimize::Iteration&, std::span<const double> x)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Asked in every iteration of every minimisation; true: the step is broken off and the state stays what it was.
  void set_stop_request(std::function<bool()> stop_requested) { stop_requested_ = std::move(stop_requested); }
  // Uses another method from now on (comparisons); keeps everything else.
  void use_method(optimize::Method method);
  // The same for a minimiser that is not in the table of methods (ablations): called once per island of nodes with its
  // objective.
  using MakeMinimizer = std::function<std::unique_ptr<optimize::Minimizer>(const optimize::Objective&)>;
  void use_minimizer(const MakeMinimizer& make);

  // Of nodes.
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
  StepProblem step_problem(std::size_t island, double h);

 private:
  struct Past;
  void make_islands();
  matter::StepTimes times(double h) const;
  matter::StepTimes last_times() const;
  optimize::MinimizerOptions options_for(std::size_t island) const;
  bool solve_islands(const matter::StepTimes& step, StepReport& report);
  bool solve_alone(const matter::StepTimes& step, StepReport& report);
  IslandStart start_of(std::size_t island) const;
  bool keeps_weights(const Island& island, const matter::StepTimes& step) const;
  StepReport take_step(double h);
  void commit(const StepReport& step);
  // impact.cpp
  StepReport take_parts(double h, StepReport whole);
  void forget_last_step();
  Expected<void> check_fit(const State& state) const;

  const Model model_;
  State state_;
  std::vector<std::unique_ptr<matter::Matter>> matter_;  // as in the model
  std::vector<std::unique_ptr<Island>> islands_;
  std::unique_ptr<Past> past_;  // none: the last step cannot be undone
  Observer observer_;
  std::function<bool()> stop_requested_;
};

}  // namespace lope::step
