#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/min_map_newton.h>
#include <lope/optimize/complementarity/recorder.h>

#include <utility>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
constexpr int default_limit = 500;
constexpr int rescue_sweeps = 10;
constexpr int max_halvings = 20;
constexpr double sufficient_decrease = 1e-3;
constexpr double forcing = 1e-2;

// θ = ½‖H‖².
double merit(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w) {
  return 0.5 * problem.space().sum(p.size(), grain, [&](std::size_t begin, std::size_t end) {
           double sum = 0;
           for (std::size_t i = begin; i < end; ++i) {
             const double h = row_residual(problem.bounded[i] != 0, p[i], w[i]);
             sum += h * h;
           }
           return sum;
         });
}

void evaluate(const MixedLcp& problem, linalg::ConstVector p, linalg::Vector w) {
  linalg::multiply(problem.a, p, w);
  linalg::combine(1, problem.b, 1, w);
}

}  // namespace

MinMapNewton::MinMapNewton(std::unique_ptr<linalg::MaskedInverse> inverse)
    : MaskedLcpSolver(std::move(inverse)) {}

LcpSummary MinMapNewton::solve(linalg::Vector p, const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem().a;
  const std::size_t n = p.size();
  LcpRecorder recorder(problem(), p, options);
  double residual = recorder.record();
  if (residual <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    sweeps_.set_matrix(a);
    if (!inverse().set_matrix(a))
      return recorder.failed("the matrix is not positive definite: no preconditioner");
  }
  std::vector<std::uint8_t> active(n);
  std::vector<double> right(n), direction(n), free_part(n), start(n), w(n);
  const linalg::LinearOperator reduced = [&](linalg::ConstVector x, linalg::Vector y) {
    linalg::multiply(a, x, y);
    parallel_for(n, grain, [&](std::size_t i) {
      if (active[i] != 0) y[i] = 0;
    });
  };
  const int limit = options.max_iterations > 0 ? options.max_iterations : default_limit;
  while (recorder.iterations() < limit && recorder.inner_iterations() < options.max_inner_iterations) {
    const linalg::ConstVector now = recorder.w();
    for (std::size_t i = 0; i < n; ++i) {
      active[i] = problem().bounded[i] != 0 && p[i] < now[i];
      direction[i] = active[i] != 0 ? -p[i] : 0;
    }
    {
      const ScopedTimer timer(recorder.setup());
      if (!inverse().set_fixed(active))
        return recorder.failed("the matrix is not positive definite: no preconditioner");
    }
    // A_FF d_F = −w_F − A_FA d_A.
    linalg::multiply(a, direction, right);
    parallel_for(n, grain, [&](std::size_t i) { right[i] = active[i] != 0 ? 0 : -now[i] - right[i]; });
    linalg::CgOptions cg_options;
    cg_options.max_norm_tolerance = std::max(0.5 * options.tolerance, forcing * residual);
    cg_options.max_iterations = static_cast<int>(options.max_inner_iterations - recorder.inner_iterations());
    recorder.count_inner(cg().solve(problem().space(), reduced, inverse(), right, free_part, cg_options).iterations);
    linalg::combine(1, free_part, 1, direction);

    // Of the true solution of the derivative's system the slope of θ is −2θ.
    linalg::copy(p, start);
    const double before = merit(problem(), p, now);
    bool accepted = false;
    double length = 1;
    for (int k = 0; k <= max_halvings && !accepted; ++k, length *= 0.5) {
      parallel_for(n, grain, [&](std::size_t i) {
        const double next = start[i] + length * direction[i];
        p[i] = problem().bounded[i] != 0 ? std::max(next, 0.0) : next;
      });
      evaluate(problem(), p, w);
      recorder.count_inner(1);
      accepted = merit(problem(), p, w) <= (1 - 2 * sufficient_decrease * length) * before;
    }
    if (!accepted) {
      linalg::copy(start, p);
      linalg::combine(-1, problem().b, 0, right);
      for (int k = 0; k < rescue_sweeps; ++k) {
        sweeps_.projected_sweep(right, problem().bounded, p, linalg::Direction::Forward);
      }
      recorder.count_inner(rescue_sweeps);
    }
    recorder.count_iteration();
    residual = recorder.record();
    if (residual <= options.tolerance) return recorder.converged();
    if (!std::isfinite(residual)) return recorder.failed("the residual is not a number");
  }
  return recorder.out_of_iterations(recorder.iterations());
}

}  // namespace lope::optimize::complementarity
