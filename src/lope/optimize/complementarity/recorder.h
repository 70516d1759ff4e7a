// Fills an LcpSummary while a matrix-based solver runs, and keeps the best iterate: shared bookkeeping, no
// mathematics.
#pragma once

#include <lope/base/timer.h>
#include <lope/optimize/complementarity/problem.h>

#include <string>
#include <vector>

namespace lope::optimize::complementarity {

class LcpRecorder {
 public:
  // The solver's iterate is p throughout. `linear`: bounds are not looked at (the plain solve of A p = −b).
  LcpRecorder(const MixedLcp& problem, linalg::Vector p, const LcpOptions& options, bool linear = false);

  // Evaluates and records the iterate; returns its residual.
  double record();
  // The same for a solver that has w = Ap + b of the iterate already.
  double record(linalg::ConstVector w);
  // Ap + b at the last recorded iterate.
  linalg::Vector w() { return w_; }
  void count_iteration() { ++summary_.iterations; }
  void count_inner(int iterations) {
    summary_.inner_iterations += iterations;
    pending_inner_ += iterations;
  }
  int iterations() const { return summary_.iterations; }
  long inner_iterations() const { return summary_.inner_iterations; }
  // Seconds counted as set-up and not as solving: `ScopedTimer timer(recorder.setup());`
  double& setup() { return summary_.setup_seconds; }

  // Leaves the best recorded iterate in p.
  LcpSummary converged();
  LcpSummary failed(std::string reason);
  // After `limit` iterations.
  LcpSummary out_of_iterations(int limit);

 private:
  double remember(double residual, linalg::ConstVector w);
  LcpSummary finish(Outcome outcome, std::string reason);

  const MixedLcp& problem_;
  linalg::Vector p_;
  const LcpOptions& options_;
  bool linear_;
  LcpSummary summary_;
  Stopwatch watch_;
  int pending_inner_ = 0;
  std::vector<double> w_;
  std::vector<double> best_;
};

}  // namespace lope::optimize::complementarity
