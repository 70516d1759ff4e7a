#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/algebraic_truncated.h>
#include <lope/optimize/complementarity/recorder.h>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
constexpr int default_limit = 500;
constexpr int sweeps_per_side = 2;

}  // namespace

LcpSummary AlgebraicTruncated::solve(linalg::Vector p, const LcpOptions& options) {
  const std::size_t n = p.size();
  make_feasible(problem(), p);
  LcpRecorder recorder(problem(), p, options);
  double measure = recorder.record();
  if (measure <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    sweeps_.set_matrix(problem().a);
    if (!hierarchy_.set_matrix(problem().a))
      return recorder.failed("the matrix is not positive definite: no hierarchy");
  }
  std::vector<std::uint8_t> active(n);
  std::vector<double> right(n), r(n), d(n), ad(n);
  linalg::combine(-1, problem().b, 0, right);
  const auto smooth = [&](linalg::Direction direction) {
    for (int k = 0; k < sweeps_per_side; ++k) sweeps_.projected_sweep(right, problem().bounded, p, direction);
  };
  const int limit = options.max_iterations > 0 ? options.max_iterations : default_limit;
  while (!(measure <= options.tolerance)) {
    if (recorder.iterations() >= limit) return recorder.out_of_iterations(limit);
    if (!std::isfinite(measure))
      return recorder.failed("the matrix is not positive definite: the residual is not a number");
    smooth(linalg::Direction::Forward);
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t now = problem().bounded[i] != 0 && p[i] <= 0;
      changed = changed || now != active[i];
      active[i] = now;
    }
    if (changed) {
      const ScopedTimer timer(recorder.setup());
      if (!hierarchy_.set_fixed(active))
        return recorder.failed("the matrix is not positive definite: no hierarchy");
    }
    linalg::residual(problem().a, p, right, r);
    hierarchy_.coarse_correction(r, d);
    parallel_for(n, grain, [&](std::size_t i) {
      if (problem().bounded[i] != 0) d[i] = std::max(d[i], -p[i]);
    });
    linalg::multiply(problem().a, d, ad);
    const double slope = problem().space().dot(r, d);
    const double curvature = problem().space().dot(d, ad);
    if (slope > 0 && curvature > 0) linalg::combine(std::min(1.0, slope / curvature), d, 1, p);
    smooth(linalg::Direction::Backward);
    recorder.count_iteration();
    measure = recorder.record();
  }
  return recorder.converged();
}

}  // namespace lope::optimize::complementarity
