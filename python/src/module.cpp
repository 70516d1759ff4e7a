// The module lope._lope.
#include <lope/base/log.h>
#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/methods.h>
#include <lope/optimize/methods.h>

#include "common.h"

namespace lope::python {
namespace {

// The library's messages go to Python's logger "lope".
void connect_log() {
  const Shared logger = shared(py::module_::import("logging").attr("getLogger")("lope"));
  set_log_sink([logger](LogLevel level, std::string_view message) {
    const py::gil_scoped_acquire acquire;
    const char* method = level == LogLevel::Warning ? "warning" : level == LogLevel::Info ? "info" : "debug";
    logger->attr(method)("%s", py::str(message.data(), message.size()));
  });
  py::module_::import("atexit").attr("register")(
      py::cpp_function([] { unlocked([] { set_log_sink({}); }); }));
}

void set_threads(int threads) {
  static std::unique_ptr<ThreadLimit> limit;
  if (threads < 0)
    throw InputFailure("the number of threads must not be negative (0: as many as there are cores)");
  limit.reset();
  if (threads > 0) limit = unlocked([&] { return std::make_unique<ThreadLimit>(threads); });
}

template <class Entries>
py::list table(const Entries& entries) {
  py::list result;
  for (const auto& entry : entries) {
    py::dict row;
    row["name"] = std::string(entry.name);
    row["source"] = std::string(entry.source);
    row["description"] = std::string(entry.description);
    result.append(row);
  }
  return result;
}

}  // namespace
}  // namespace lope::python

PYBIND11_MODULE(_lope, module) {
  using namespace lope::python;
  module.doc() = "Simulation in long strides: the compiled part of the package `lope`.";
  module.attr("__version__") = LOPE_VERSION;
  bind_errors(module);
  bind_scenes(module);
  bind_drawings(module);
  bind_objectives(module);
  bind_minimize(module);
  bind_lcp(module);
  bind_user_terms(module);
  bind_simulations(module);
  bind_bodies(module);
  bind_runs(module);
  module.def("set_threads", &set_threads, py::arg("threads"),
             "Limits the number of threads of the library (0: as many as there are cores). Results do not "
             "depend on it.");
  module.def("thread_count", &lope::thread_count, "How many threads the library uses.");
  module.def(
      "methods", [] { return table(lope::optimize::methods()); },
      "The minimisers: name, source and one line about each, as `lope solvers` lists them.");
  module.def(
      "lcp_methods", [] { return table(lope::optimize::complementarity::lcp_methods()); },
      "The solvers of complementarity problems, as `lope lcp --list` lists them.");
  connect_log();
}
