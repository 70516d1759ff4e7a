#include <algorithm>

#include "common.h"

namespace lope::python {

void raise(const Error& error) {
  if (error.trouble == Trouble::Environment) throw ResourceFailure(error.message);
  throw InputFailure(error.message);
}

Shared shared(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            const py::gil_scoped_acquire acquire;
            delete held;
          }};
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::vector<double> numbers_of(const py::handle& object, std::size_t count, const char* name) {
  const auto array = Numbers::ensure(object);
  if (!array) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " must be an array of numbers");
  }
  if (static_cast<std::size_t>(array.size()) != count) {
    throw InputFailure(std::string(name) + " has " + std::to_string(array.size()) + " numbers, not " +
                       std::to_string(count));
  }
  return {array.data(), array.data() + count};
}

void make_read_only(py::array& array) { array.attr("setflags")(py::arg("write") = false); }

const char* word(optimize::Outcome outcome) {
  using optimize::Outcome;
  switch (outcome) {
    case Outcome::Failed:
      return "failed";
    case Outcome::Converged:
      return "converged";
    case Outcome::IterationLimit:
      return "iteration limit";
    case Outcome::LineSearchStalled:
      return "line search stalled";
    case Outcome::Interrupted:
      return "interrupted";
    case Outcome::Unsolvable:
      return "unsolvable";
  }
  return "";
}

py::dict to_dict(const optimize::Iteration& iteration) {
  py::dict result;
  result["number"] = iteration.number;
  result["value"] = iteration.value;
  result["gradient_norm"] = iteration.gradient_norm;
  result["measure"] = iteration.measure;
  result["tolerance"] = iteration.tolerance;
  result["step_length"] = iteration.step_length;
  result["line_search_steps"] = iteration.line_search_steps;
  result["linear_iterations"] = iteration.linear_iterations;
  result["seconds"] = iteration.seconds;
  return result;
}

void bind_errors(py::module_& module) {
  const auto type = [](PyObject* one) { return py::reinterpret_borrow<py::object>(one); };
  const py::exception<std::runtime_error> base(module, "Error", PyExc_Exception);
  base.attr("__doc__") = "What the library says is wrong, in one sentence or a few.";
  const auto derive = [&](PyObject* other) { return py::make_tuple(base, type(other)); };
  py::register_exception<InputFailure>(module, "InputError", derive(PyExc_ValueError));
  py::register_exception<ResourceFailure>(module, "ResourceError", derive(PyExc_OSError));
  py::register_exception<StepFailure>(module, "StepError", derive(PyExc_RuntimeError));
  module.attr("InputError").attr("__doc__") = "A scene, a mesh, a file or an argument is wrong.";
  module.attr("ResourceError").attr("__doc__") =
      "The disk is full, memory is short, a file cannot be written.";
  module.attr("StepError").attr("__doc__") =
      "A time step could not be taken; the state is the one before it.";
}

}  // namespace lope::python
