#include <lope/optimize/complementarity/projected_sor.h>
#include <lope/optimize/complementarity/recorder.h>

namespace lope::optimize::complementarity {
namespace {

constexpr int default_limit = 20000;
constexpr int sweeps_between_records = 10;

// Estimates the best ω from the sizes of successive changes.
class Relaxation {
 public:
  explicit Relaxation(double omega) : adaptive_(omega == 0), omega_(adaptive_ ? 1.5 : omega) {}

  double omega() const { return omega_; }
  // Whether the change of sweep number `sweep` is wanted by observe().
  bool wants(int sweep) const { return adaptive_ && sweep >= phase_end_ - 1; }
  void observe(int sweep, double change) {
    if (sweep == phase_end_ - 1) {
      previous_ = change;
      return;
    }
    const double lambda = change / previous_;
    // Past the best ω all changes shrink by ω − 1 and say nothing about μ.
    if (lambda > omega_ - 1 && lambda < 1) {
      const double mu = (lambda + omega_ - 1) / (omega_ * std::sqrt(lambda));
      if (mu < 1) omega_ = std::max(omega_, std::min(2 / (1 + std::sqrt(1 - mu * mu)), 1.99));
    }
    // As many sweeps as the new ω needs to forget the old one.
    phase_end_ = sweep + std::max(10, static_cast<int>(3 / (2 - omega_)));
  }

 private:
  bool adaptive_;
  double omega_;
  int phase_end_ = 10;
  double previous_ = 1;
};

}  // namespace

LcpSummary ProjectedSor::solve(linalg::Vector p, const LcpOptions& options) {
  LcpRecorder recorder(problem(), p, options);
  {
    const ScopedTimer timer(recorder.setup());
    sweeps_.set_matrix(problem().a);
  }
  std::vector<double> right(p.size());
  linalg::combine(-1, problem().b, 0, right);
  make_feasible(problem(), p);
  double residual = recorder.record();
  Relaxation relaxation(omega_);
  std::vector<double> before;
  const int limit = options.max_iterations > 0 ? options.max_iterations : default_limit;
  while (!(residual <= options.tolerance)) {
    if (recorder.iterations() >= limit) return recorder.out_of_iterations(limit);
    if (!std::isfinite(residual))
      return recorder.failed("the sweeps diverge: the matrix is not positive definite");
    for (int k = 0; k < sweeps_between_records && recorder.iterations() < limit; ++k) {
      const bool observe = relaxation.wants(recorder.iterations());
      if (observe) before.assign(p.begin(), p.end());
      sweeps_.projected_sweep(right, problem().bounded, p, linalg::Direction::Forward, relaxation.omega());
      if (observe) {
        linalg::combine(1, p, -1, before);
        relaxation.observe(recorder.iterations(), problem().space().norm(before));
      }
      recorder.count_iteration();
    }
    residual = recorder.record();
  }
  return recorder.converged();
}

}  // namespace lope::optimize::complementarity
