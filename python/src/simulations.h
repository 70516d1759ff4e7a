// A simulation as Python holds it.
//
// State and views. Arrays of the state are shown without a copy. Before anything changes the state, what is still looked at is
// handed over to those who look (step::Simulation::hand_over): their arrays stay what they were, and the simulation goes on with a
// copy. Nobody looks: nothing is copied.
//
// Calls. While a step is taken, Python runs in the callbacks of that step only, or in other threads. Callbacks may read arrays
// (copies) and ask for a stop; everything else, and everything in other threads but the request to stop, is refused.
#pragma once

#include <lope/step/simulation.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "objectives.h"
#include "scenes.h"
#include "user_terms.h"

namespace lope::python {

class Simulation : public std::enable_shared_from_this<Simulation> {
 public:
  Simulation(ScenePtr scene, const UserTerms& terms, const std::optional<std::string>& method);

  // For as long as it lives nothing else may be done with the simulation.
  class Busy {
   public:
    explicit Busy(Simulation& simulation);
    ~Busy() { simulation_.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Simulation& simulation_;
  };

  const ScenePtr& scene() const { return scene_; }
  // Not while a step is taken.
  step::Simulation& idle();
  // For reading the state.
  const step::Simulation& readable() const;
  std::size_t body(const std::string& name) const;
  std::vector<std::string> body_names() const;

  step::StepReport step(std::optional<double> h);
  bool take_back();
  void restore(const step::State& state);
  void load(const std::filesystem::path& path);
  void request_stop() { stop_ = true; }
  void use_method(const std::string& name);
  // Whether a function of Python that the library called has failed; its exception, with the GIL.
  bool failed() const { return failures_->any(); }
  void rethrow() { failures_->rethrow(); }

  // Of an array of a body's state.
  py::array show(std::size_t body, const ArrayView& view);
  // Changes whenever the state, or what a step problem is made of, does.
  std::uint64_t generation() const { return generation_; }
  step::Simulation::StepProblem step_problem(std::size_t island, std::optional<double> h);

  py::object on_iteration = py::none();

 private:
  // What views of a body keep: the simulation whose state they show or, once that has changed, the state itself.
  struct Kept {
    std::shared_ptr<Simulation> simulation;
    Polymorphic<matter::BodyState> state;
  };
  void hand_over();
  void observe(std::size_t island, const optimize::Iteration& iteration, std::span<const double> x);
  bool must_stop();

  ScenePtr scene_;
  std::shared_ptr<Failures> failures_ = std::make_shared<Failures>();
  std::unique_ptr<step::Simulation> simulation_;
  std::vector<std::weak_ptr<Kept>> kept_;  // per body
  std::atomic<bool> busy_ = false, stop_ = false;
  std::thread::id thread_;  // whose call it is that keeps it busy
  std::uint64_t generation_ = 0;
};

// A body of a simulation.
struct Body {
  std::shared_ptr<Simulation> simulation;
  std::size_t index = 0;
};

py::dict to_dict(const matter::BodyReport& report);

}  // namespace lope::python
