#include <lope/base/timer.h>
#include <lope/linalg/multigrid_cycle.h>
#include <lope/matter/liquid/pressure_solvers.h>

#include <algorithm>
#include <cmath>

namespace lope::matter {

using optimize::Outcome;
using optimize::complementarity::LcpIteration;
using optimize::complementarity::LcpOptions;
using optimize::complementarity::LcpSummary;

namespace {

constexpr int default_cycles = 100;

// Writes the history of a solve and decides when it is over.
class Record {
 public:
  Record(const LcpOptions& options, LcpSummary& summary)
      : options_(options),
        summary_(summary),
        limit_(options.max_iterations > 0 ? options.max_iterations : default_cycles) {}

  // True if the solve ends with this iterate.
  bool add(double residual, double objective, std::span<const double> q) {
    const int number = static_cast<int>(summary_.history.size());
    summary_.history.push_back({number, residual, objective, number > 0 ? 1 : 0, watch_.seconds()});
    if (number == 0) summary_.initial_residual = residual;
    summary_.iterations = number;
    summary_.residual = residual;
    summary_.objective = objective;
    if (options_.observer) options_.observer(summary_.history.back(), q);
    if (residual <= options_.tolerance) {
      summary_.outcome = Outcome::Converged;
      summary_.reason = "the residual is below the tolerance";
    } else if (!std::isfinite(residual)) {
      summary_.outcome = Outcome::Failed;
      summary_.reason = "an iterate is not finite";
    } else if (number >= limit_) {
      summary_.outcome = Outcome::IterationLimit;
      summary_.reason = "the limit of cycles was reached";
    } else {
      return false;
    }
    return true;
  }
  void finish(double setup_seconds) {
    summary_.setup_seconds = setup_seconds;
    summary_.solve_seconds = watch_.seconds() - setup_seconds;
  }

 private:
  const LcpOptions& options_;
  LcpSummary& summary_;
  int limit_;
  Stopwatch watch_;
};

// q into a padded field, 0 where there is no unknown; wall cells not below 0 if `bounded`.
template <int Dim>
void take_start(const PressureSystem<Dim>& system, bool bounded, std::span<const double> q, std::size_t size,
                std::vector<double>& field) {
  field.assign(size, 0);
  for (const std::int64_t cell : system.unknown_cells()) {
    const auto i = static_cast<std::size_t>(cell);
    const double value = std::isfinite(q[i]) ? q[i] : 0.0;
    field[i] = bounded && system.kind()[i] == CellKind::Wall ? std::max(value, 0.0) : value;
  }
}

}  // namespace

template <int Dim>
TruncatedMultigrid<Dim>::TruncatedMultigrid(const HierarchyOptions& options) : hierarchy_(options) {}

template <int Dim>
LcpSummary TruncatedMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                          const LcpOptions& options) {
  LcpSummary summary;
  Record record(options, summary);
  double setup = 0;
  {
    const ScopedTimer timer(setup);
    hierarchy_.attach(system, true);
  }
  take_start(system, true, q, hierarchy_.field_size(), p_);
  auto defect = hierarchy_.defect(p_);
  bool built = false;
  while (!record.add(defect.violation, defect.objective, std::span(p_).first(q.size()))) {
    hierarchy_.smooth_before(0);
    {
      const ScopedTimer timer(setup);
      hierarchy_.update_active();
      if (!built) hierarchy_.build_matrices();
      built = true;
    }
    hierarchy_.restrict_residual(0);
    linalg::v_cycle(hierarchy_, 1);
    hierarchy_.prolong_correction(0);
    hierarchy_.smooth_after(0);
    const double slope = -hierarchy_.apply_correction(1, p_);
    const auto next = hierarchy_.defect(p_);
    defect = next;
    (void)slope;
  }
  std::copy_n(p_.begin(), q.size(), q.begin());
  record.finish(setup);
  return summary;
}

template <int Dim>
LinearMultigrid<Dim>::LinearMultigrid(const HierarchyOptions& options) : hierarchy_(options) {}

template <int Dim>
LcpSummary LinearMultigrid<Dim>::solve(const PressureSystem<Dim>& system, std::span<double> q,
                                       const LcpOptions& options) {
  LcpSummary summary;
  Record record(options, summary);
  double setup = 0;
  {
    const ScopedTimer timer(setup);
    hierarchy_.attach(system, false);
    hierarchy_.build_matrices();
  }
  const std::size_t size = hierarchy_.field_size();
  take_start(system, false, q, size, x_);
  for (auto* field : {&r_, &z_, &direction_, &product_}) field->assign(size, 0);
  hierarchy_.multiply(x_, product_);
  double worst = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    r_[i] = -(product_[i] + system.rhs()[i]);
    worst = std::max(worst, std::abs(r_[i]));
  }
  double rz = 0;
  while (!record.add(worst, 0, std::span(x_).first(q.size()))) {
    hierarchy_.set_residual(r_);
    linalg::v_cycle(hierarchy_);
    hierarchy_.copy_correction(z_);
    const double next = linalg::dot(r_, z_);
    const double beta = rz > 0 ? next / rz : 0;
    rz = next;
    linalg::combine(1, z_, beta, direction_);
    const double curvature = hierarchy_.multiply(direction_, product_);
    const double alpha = rz / curvature;
    linalg::combine(alpha, direction_, 1, x_);
    linalg::combine(-alpha, product_, 1, r_);
    worst = linalg::max_block_norm(r_, 1);
  }
  std::copy_n(x_.begin(), q.size(), q.begin());
  record.finish(setup);
  return summary;
}

template <int Dim>
std::unique_ptr<PressureSolver<Dim>> pressure_solver(PressureMethod method, const HierarchyOptions& options) {
  if (method == PressureMethod::LinearMultigrid) return std::make_unique<LinearMultigrid<Dim>>(options);
  return std::make_unique<TruncatedMultigrid<Dim>>(options);
}

template class TruncatedMultigrid<2>;
template class TruncatedMultigrid<3>;
template class LinearMultigrid<2>;
template class LinearMultigrid<3>;
template std::unique_ptr<PressureSolver<2>> pressure_solver(PressureMethod, const HierarchyOptions&);
template std::unique_ptr<PressureSolver<3>> pressure_solver(PressureMethod, const HierarchyOptions&);

}  // namespace lope::matter
