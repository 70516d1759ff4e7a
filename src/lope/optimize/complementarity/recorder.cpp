#include <lope/optimize/complementarity/recorder.h>

#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace lope::optimize::complementarity {

LcpRecorder::LcpRecorder(const MixedLcp& problem, linalg::Vector p, const LcpOptions& options, bool linear)
    : problem_(problem), p_(p), options_(options), linear_(linear), w_(problem.size()) {}

double LcpRecorder::record() {
  const double residual = lcp_residual(problem_, p_, w_);
  return remember(linear_ ? problem_.space().max_block_norm(w_, 1) : residual, w_);
}

double LcpRecorder::record(linalg::ConstVector w) { return remember(lcp_residual_of(problem_, p_, w), w); }

double LcpRecorder::remember(double residual, linalg::ConstVector w) {
  const LcpIteration iteration{summary_.iterations, residual, lcp_objective(problem_, p_, w), pending_inner_,
                               watch_.seconds()};
  pending_inner_ = 0;
  if (summary_.history.empty()) summary_.initial_residual = residual;
  if (residual < summary_.residual) {
    summary_.residual = residual;
    summary_.objective = iteration.objective;
    best_.assign(p_.begin(), p_.end());
  }
  summary_.history.push_back(iteration);
  if (options_.observer) options_.observer(iteration, p_);
  return residual;
}

LcpSummary LcpRecorder::converged() {
  return finish(Outcome::Converged, "the residual is within the tolerance");
}

LcpSummary LcpRecorder::failed(std::string reason) { return finish(Outcome::Failed, std::move(reason)); }

LcpSummary LcpRecorder::out_of_iterations(int limit) {
  return finish(Outcome::IterationLimit,
                fmt::format("the residual is {:.3g} after {} iterations, the tolerance {:.3g}",
                            summary_.residual, limit, options_.tolerance));
}

LcpSummary LcpRecorder::finish(Outcome outcome, std::string reason) {
  summary_.outcome = outcome;
  summary_.reason = std::move(reason);
  if (!best_.empty()) linalg::copy(best_, p_);
  summary_.solve_seconds = watch_.seconds() - summary_.setup_seconds;
  return std::move(summary_);
}

}  // namespace lope::optimize::complementarity
