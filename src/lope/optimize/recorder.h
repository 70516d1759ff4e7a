// Fills a MinimizerSummary while a minimiser runs: shared bookkeeping, no mathematics.
#pragma once

#include <lope/base/timer.h>
#include <lope/optimize/minimizer.h>

#include <optional>
#include <string>
#include <utility>

namespace lope::optimize {

class Recorder {
 public:
  explicit Recorder(const MinimizerOptions& options) : options_(options) {}

  MinimizerTimings& timings() { return summary_.timings; }
  int iterations() const { return summary_.iterations; }

  void count_solve(int linear_iterations) {
    ++summary_.linear_solves;
    summary_.linear_iterations += linear_iterations;
    pending_.linear_iterations += linear_iterations;
  }
  void count_model() { ++summary_.models; }
  bool settled() const { return summary_.settled_at >= 0; }
  void count_settling() { summary_.settled_at = summary_.iterations; }
  // The line search that led to the next recorded iterate.
  void count_step(double length, int evaluations) {
    ++summary_.iterations;
    pending_.step_length = length;
    pending_.line_search_steps = evaluations;
  }
  // The iterate x and both sides of the stopping test there.
  void record(double value, double gradient_norm, double measure, double tolerance, std::span<const double> x) {
    pending_.number = summary_.iterations;
    pending_.value = value;
    pending_.gradient_norm = gradient_norm;
    pending_.measure = measure;
    pending_.tolerance = tolerance;
    pending_.seconds = watch_.seconds();
    if (summary_.history.empty()) summary_.initial_measure = measure;
    summary_.value = value;
    summary_.gradient_norm = gradient_norm;
    summary_.measure = measure;
    summary_.tolerance = tolerance;
    summary_.history.push_back(pending_);
    if (options_.observer) options_.observer(pending_, x);
    pending_ = {};
  }
  // Where the result is not the iterate that was recorded last.
  void set_result(double value, double gradient_norm) {
    summary_.value = value;
    summary_.gradient_norm = gradient_norm;
  }
  // Of the iterate that was recorded last, where more was found out since.
  void add_to_measure(double more) {
    summary_.measure += more;
    summary_.history.back().measure = summary_.measure;
  }
  // Why the minimisation must end here although its test does not hold; empty: it may go on.
  struct End {
    Outcome outcome;
    std::string reason;
  };
  std::optional<End> must_end() const {
    if (options_.stop_requested && options_.stop_requested())
      return End{Outcome::Interrupted, "interrupted after " + std::to_string(summary_.iterations) + " iterations"};
    if (summary_.iterations >= options_.max_iterations)
      return End{Outcome::IterationLimit, "not converged after " + std::to_string(options_.max_iterations) + " iterations"};
    return {};
  }
  MinimizerSummary finish(End end) { return finish(end.outcome, std::move(end.reason)); }
  MinimizerSummary finish(Outcome outcome, std::string reason) {
    summary_.outcome = outcome;
    summary_.reason = std::move(reason);
    summary_.timings.total = watch_.seconds();
    return std::move(summary_);
  }

 private:
  const MinimizerOptions& options_;
  MinimizerSummary summary_;
  Iteration pending_;
  Stopwatch watch_;
};

}  // namespace lope::optimize
