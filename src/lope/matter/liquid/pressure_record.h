// The history of a pressure solve and the decision when it is over: an implementation detail of the pressure
// solvers.
#pragma once

#include <lope/base/timer.h>
#include <lope/optimize/complementarity/problem.h>

#include <cmath>
#include <span>

namespace lope::matter {

class PressureRecord {
 public:
  PressureRecord(const optimize::complementarity::LcpOptions& options,
                 optimize::complementarity::LcpSummary& summary)
      : options_(options),
        summary_(summary),
        limit_(options.max_iterations > 0 ? options.max_iterations : default_cycles) {}

  // True if the solve ends with this iterate.
  bool add(double residual, double objective, std::span<const double> q) {
    using optimize::Outcome;
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
    } else if (residual > divergence * (1 + summary_.initial_residual)) {
      summary_.outcome = Outcome::Failed;
      summary_.reason = "the residual grows without end";
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
  static constexpr int default_cycles = 100;
  static constexpr double divergence = 1e6;
  const optimize::complementarity::LcpOptions& options_;
  optimize::complementarity::LcpSummary& summary_;
  int limit_;
  Stopwatch watch_;
};

}  // namespace lope::matter
