// Runs into a directory, as the program does them.
#include <lope/scene/run.h>

#include <filesystem>

#include "scenes.h"
#include "simulations.h"

namespace lope::python {
namespace {

py::dict to_dict(const scene::RunSummary& summary) {
  py::dict result;
  result["steps"] = summary.steps;
  result["last_step"] = summary.last_step;
  result["unconverged_steps"] = summary.unconverged_steps;
  result["reason"] = summary.first_reason;
  result["interrupted"] = summary.interrupted;
  result["broken_off"] = summary.broken_off;
  result["seconds"] = summary.seconds;
  result["frames"] = summary.frames;
  return result;
}

py::dict progress_of(const scene::RunProgress& progress) {
  const step::StepReport& report = progress.report;
  int iterations = 0;
  for (const step::IslandReport& island : report.islands) iterations += island.solve.iterations;
  py::dict result;
  result["step"] = report.step;
  result["steps"] = progress.steps;
  result["time"] = report.time;
  result["converged"] = report.converged();
  result["iterations"] = iterations;
  result["elapsed"] = progress.elapsed;
  result["left"] = progress.left;
  py::dict bodies;
  for (const matter::BodyReport& body : report.bodies) bodies[py::str(body.name)] = python::to_dict(body);
  result["bodies"] = bodies;
  return result;
}

// An exception of a callback ends the run after a checkpoint, as Ctrl-C does, and goes on to the caller.
py::dict run(const scene::Scene& scene, const std::filesystem::path& directory, bool resume, bool overwrite,
             const py::object& on_step, const py::object& on_iteration, const py::object& forces,
             const py::object& motions, const py::object& energies) {
  if (resume && overwrite) throw InputFailure("a run can be resumed or overwritten, not both");
  const auto failures = std::make_shared<Failures>();
  step::Model model = unlocked([&] { return take(scene::build_model(scene)); });
  add({forces, motions, energies}, failures, model);
  scene::RunOptions options;
  options.directory = directory;
  options.resume = resume;
  options.overwrite = overwrite;
  bool stop = false;
  if (!on_step.is_none()) {
    options.on_step = [&](const scene::RunProgress& progress) {
      failures->guard([&] {
        const py::object answer = on_step(progress_of(progress));
        stop = !answer.is_none() && answer.cast<bool>();
      });
    };
  }
  if (!on_iteration.is_none()) {
    options.on_iteration = [&](const scene::IterationProgress& progress) {
      failures->guard([&] {
        py::dict record = python::to_dict(progress.iteration);
        record["step"] = progress.step;
        on_iteration(record);
      });
    };
  }
  options.stop_requested = [&] {
    failures->guard([] { check_signals(); });
    return stop || failures->any();
  };
  const scene::RunSummary summary =
      unlocked([&] { return take(scene::run_scene(scene, std::move(model), options)); });
  failures->rethrow();
  return to_dict(summary);
}

}  // namespace

void bind_runs(py::module_& module) {
  module.def("run", &run, py::arg("scene"), py::arg("directory"), py::kw_only(), py::arg("resume") = false,
             py::arg("overwrite") = false, py::arg("on_step") = py::none(),
             py::arg("on_iteration") = py::none(), py::arg("forces") = py::none(),
             py::arg("motions") = py::none(), py::arg("energies") = py::none(),
             R"(Simulates a scene into a directory, as `lope run` does: frames, statistics, checkpoints.

`on_step(progress)` is called after every step with a dict ("step", "steps", "time", "converged", "iterations", "elapsed", "left", "bodies");
if it returns True the run is interrupted, and resume=True goes on later. `forces`, `motions`, `energies`: as of Simulation. Returns what is to
be said of the run as a dict: "steps", "unconverged_steps", "interrupted", "frames", ....)");
}

}  // namespace lope::python
