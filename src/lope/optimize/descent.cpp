#include <lope/optimize/descent.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {

namespace {
// Iterations after which a minimisation counts as stuck even if every line search succeeds.
constexpr int patience = 100;
}  // namespace

DescentRun::DescentRun(Objective& objective, std::span<double> x, const MinimizerOptions& options,
                       DescentWork& work)
    : objective_(objective),
      x_(x),
      options_(options),
      tolerance_(resolved_tolerance(options.stopping, objective)),
      recorder_(options, tolerance_),
      work_(work) {
  for (auto* vector : {&work.gradient, &work.direction, &work.trial}) vector->resize(objective.size());
}

MinimizerSummary DescentRun::minimize() {
  objective_.project(x_);
  objective_.move_to(x_);
  evaluate();
  first_gradient_norm_ = gradient_norm_;
  if (!std::isfinite(value_))
    return recorder_.finish(Outcome::Failed, "the energy of the starting point is not finite");
  while (true) {
    if (recorder_.iterations() == patience) settle();
    if (objective_.begin_iteration()) evaluate();
    if (!std::isfinite(gradient_norm_))
      return recorder_.finish(Outcome::Failed, "the gradient of the energy is not finite");
    if (gradient_test_holds()) {
      record();
      return recorder_.finish(Outcome::Converged, "");
    }
    const Verdict verdict = find_direction();
    record();
    if (verdict == Verdict::Converged) return recorder_.finish(Outcome::Converged, "");
    if (verdict == Verdict::Failed) return recorder_.finish(Outcome::Failed, failure_);
    if (auto end = recorder_.must_end()) return recorder_.finish(std::move(*end));
    if (!move() && !settle())
      return recorder_.finish(Outcome::LineSearchStalled, "no step along the direction lowers the energy");
  }
}

// The current point may be a trial of a line search that found nothing.
bool DescentRun::settle() {
  objective_.move_to(x_);
  if (!objective_.settle()) return false;
  recorder_.count_settling();
  evaluate();
  return true;
}

double DescentRun::forcing() const { return std::min(0.5, std::sqrt(gradient_norm_ / first_gradient_norm_)); }

void DescentRun::evaluate() {
  const ScopedTimer timer(recorder_.timings().evaluate);
  value_ = objective_.value();
  evaluate_gradient();
}

void DescentRun::evaluate_gradient() {
  objective_.gradient(work_.gradient);
  gradient_norm_ = linalg::norm(work_.gradient);
}

bool DescentRun::gradient_test_holds() {
  if (gradient_norm_ == 0) {
    measure_ = 0;
    return true;
  }
  if (tests_displacement()) return false;
  measure_ = gradient_measure(options_.stopping.test, objective_, work_.gradient);
  return measure_ <= tolerance_;
}

bool DescentRun::move() {
  const ScopedTimer timer(recorder_.timings().evaluate);
  const LineSearchResult found =
      search({x_, work_.direction, value_, linalg::dot(work_.gradient, work_.direction)});
  if (!found.success) return false;
  recorder_.count_step(found.step, found.evaluations);
  linalg::copy(work_.trial, x_);
  value_ = found.value;
  evaluate_gradient();
  return true;
}

}  // namespace lope::optimize
