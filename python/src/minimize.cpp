// Every minimiser of the library on any objective.
#include <lope/optimize/methods.h>

#include "objectives.h"
#include <fmt/core.h>

namespace lope::python {
namespace {

optimize::Method method_named(const std::string& name) {
  if (const auto method = optimize::find_method(name)) return *method;
  throw InputFailure(fmt::format("there is no method '{}'; lope.methods() lists them", name));
}

optimize::StoppingTest test_named(const std::string& name) {
  using optimize::StoppingTest;
  if (name == "gradient") return StoppingTest::GradientNorm;
  if (name == "displacement") return StoppingTest::Displacement;
  if (name == "characteristic") return StoppingTest::CharacteristicNodewise;
  throw InputFailure(
      fmt::format("test is '{}'; it may be \"gradient\", \"displacement\" or \"characteristic\"", name));
}

py::dict to_dict(const optimize::MinimizerSummary& summary) {
  py::dict result;
  result["outcome"] = word(summary.outcome);
  result["converged"] = summary.converged();
  result["reason"] = summary.reason;
  result["iterations"] = summary.iterations;
  result["linear_iterations"] = summary.linear_iterations;
  result["measure"] = summary.measure;
  result["tolerance"] = summary.tolerance;
  py::list history;
  for (const optimize::Iteration& iteration : summary.history) history.append(python::to_dict(iteration));
  result["history"] = history;
  return result;
}

// x, value and gradient there, and what became of it. An exception of a function of Python ends it.
py::dict minimize(ObjectiveHandle& handle, const py::object& start, const std::string& method,
                  const std::string& test, double tolerance, int max_iterations, const py::object& callback,
                  const py::object& reference) {
  const std::shared_ptr<void> lease = handle.lease();
  optimize::Objective& objective = handle.objective();
  std::vector<double> x = numbers_of(start, objective.size(), "x0");
  std::vector<double> model_at;
  if (!reference.is_none()) model_at = numbers_of(reference, objective.size(), "reference");
  if (!(tolerance >= 0)) throw InputFailure("the tolerance must not be negative");
  optimize::MinimizerOptions options;
  options.stopping = {test_named(test), tolerance};
  options.max_iterations = max_iterations;
  options.reference = model_at;
  bool stop = false;
  options.observer = [&](const optimize::Iteration& iteration, std::span<const double> at) {
    const py::gil_scoped_acquire acquire;
    check_signals();
    if (callback.is_none()) return;
    py::dict record = python::to_dict(iteration);
    record["x"] = copied(at);
    const py::object answer = callback(record);
    stop = !answer.is_none() && answer.cast<bool>();
  };
  options.stop_requested = [&] { return stop || handle.failed(); };
  const auto minimizer = optimize::make_minimizer(method_named(method), objective.size());
  double value = 0;
  std::vector<double> gradient(objective.size());
  const optimize::MinimizerSummary summary = unlocked([&] {
    optimize::MinimizerSummary found = minimizer->minimize(objective, x, options);
    objective.move_to(x);
    value = objective.value();
    objective.gradient(gradient);
    return found;
  });
  handle.rethrow();
  py::dict result = to_dict(summary);
  result["x"] = copied(x);
  result["value"] = value;
  result["gradient"] = copied(gradient);
  return result;
}

}  // namespace

void bind_minimize(py::module_& module) { module.def("_minimize", &minimize); }

}  // namespace lope::python
