#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/algebraic_truncated.h>
#include <lope/optimize/complementarity/recorder.h>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
constexpr int default_limit = 500;
constexpr int sweeps_per_side = 2;
// Directions more alike than this, by the determinant of their products, are not combined.
constexpr double least_independence = 1e-4;

// From cycle to cycle: the iterate with Ap + b, and the last step.
class Steps {
 public:
  Steps(const MixedLcp& problem, linalg::Vector p)
      : problem_(problem),
        p_(p),
        c_(p.size()),
        ac_(p.size()),
        s_(p.size()),
        as_(p.size()),
        trial_(p.size()),
        w_(p.size()) {}

  // Moves p towards q, what a cycle made of it; w = Ap + b before. Returns Ap + b after, which the next move may be given.
  linalg::ConstVector move(linalg::ConstVector q, linalg::ConstVector w) {
    const linalg::Space& space = problem_.space();
    linalg::copy(q, c_);
    linalg::combine(-1, p_, 1, c_);
    linalg::multiply(problem_.a, c_, ac_);
    const double cc = space.dot(c_, ac_), cr = -space.dot(c_, w), cs = space.dot(s_, ac_),
                 ss = space.dot(s_, as_), sr = -space.dot(s_, w);
    const double best = cc > 0 ? cr / cc : 1, alpha = std::min(1.0, best);
    const double before = lcp_objective(problem_, p_, w);
    const double modest = before + 0.5 * alpha * alpha * cc - alpha * cr;
    const double determinant = cc * ss - cs * cs;
    double a = alpha, b = 0;
    bool done = false;
    // The first step is not remembered: most of it may be rough error of the start (pressure_multigrid.md).
    if (moved_ && ss > 0 && determinant > least_independence * cc * ss) {
      a = (cr * ss - sr * cs) / determinant;
      b = (sr * cc - cr * cs) / determinant;
      done = try_step(q, a, b) <= modest;
    } else if (moved_ && best > 1) {
      a = best;
      done = try_step(q, a, 0) <= modest;
    }
    if (!done) {
      b = 0;
      a = alpha;
      if (try_step(q, a, 0) > modest) plain_step(a);
    }
    linalg::copy(trial_, p_);
    if (moved_) {
      linalg::combine(a, c_, b, s_);
      linalg::combine(a, ac_, b, as_);
    }
    moved_ = true;
    return w_;
  }

 private:
  // p + a c + b s, projected, 0 where the cycle ended at its bound: its objective.
  double try_step(linalg::ConstVector q, double a, double b) {
    parallel_for(trial_.size(), grain, [&](std::size_t i) {
      const double next = p_[i] + a * c_[i] + b * s_[i];
      trial_[i] = problem_.bounded[i] == 0 ? next : q[i] <= 0 ? 0 : std::max(next, 0.0);
    });
    return evaluate();
  }
  // Between p and q: within the bounds.
  void plain_step(double a) {
    parallel_for(trial_.size(), grain, [&](std::size_t i) { trial_[i] = p_[i] + a * c_[i]; });
    evaluate();
  }
  double evaluate() {
    linalg::multiply(problem_.a, trial_, w_);
    linalg::combine(1, problem_.b, 1, w_);
    return lcp_objective(problem_, trial_, w_);
  }

  const MixedLcp& problem_;
  linalg::Vector p_;
  std::vector<double> c_, ac_, s_, as_, trial_, w_;
  bool moved_ = false;
};

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
    const bool made = prolongations_.empty()
                          ? hierarchy_.set_matrix(problem().a)
                          : hierarchy_.set_matrix(problem().a, std::exchange(prolongations_, {}));
    if (!made) return recorder.failed("the matrix is not positive definite: no hierarchy");
  }
  std::vector<std::uint8_t> active(n);
  std::vector<double> right(n), r(n), d(n), ad(n), q(n);
  linalg::combine(-1, problem().b, 0, right);
  const auto smooth = [&](linalg::Direction direction) {
    for (int k = 0; k < sweeps_per_side; ++k) sweeps_.projected_sweep(right, problem().bounded, q, direction);
  };
  Steps steps(problem(), p);
  linalg::ConstVector w = recorder.w();  // Ap + b
  const int limit = options.max_iterations > 0 ? options.max_iterations : default_limit;
  while (!(measure <= options.tolerance)) {
    if (recorder.iterations() >= limit) return recorder.out_of_iterations(limit);
    if (!std::isfinite(measure))
      return recorder.failed("the matrix is not positive definite: the residual is not a number");
    linalg::copy(p, q);
    smooth(linalg::Direction::Forward);
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t now = problem().bounded[i] != 0 && q[i] <= 0;
      changed = changed || now != active[i];
      active[i] = now;
    }
    if (changed) {
      const ScopedTimer timer(recorder.setup());
      if (!hierarchy_.set_fixed(active))
        return recorder.failed("the matrix is not positive definite: no hierarchy");
    }
    linalg::residual(problem().a, q, right, r);
    hierarchy_.coarse_correction(r, d);
    // What is left of it within the bounds, as far as the objective falls.
    parallel_for(n, grain, [&](std::size_t i) {
      if (problem().bounded[i] != 0) d[i] = std::max(d[i], -q[i]);
    });
    linalg::multiply(problem().a, d, ad);
    const double slope = problem().space().dot(r, d), curvature = problem().space().dot(d, ad);
    if (slope > 0 && curvature > 0) linalg::combine(std::min(1.0, slope / curvature), d, 1, q);
    smooth(linalg::Direction::Backward);
    w = steps.move(q, w);
    recorder.count_iteration();
    measure = recorder.record(w);
  }
  return recorder.converged();
}

}  // namespace lope::optimize::complementarity
