// What the sources of the Python module share: errors, arrays without copies, functions of Python that the library calls.
//
// The GIL is held in every function of the module and given up around every call of the library that may take long; whatever the
// library calls back takes it again. Objects of Python that the library keeps are released with it.
#pragma once

#include <lope/base/expected.h>
#include <lope/optimize/minimizer.h>

#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

namespace lope::python {

namespace py = pybind11;

// errors.cpp: lope.InputError, ResourceError, StepError, all of them lope.Error.
struct InputFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ResourceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct StepFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void raise(const Error& error);

// The value, or its error as an exception.
template <class T>
T take(Expected<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Calls without the GIL.
template <class Call>
auto unlocked(const Call& call) {
  const py::gil_scoped_release release;
  return call();
}

// An object of Python that the library may copy and drop without the GIL.
using Shared = std::shared_ptr<const py::object>;
Shared shared(py::object object);

// Whether Python was told to stop (Ctrl-C), as an exception; with the GIL.
void check_signals();

// What went wrong in functions of Python that the library called where it cannot end what it does: the first exception, for later.
class Failures {
 public:
  // Runs it with the GIL; an exception is kept.
  template <class Call>
  void guard(const Call& call) {
    const py::gil_scoped_acquire acquire;
    try {
      call();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  bool any() const { return first_ != nullptr; }
  // Throws what was kept, and forgets it; with the GIL.
  void rethrow() {
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::exception_ptr first_;
};

// Arrays.
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Shape = std::vector<py::ssize_t>;

inline std::span<const double> span_of(const Numbers& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}
// The values of an array with so many numbers; otherwise an error that calls it `name`.
std::vector<double> numbers_of(const py::handle& object, std::size_t count, const char* name);

// A copy.
template <class T>
py::array copied(std::span<const T> values, Shape shape) {
  py::array_t<T> result(std::move(shape));
  std::copy(values.begin(), values.end(), result.mutable_data());
  return result;
}
inline py::array copied(std::span<const double> values) {
  return copied(values, {static_cast<py::ssize_t>(values.size())});
}
void make_read_only(py::array& array);

// An array that shows values which live as long as `keep` does. Read-only.
template <class T>
py::array shown(std::span<const T> values, Shape shape, std::shared_ptr<const void> keep) {
  if (values.empty()) return copied(values, std::move(shape));
  auto* owner = new std::shared_ptr<const void>(std::move(keep));
  const py::capsule base(owner, [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); });
  py::array_t<T> result(std::move(shape), values.data(), base);
  make_read_only(result);
  return result;
}
// An array that owns what was a vector.
template <class T>
py::array moved(std::vector<T> values, Shape shape) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const std::span<const T> all(*owner);
  return shown(all, std::move(shape), owner);
}
// `components` numbers in each row; one dimension for 1.
template <class T>
py::array rows_of(std::vector<T> values, int components) {
  const auto rows = static_cast<py::ssize_t>(values.size()) / components;
  return moved(std::move(values), components == 1 ? Shape{rows} : Shape{rows, components});
}

// An iteration for callbacks and histories.
py::dict to_dict(const optimize::Iteration& iteration);
const char* word(optimize::Outcome outcome);

// One per source.
void bind_errors(py::module_& module);
void bind_scenes(py::module_& module);
void bind_drawings(py::module_& module);
void bind_objectives(py::module_& module);
void bind_minimize(py::module_& module);
void bind_lcp(py::module_& module);
void bind_user_terms(py::module_& module);
void bind_simulations(py::module_& module);
void bind_bodies(py::module_& module);
void bind_runs(py::module_& module);

}  // namespace lope::python
