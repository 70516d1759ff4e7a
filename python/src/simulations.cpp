#include "simulations.h"

#include <lope/base/log.h>
#include <lope/optimize/methods.h>
#include <lope/scene/run.h>
#include <lope/scene/state_file.h>

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace lope::python {

Simulation::Simulation(ScenePtr scene, const UserTerms& terms, const std::optional<std::string>& method)
    : scene_(std::move(scene)) {
  step::Model model = unlocked([&] { return take(scene::build_model(*scene_)); });
  add(terms, failures_, model);
  kept_.resize(model.bodies.size());
  simulation_ = unlocked([&] { return std::make_unique<step::Simulation>(std::move(model)); });
  failures_->rethrow();
  simulation_->set_observer(
      [this](std::size_t island, const optimize::Iteration& iteration, std::span<const double> x) {
        failures_->guard([&] { observe(island, iteration, x); });
      });
  simulation_->set_stop_request([this] { return must_stop(); });
  if (method) use_method(*method);
}

Simulation::Busy::Busy(Simulation& simulation) : simulation_(simulation) {
  if (simulation.busy_.exchange(true))
    throw std::runtime_error("the simulation is in the middle of a step or of another call");
  simulation.thread_ = std::this_thread::get_id();
}

step::Simulation& Simulation::idle() {
  if (busy_) throw std::runtime_error("the simulation is in the middle of a step or of another call");
  return *simulation_;
}

const step::Simulation& Simulation::readable() const {
  if (busy_ && thread_ != std::this_thread::get_id())
    throw std::runtime_error("the simulation is in the middle of a step that another thread takes");
  return *simulation_;
}

std::vector<std::string> Simulation::body_names() const {
  std::vector<std::string> names;
  for (const auto& body : simulation_->model().bodies) names.push_back(body->name);
  return names;
}

std::size_t Simulation::body(const std::string& name) const {
  const std::vector<std::string> names = body_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw py::key_error(fmt::format("there is no body '{}'; there are: {}", name, fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

void Simulation::hand_over() {
  ++generation_;
  for (std::size_t body = 0; body < kept_.size(); ++body) {
    const std::shared_ptr<Kept> kept = kept_[body].lock();
    if (!kept) continue;
    kept->state = simulation_->hand_over(body);
    kept->simulation.reset();
    kept_[body].reset();
  }
}

py::array Simulation::show(std::size_t body, const ArrayView& view) {
  const auto& model = *simulation_->model().bodies[body];
  Shape shape(view.shape.begin(), view.shape.end());
  // Coordinates of nodes are kept one after another.
  const bool nodal = dynamic_cast<const matter::NodalBody*>(&model) != nullptr;
  if (nodal && shape.size() == 1) {
    const int columns = view.name.starts_with("anchor") ? 3 : model.dimension;
    shape = {shape[0] / columns, columns};
  }
  std::shared_ptr<Kept> kept;
  if (!busy_) {
    kept = kept_[body].lock();
    if (!kept) kept_[body] = kept = std::make_shared<Kept>(Kept{shared_from_this(), {}});
  }
  return std::visit(
      [&](const auto& values) -> py::array {
        if (kept) return shown(values, shape, kept);
        py::array copy = copied(values, shape);
        make_read_only(copy);
        return copy;
      },
      view.values);
}

void Simulation::observe(std::size_t island, const optimize::Iteration& iteration,
                         std::span<const double> x) {
  check_signals();
  if (on_iteration.is_none()) return;
  py::dict record = python::to_dict(iteration);
  record["island"] = island;
  record["step"] = simulation_->state().step + 1;
  record["x"] = copied(x);
  on_iteration(record);
}

bool Simulation::must_stop() {
  failures_->guard([] { check_signals(); });
  return stop_ || failures_->any();
}

step::StepReport Simulation::step(std::optional<double> h) {
  if (h && !(*h > 0 && std::isfinite(*h))) throw InputFailure("the length of a step must be positive");
  const Busy busy(*this);
  hand_over();
  step::StepReport report = unlocked([&] { return h ? simulation_->advance(*h) : simulation_->advance(); });
  stop_ = false;
  if (failures_->any() && report.accepted) simulation_->take_back();
  failures_->rethrow();
  if (!report.accepted && !report.interrupted) {
    const step::IslandReport& culprit = *report.culprit();
    throw StepFailure(fmt::format("step {}: {}: {}", report.step,
                                  scene::bodies_text(culprit, simulation_->model()), culprit.solve.reason));
  }
  return report;
}

bool Simulation::take_back() {
  const Busy busy(*this);
  hand_over();
  return simulation_->take_back();
}

void Simulation::restore(const step::State& state) {
  const Busy busy(*this);
  hand_over();
  take(simulation_->restore(state));
}

void Simulation::load(const std::filesystem::path& path) {
  restore(unlocked([&] { return take(scene::read_state(path, idle())); }));
}

void Simulation::use_method(const std::string& name) {
  const auto method = optimize::find_method(name);
  if (!method) throw InputFailure(fmt::format("there is no method '{}'; lope.methods() lists them", name));
  idle().use_method(*method);
}

step::Simulation::StepProblem Simulation::step_problem(std::size_t island, std::optional<double> h) {
  if (island >= idle().island_count()) {
    throw py::index_error(fmt::format("there is no island {}; bodies of nodes make {} of them", island,
                                      simulation_->island_count()));
  }
  const Busy busy(*this);
  ++generation_;
  auto problem =
      unlocked([&] { return simulation_->step_problem(island, h.value_or(simulation_->model().step)); });
  failures_->rethrow();
  return problem;
}

namespace {

// The step of an island, until the simulation goes on.
class StepObjective final : public ObjectiveHandle {
 public:
  StepObjective(std::shared_ptr<Simulation> simulation, optimize::Objective& objective)
      : simulation_(std::move(simulation)), objective_(objective), generation_(simulation_->generation()) {}
  std::shared_ptr<void> lease() override {
    if (simulation_->generation() != generation_)
      throw std::runtime_error("the simulation has gone on since this step problem was made");
    return std::make_shared<Simulation::Busy>(*simulation_);
  }
  optimize::Objective& objective() override { return objective_; }
  bool failed() const override { return simulation_->failed(); }
  void rethrow() override { simulation_->rethrow(); }

 private:
  std::shared_ptr<Simulation> simulation_;
  optimize::Objective& objective_;
  std::uint64_t generation_;
};

py::tuple step_problem(const std::shared_ptr<Simulation>& simulation, std::size_t island,
                       std::optional<double> h) {
  const step::Simulation::StepProblem problem = simulation->step_problem(island, h);
  return py::make_tuple(
      std::shared_ptr<ObjectiveHandle>(std::make_shared<StepObjective>(simulation, problem.objective)),
      copied(problem.start), copied(problem.reference));
}

py::dict to_dict(const step::IslandReport& island, const std::vector<std::string>& names) {
  const optimize::MinimizerSummary& solve = island.solve;
  py::dict result;
  py::list bodies;
  for (const std::size_t body : island.bodies) bodies.append(names[body]);
  result["bodies"] = bodies;
  result["converged"] = solve.converged();
  result["outcome"] = word(solve.outcome);
  result["reason"] = solve.reason;
  result["iterations"] = solve.iterations;
  result["linear_iterations"] = solve.linear_iterations;
  result["measures"] = island.measures;
  result["measure"] = solve.measure;
  result["tolerance"] = solve.tolerance;
  result["obstacle_contacts"] = island.contact.obstacle_pairs;
  result["body_contacts"] = island.contact.body_pairs;
  py::list history;
  for (const optimize::Iteration& iteration : solve.history) history.append(python::to_dict(iteration));
  result["history"] = history;
  return result;
}

// A report of a step, with the names of the bodies.
py::dict to_dict(const step::StepReport& report, const Simulation& simulation) {
  const std::vector<std::string> names = simulation.body_names();
  py::dict result;
  result["step"] = report.step;
  result["time"] = report.time;
  result["h"] = report.h;
  result["parts"] = report.parts;
  result["seconds"] = report.seconds;
  result["accepted"] = report.accepted;
  result["interrupted"] = report.interrupted;
  result["converged"] = report.converged();
  py::list islands;
  for (const step::IslandReport& island : report.islands) islands.append(to_dict(island, names));
  result["islands"] = islands;
  py::dict bodies;
  for (const matter::BodyReport& body : report.bodies) bodies[py::str(body.name)] = python::to_dict(body);
  result["bodies"] = bodies;
  return result;
}

py::dict step(Simulation& simulation, std::optional<double> h) {
  const step::StepReport report = simulation.step(h);
  if (!report.converged() && !report.interrupted) {
    const step::IslandReport& culprit = *report.culprit();
    const std::string reason = culprit.solve.reason;
    unlocked([&] { log_warning("step {} did not reach its accuracy: {}", report.step, reason); });
  }
  return to_dict(report, simulation);
}

py::list bodies_of(const std::shared_ptr<Simulation>& simulation) {
  py::list result;
  for (std::size_t index = 0; index < simulation->body_names().size(); ++index)
    result.append(py::cast(Body{simulation, index}));
  return result;
}

py::list islands_of(Simulation& simulation) {
  const std::vector<std::string> names = simulation.body_names();
  py::list result;
  for (std::size_t island = 0; island < simulation.idle().island_count(); ++island) {
    py::list bodies;
    for (const std::size_t body : simulation.idle().bodies_of(island)) bodies.append(names[body]);
    result.append(bodies);
  }
  return result;
}

}  // namespace

void bind_simulations(py::module_& module) {
  py::class_<step::State>(module, "State",
                          "All that changes in a simulation, as it was once (Simulation.state).")
      .def_readonly("time", &step::State::time, "Seconds.")
      .def_readonly("step", &step::State::step, "Steps taken.");
  py::class_<Simulation, std::shared_ptr<Simulation>>(
      module, "Simulation",
      R"(A scene in memory, taken step by step. Nothing is written to disk.

`forces`: {body: f} or {body: [f, ...]}; f(time, x) returns newtons, an array like x, of shape (nodes, dimension): it is asked where
the body is at the beginning of a step. `motions`: {(body, handle): f}; f(time, start) returns where the vertices of the handle are, given
where they were when it took hold, both of shape (vertices, 3), in place of what the scene says. `energies`: {body: Energy}. All
three are for bodies of nodes (solids and cloth) and must be functions of their arguments alone: a step may be taken in parts, or
again. `method`: another minimiser than the scene's.

An exception in a function or callback breaks the step off, the state stays what it was, and the exception goes on to the caller.)")
      .def(py::init([](const std::shared_ptr<scene::Scene>& scene, const py::object& forces,
                       const py::object& motions, const py::object& energies,
                       const std::optional<std::string>& method) {
             return std::make_shared<Simulation>(scene, UserTerms{forces, motions, energies}, method);
           }),
           py::arg("scene"), py::kw_only(), py::arg("forces") = py::none(), py::arg("motions") = py::none(),
           py::arg("energies") = py::none(), py::arg("method") = py::none())
      .def_property_readonly(
          "scene", [](const Simulation& s) { return std::const_pointer_cast<scene::Scene>(s.scene()); })
      .def_property_readonly(
          "time", [](const Simulation& s) { return s.readable().state().time; }, "Seconds.")
      .def_property_readonly(
          "steps", [](const Simulation& s) { return s.readable().state().step; }, "Steps taken.")
      .def_property_readonly(
          "step_length", [](const Simulation& s) { return s.readable().model().step; }, "h, seconds.")
      .def_property_readonly("bodies", &bodies_of, "In the order of the library: solids, then other kinds.")
      .def_property_readonly("islands", &islands_of,
                             "The names of the bodies of nodes that are minimised together.")
      .def(
          "__getitem__",
          [](const std::shared_ptr<Simulation>& s, const std::string& name) {
            return Body{s, s->body(name)};
          },
          py::arg("name"), "The body of this name.")
      .def(
          "step", &step, py::arg("h") = py::none(),
          R"(Takes one time step, of length h or the scene's, and returns what is to be said of it as a dict: "step", "time", "h", "parts",
"seconds", "accepted", "interrupted", "converged", "islands" (a list: how each minimisation went) and "bodies" (by name: energies,
momenta, further quantities). A step that misses its accuracy is accepted, said in "converged" and logged as a warning; one that
cannot be taken is a StepError.)")
      .def_readwrite("on_iteration", &Simulation::on_iteration,
                     "Called with a dict for every iteration: \"number\", \"value\", \"measure\", "
                     "\"tolerance\", \"x\", \"island\", ...; or None.")
      .def("request_stop", &Simulation::request_stop,
           "Breaks off the step that is being taken, or else the next one; from a callback or from any "
           "thread.")
      .def("take_back", &Simulation::take_back,
           "Undoes the last step; False, and nothing happens, where it is not known any more.")
      .def(
          "state", [](const Simulation& s) { return s.readable().state(); }, "A copy of all that changes.")
      .def("restore", &Simulation::restore, py::arg("state"), "Goes on from a state of this scene.")
      .def(
          "save",
          [](Simulation& s, const std::filesystem::path& path) {
            const step::State& state = s.idle().state();
            const Simulation::Busy busy(s);
            unlocked([&] { take(scene::write_state(state, path)); });
          },
          py::arg("path"), "Writes the state as a checkpoint (HDF5), bit for bit.")
      .def("load", &Simulation::load, py::arg("path"),
           "Goes on from a checkpoint, also one of a run of the program.")
      .def("use_method", &Simulation::use_method, py::arg("name"), "Another minimiser from now on.")
      .def("step_problem", &step_problem, py::arg("island") = 0, py::arg("h") = py::none(),
           "The next step of an island as something to minimise: (objective, start, reference). Usable until "
           "the simulation goes on; "
           "the last step can not be taken back any more.");
}

}  // namespace lope::python
