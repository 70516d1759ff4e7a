#include <lope/base/parallel.h>
#include <lope/base/timer.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/pressure_record.h>
#include <lope/matter/liquid/pressure_solvers.h>

#include <algorithm>
#include <cmath>

namespace lope::matter {

using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;

namespace {

// The nested start: grids down to this many unknowns, so many cycles on each or fewer if the residual is this
// part of the right-hand side (more would be lost in the discretisation).
constexpr int smallest_nested_grid = 2000;
constexpr int nested_cycles = 3;
constexpr double nested_tolerance = 1e-3;

constexpr std::size_t cell_grain = 1 << 15;

// q into a padded field, 0 where there is no unknown; wall cells not below 0 if `bounded`.
template <int Dim>
void take_start(const PressureSystem<Dim>& system, bool bounded, std::span<const double> q, std::size_t size,
                std::vector<double>& field) {
  field.resize(size);
  const auto kind = system.kind();
  parallel_for(size, cell_grain, [&](std::size_t i) {
    const bool unknown = i < q.size() && system.is_unknown(i) && std::isfinite(q[i]);
    field[i] = !unknown ? 0 : bounded && kind[i] == CellKind::Wall ? std::max(q[i], 0.0) : q[i];
  });
}

void give_result(std::span<const double> field, std::span<double> q) {
  parallel_for(q.size(), cell_grain, [&](std::size_t i) { q[i] = field[i]; });
}

double largest(std::span<const double> values) {
  const double found = parallel_max(values.size(), cell_grain, [&](std::size_t begin, std::size_t end) {
    double result = 0;
    for (std::size_t i = begin; i < end; ++i) result = std::max(result, std::abs(values[i]));
    return result;
  });
  return std::max(found, 0.0);
}

}  // namespace

template <int Dim>
TruncatedMultigrid<Dim>::TruncatedMultigrid(const HierarchyOptions& options) : options_(options) {}

template <int Dim>
LcpSummary TruncatedMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                          const LcpOptions& options) {
  LcpSummary summary;
  const bool cold = std::all_of(q.begin(), q.end(), [](double value) { return value == 0; });
  iterate(system, 0, cold, q, options, summary);
  return summary;
}

template <int Dim>
void TruncatedMultigrid<Dim>::iterate(const PressureSystem<Dim>& system, std::size_t depth, bool nested,
                                      std::span<double> q, const LcpOptions& options, LcpSummary& summary) {
  PressureRecord record(options, summary);
  if (grids_.size() == depth) grids_.push_back(std::make_unique<Grid>(options_));
  Grid& grid = *grids_[depth];
  PressureHierarchy<Dim>& hierarchy = grid.hierarchy;
  double setup = 0;
  if (nested && system.unknowns() > smallest_nested_grid) {
    {
      const ScopedTimer timer(setup);
      grid.coarse = system.coarser();
    }
    grid.coarse_q.assign(grid.coarse.bricks().size(), 0);
    LcpOptions coarse_options;
    coarse_options.tolerance = nested_tolerance * largest(system.rhs());
    coarse_options.max_iterations = nested_cycles;
    LcpSummary coarse_summary;
    iterate(grid.coarse, depth + 1, true, grid.coarse_q, coarse_options, coarse_summary);
    setup += coarse_summary.setup_seconds;
    system.refine(grid.coarse, grid.coarse_q, q);
  }
  {
    const ScopedTimer timer(setup);
    hierarchy.attach(system, true);
  }
  take_start(system, true, q, hierarchy.field_size(), grid.p);
  auto defect = hierarchy.defect(grid.p);
  bool built = false;
  while (!record.add(defect.violation, defect.objective, std::span(grid.p).first(q.size()))) {
    // A warm start brings the active set of another system: it settles before the matrices are made for it.
    if (!built && !nested) hierarchy.smooth_before(0);
    hierarchy.smooth_before(0);
    {
      const ScopedTimer timer(setup);
      hierarchy.update_active();
      if (!built) hierarchy.build_matrices();
      built = true;
    }
    hierarchy.restrict_residual(0);
    linalg::v_cycle(hierarchy, 1);
    hierarchy.prolong_correction(0);
    hierarchy.smooth_after(0);
    hierarchy.move(grid.p);
    defect = hierarchy.defect(grid.p);
  }
  give_result(grid.p, q);
  record.finish(setup);
}

template <int Dim>
LinearMultigrid<Dim>::LinearMultigrid(const HierarchyOptions& options) : hierarchy_(options) {}

template <int Dim>
LcpSummary LinearMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                       const LcpOptions& options) {
  LcpSummary summary;
  PressureRecord record(options, summary);
  double setup = 0;
  {
    const ScopedTimer timer(setup);
    hierarchy_.attach(system, false);
    hierarchy_.build_matrices();
  }
  take_start(system, false, q, hierarchy_.field_size(), p_);
  auto defect = hierarchy_.defect(p_);
  while (!record.add(defect.violation, defect.objective, std::span(p_).first(q.size()))) {
    linalg::v_cycle(hierarchy_);
    hierarchy_.move(p_);
    defect = hierarchy_.defect(p_);
  }
  give_result(p_, q);
  record.finish(setup);
  return summary;
}

template class TruncatedMultigrid<2>;
template class TruncatedMultigrid<3>;
template class LinearMultigrid<2>;
template class LinearMultigrid<3>;

}  // namespace lope::matter
