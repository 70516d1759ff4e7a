// The solvers of mixed complementarity problems on matrices of SciPy.
#include <lope/matter/liquid/grid_lcp.h>
#include <lope/optimize/complementarity/methods.h>

#include <algorithm>

#include "hessians.h"
#include <fmt/core.h>

namespace lope::python {

namespace lcp = optimize::complementarity;

namespace {

lcp::MixedLcp problem_of(const py::object& a, const py::object& b, const py::object& bounded) {
  lcp::MixedLcp problem;
  problem.a = csr_of(a, "A");
  const auto rows = static_cast<std::size_t>(problem.a.rows);
  problem.b = numbers_of(b, rows, "b");
  problem.bounded.assign(rows, 0);
  if (!bounded.is_none()) {
    const auto flags = numbers_of(bounded, rows, "bounded");
    std::ranges::transform(flags, problem.bounded.begin(), [](double flag) { return flag != 0; });
  }
  if (const std::string fault = fault_of(problem); !fault.empty()) throw InputFailure(fault);
  return problem;
}

template <int Dim>
std::vector<geometry::GridIndex<Dim>> cells_of(const py::array_t<std::int64_t>& cells) {
  constexpr std::int64_t most = 1 << 30;
  std::vector<geometry::GridIndex<Dim>> result(static_cast<std::size_t>(cells.shape(0)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (int a = 0; a < Dim; ++a) {
      const std::int64_t value = cells.at(static_cast<py::ssize_t>(i), a);
      if (value < -most || value > most)
        throw InputFailure(fmt::format("cells: {} in row {} is out of range", value, i));
      result[i][static_cast<std::size_t>(a)] = static_cast<int>(value);
    }
  }
  return result;
}

lcp::LcpSummary solve_on_grid(const lcp::MixedLcp& problem, const py::object& given, std::vector<double>& p,
                              const lcp::LcpOptions& options) {
  const auto cells = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!cells || cells.ndim() != 2 || (cells.shape(1) != 2 && cells.shape(1) != 3)) {
    PyErr_Clear();
    throw InputFailure("cells must be an array of whole numbers, a row of 2 or 3 for each row of A");
  }
  if (cells.shape(1) == 2) {
    const auto places = cells_of<2>(cells);
    return unlocked([&] { return take(matter::solve_on_grid<2>(problem, places, p, options)); });
  }
  const auto places = cells_of<3>(cells);
  return unlocked([&] { return take(matter::solve_on_grid<3>(problem, places, p, options)); });
}

py::dict to_dict(const lcp::LcpIteration& iteration) {
  py::dict result;
  result["number"] = iteration.number;
  result["residual"] = iteration.residual;
  result["objective"] = iteration.objective;
  result["inner_iterations"] = iteration.inner_iterations;
  result["seconds"] = iteration.seconds;
  return result;
}

py::dict to_dict(const lcp::LcpSummary& summary, const lcp::Compatibility& found) {
  py::dict result;
  result["outcome"] = word(summary.outcome);
  result["converged"] = summary.converged();
  result["reason"] = summary.reason;
  result["iterations"] = summary.iterations;
  result["inner_iterations"] = summary.inner_iterations;
  result["residual"] = summary.residual;
  result["objective"] = summary.objective;
  result["seconds"] = summary.seconds();
  result["largest_shift"] = found.largest_shift;
  py::list history;
  for (const lcp::LcpIteration& iteration : summary.history) history.append(to_dict(iteration));
  result["history"] = history;
  return result;
}

py::dict solve_lcp(const py::object& a, const py::object& b, const py::object& bounded,
                   const py::object& cells, const std::string& method, const py::object& start,
                   double tolerance, int max_iterations, const py::object& callback) {
  lcp::MixedLcp problem = problem_of(a, b, bounded);
  std::vector<double> p(problem.size(), 0.0);
  if (!start.is_none()) p = numbers_of(start, problem.size(), "x0");
  const lcp::Compatibility found = unlocked([&] { return make_solvable(problem); });
  lcp::LcpOptions options;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  options.observer = [&](const lcp::LcpIteration& iteration, linalg::ConstVector) {
    const py::gil_scoped_acquire acquire;
    check_signals();
    if (!callback.is_none()) callback(to_dict(iteration));
  };
  lcp::LcpSummary summary;
  if (!cells.is_none()) {
    if (method != "auto")
      throw InputFailure("with cells the method is the multigrid of the grid; leave method out");
    summary = solve_on_grid(problem, cells, p, options);
  } else {
    const auto chosen = lcp::find_lcp_method(method);
    if (!chosen)
      throw InputFailure(fmt::format("there is no method '{}'; lope.lcp_methods() lists them", method));
    const auto solver = lcp::make_lcp_solver(*chosen, problem.size());
    solver->attach(problem);
    summary = unlocked([&] { return solver->solve(p, options); });
  }
  py::dict result = to_dict(summary, found);
  result["x"] = copied(p);
  return result;
}

}  // namespace

void bind_lcp(py::module_& module) { module.def("_solve_lcp", &solve_lcp); }

}  // namespace lope::python
