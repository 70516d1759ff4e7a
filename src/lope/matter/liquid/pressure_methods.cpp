#include <lope/base/timer.h>
#include <lope/matter/liquid/galerkin_stencils.h>
#include <lope/matter/liquid/grid_inverse.h>
#include <lope/matter/liquid/pressure_fas.h>
#include <lope/matter/liquid/pressure_methods.h>
#include <lope/matter/liquid/pressure_solvers.h>
#include <lope/matter/liquid/sided_levels.h>
#include <lope/optimize/complementarity/algebraic_truncated.h>
#include <lope/optimize/complementarity/min_map_newton.h>
#include <lope/optimize/complementarity/mprgp.h>
#include <lope/optimize/complementarity/policy_iteration.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace lope::matter {

namespace lcp = optimize::complementarity;
using lcp::LcpMethod;

namespace {

constexpr std::array on_grids = {
    PressureMethodInfo{PressureMethod::TruncatedMultigrid, "truncated", "Gräser 2009",
                       "truncated non-smooth Newton multigrid on the grid"},
    PressureMethodInfo{PressureMethod::TruncatedSided, "truncated-sided", "",
                       "the same cycles on compressed rows, levels that keep the sides of thin walls apart"},
    PressureMethodInfo{PressureMethod::Fas, "fas", "LCP Alg. 3",
                       "full approximation scheme, wall rows compared as divided by their diagonal"},
    PressureMethodInfo{PressureMethod::FullMultigrid, "fmg", "Chentanez 2012",
                       "full multigrid cycles of a linear multigrid, as LCP describes them"},
    PressureMethodInfo{PressureMethod::PolicyMultigrid, "pi-mg", "LCP",
                       "policy iteration, CG with the grid's multigrid inside, inexact"},
    PressureMethodInfo{PressureMethod::PolicyMultigridExact, "pi-mg-exact", "LCP Alg. 1",
                       "the same with exact inner solves, as printed"},
    PressureMethodInfo{PressureMethod::PenaltyMultigrid, "pe-mg", "LCP",
                       "penalty method, CG with the grid's multigrid inside, inexact"},
    PressureMethodInfo{PressureMethod::PenaltyMultigridExact, "pe-mg-exact", "LCP Alg. 2",
                       "the same with exact inner solves, as printed"},
    PressureMethodInfo{PressureMethod::NewtonMultigrid, "newton-mg", "Andersen 2017",
                       "non-smooth Newton with line search, CG with the grid's multigrid inside"},
    PressureMethodInfo{PressureMethod::MprgpMultigrid, "mprgp-mg", "Dostál 2011",
                       "active-set CG (MPRGP) preconditioned on its face by the grid's multigrid"},
    PressureMethodInfo{PressureMethod::LinearMultigrid, "linear-mg", "",
                       "A q = −b without bounds, CG with the grid's multigrid", true},
};

std::vector<PressureMethodInfo> make_table() {
  std::vector<PressureMethodInfo> table(on_grids.begin(), on_grids.end());
  for (const lcp::LcpMethodInfo& info : lcp::lcp_methods()) {
    if (info.method == LcpMethod::Auto) continue;
    const bool sweeps = info.method == LcpMethod::Sor || info.method == LcpMethod::GaussSeidel;
    table.push_back({info.method, info.name, info.source, info.description, info.linear, sweeps});
  }
  return table;
}

constexpr lcp::PolicyOptions exact = {0};

// A solver of matrices on the matrix of a system. Its inverse, if it is the grid's, has to be told the system. What is done to
// make a matrix of a grid is not timed.
template <int Dim>
class MatrixPressureSolver final : public PressureSolver<Dim> {
 public:
  explicit MatrixPressureSolver(std::unique_ptr<lcp::MatrixLcpSolver> solver,
                                GridInverse<Dim>* inverse = nullptr)
      : solver_(std::move(solver)), inverse_(inverse) {}

  lcp::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                        const lcp::LcpOptions& options) override {
    const lcp::MixedLcp problem = system.matrix_form();
    if (inverse_) inverse_->take(system);
    solver_->attach(problem);
    std::vector<double> p = system.gather(q);
    for (double& value : p)
      if (!std::isfinite(value)) value = 0;
    lcp::LcpOptions own = options;
    if (options.observer) {
      own.observer = [&](const lcp::LcpIteration& iteration, linalg::ConstVector now) {
        options.observer(iteration, system.scatter(now));
      };
    }
    lcp::LcpSummary summary = solver_->solve(p, own);
    const std::vector<double> field = system.scatter(p);
    std::copy(field.begin(), field.end(), q.begin());
    return summary;
  }

