#include <lope/base/errors.h>
#include <lope/matter/liquid/grid_lcp.h>
#include <lope/matter/liquid/pressure_solvers.h>
#include <lope/optimize/complementarity/methods.h>

#include <algorithm>
#include <cmath>

namespace lope::matter {

using geometry::GridIndex;
using optimize::complementarity::LcpIteration;
using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;
using optimize::complementarity::MixedLcp;

namespace {

// Cells along an axis; geometry/bricks.h has room for more.
constexpr std::int64_t widest = 1 << 22;

// Moved to begin at 0.
template <int Dim>
Expected<std::vector<GridIndex<Dim>>> from_zero(std::span<const GridIndex<Dim>> cells) {
  std::vector<GridIndex<Dim>> result(cells.begin(), cells.end());
  for (std::size_t a = 0; a < Dim && !cells.empty(); ++a) {
    const auto less = [a](const GridIndex<Dim>& i, const GridIndex<Dim>& j) { return i[a] < j[a]; };
    const auto [low, high] = std::minmax_element(cells.begin(), cells.end(), less);
    const int first = (*low)[a];
    if (std::int64_t{(*high)[a]} - first >= widest)
      return input_error("the cells lie more than {} cells apart along an axis", widest);
    for (GridIndex<Dim>& cell : result) cell[a] -= first;
  }
  return result;
}

double largest_coupling(const linalg::CsrMatrix& a) {
  double largest = 0, diagonal = 0;
  for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
    for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1]; ++k) {
      double& most = a.column[static_cast<std::size_t>(k)] == static_cast<int>(row) ? diagonal : largest;
      most = std::max(most, std::abs(a.value[static_cast<std::size_t>(k)]));
    }
  }
  return largest > 0 ? largest : diagonal;
}

// Goes on where the multigrid's matrix is too far from the one that was given.
void polish(const MixedLcp& problem, linalg::Vector p, const LcpOptions& options, LcpSummary& summary) {
  using optimize::complementarity::LcpMethod;
  const auto solver = make_lcp_solver(LcpMethod::Auto, problem.size());
  solver->attach(problem);
  LcpOptions rest = options;
  rest.policy = {};
  LcpSummary next = solver->solve(p, rest);
  next.initial_residual = summary.initial_residual;
  next.iterations += summary.iterations;
  next.setup_seconds += summary.setup_seconds;
  next.solve_seconds += summary.solve_seconds;
  next.history.insert(next.history.begin(), summary.history.begin(), summary.history.end());
  summary = std::move(next);
}

}  // namespace

template <int Dim>
Expected<LcpSummary> solve_on_grid(const MixedLcp& problem, std::span<const GridIndex<Dim>> cells,
                                   linalg::Vector p, const LcpOptions& options) {
  const auto places = from_zero<Dim>(cells);
  if (!places) return forward_error(places);
  const double scale = largest_coupling(problem.a);
  const auto system = PressureSystem<Dim>::from_matrix(problem, *places, scale);
  if (!system) return forward_error(system);
  const auto place = [&](std::size_t row) {
    return static_cast<std::size_t>(system->bricks().place((*places)[row]));
  };
  const auto take = [&](linalg::ConstVector field, linalg::Vector rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = field[place(i)];
  };
  std::vector<double> q(system->bricks().size());
  for (std::size_t i = 0; i < p.size(); ++i) q[place(i)] = p[i];
  const double initial_residual = lcp_residual(problem, p);

  LcpOptions own = options;
  // Rows are compared with p: both must be as small as was asked.
  own.tolerance = options.tolerance * std::min(1.0, 1 / scale);
  if (options.observer) {
    own.observer = [&](const LcpIteration& iteration, linalg::ConstVector field) {
      take(field, p);
      options.observer(iteration, p);
    };
  }
  LcpSummary summary = TruncatedMultigrid<Dim>().solve(*system, q, own);
  take(q, p);
  make_feasible(problem, p);
  std::vector<double> w(p.size());
  summary.initial_residual = initial_residual;
  summary.residual = lcp_residual(problem, p, w);
  summary.objective = lcp_objective(problem, p, w);
  if (summary.residual <= options.tolerance) {
    summary.outcome = optimize::Outcome::Converged;
    summary.reason = "the residual is below the tolerance";
  } else if (summary.converged()) {
    polish(problem, p, options, summary);
  }
  return summary;
}

template Expected<LcpSummary> solve_on_grid<2>(const MixedLcp&, std::span<const GridIndex<2>>, linalg::Vector,
                                               const LcpOptions&);
template Expected<LcpSummary> solve_on_grid<3>(const MixedLcp&, std::span<const GridIndex<3>>, linalg::Vector,
                                               const LcpOptions&);

}  // namespace lope::matter