 private:
  std::unique_ptr<lcp::MatrixLcpSolver> solver_;
  GridInverse<Dim>* inverse_;  // the solver's
};

// Truncated cycles on levels with an unknown for each side of a wall.
template <int Dim>
class SidedTruncated final : public PressureSolver<Dim> {
 public:
  lcp::LcpSummary solve(const PressureSystem<Dim>& system, std::span<double> q,
                        const lcp::LcpOptions& options) override {
    const Stopwatch watch;
    // Of the brick hierarchy: its sweeps, and what its interpolation costs in stiffness.
    auto own = std::make_unique<lcp::AlgebraicTruncated>(
        linalg::AmgOptions{.sweeps = 2, .stiffness = multigrid::stiffness});
    own->use_levels(sided_levels<Dim>(system).prolongations);
    const double made = watch.seconds();
    lcp::LcpSummary summary = MatrixPressureSolver<Dim>(std::move(own)).solve(system, q, options);
    summary.setup_seconds += made;
    return summary;
  }
};

template <int Dim, class Solver, class... More>
std::unique_ptr<PressureSolver<Dim>> with_grid_inverse(const HierarchyOptions& options, const More&... more) {
  auto inverse = std::make_unique<GridInverse<Dim>>(options);
  GridInverse<Dim>* seen = inverse.get();
  return std::make_unique<MatrixPressureSolver<Dim>>(std::make_unique<Solver>(std::move(inverse), more...),
                                                     seen);
}

}  // namespace

std::span<const PressureMethodInfo> pressure_methods() {
  static const std::vector<PressureMethodInfo> table = make_table();
  return table;
}

const PressureMethodInfo* find_pressure_method(std::string_view name) {
  const auto table = pressure_methods();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& info) { return info.name == name; });
  return found == table.end() ? nullptr : &*found;
}

const PressureMethodInfo& info_of(const AnyPressureMethod& method) {
  const auto table = pressure_methods();
  return *std::find_if(table.begin(), table.end(), [&](const auto& info) { return info.method == method; });
}

template <int Dim>
std::unique_ptr<PressureSolver<Dim>> pressure_solver(const AnyPressureMethod& method,
                                                     const HierarchyOptions& options) {
  if (const auto* matrix = std::get_if<LcpMethod>(&method))
    return std::make_unique<MatrixPressureSolver<Dim>>(lcp::make_lcp_solver(*matrix, 0));
  switch (std::get<PressureMethod>(method)) {
    case PressureMethod::TruncatedMultigrid:
      return std::make_unique<TruncatedMultigrid<Dim>>(options);
    case PressureMethod::TruncatedSided:
      return std::make_unique<SidedTruncated<Dim>>();
    case PressureMethod::Fas:
      return std::make_unique<FasMultigrid<Dim>>(FasOptions{});
    case PressureMethod::FullMultigrid:
      return std::make_unique<FullMultigrid<Dim>>();
    case PressureMethod::PolicyMultigrid:
      return with_grid_inverse<Dim, lcp::PolicyIteration>(options);
    case PressureMethod::PolicyMultigridExact:
      return with_grid_inverse<Dim, lcp::PolicyIteration>(options, exact);
    case PressureMethod::PenaltyMultigrid:
      return with_grid_inverse<Dim, lcp::PenaltyMethod>(options);
    case PressureMethod::PenaltyMultigridExact:
      return with_grid_inverse<Dim, lcp::PenaltyMethod>(options, exact);
    case PressureMethod::NewtonMultigrid:
      return with_grid_inverse<Dim, lcp::MinMapNewton>(options);
    case PressureMethod::MprgpMultigrid:
      return with_grid_inverse<Dim, lcp::Mprgp>(options);
    case PressureMethod::LinearMultigrid:
      return std::make_unique<LinearMultigrid<Dim>>(options);
  }
  return nullptr;
}

template std::unique_ptr<PressureSolver<2>> pressure_solver(const AnyPressureMethod&,
                                                            const HierarchyOptions&);
template std::unique_ptr<PressureSolver<3>> pressure_solver(const AnyPressureMethod&,
                                                            const HierarchyOptions&);

}  // namespace lope::matter
