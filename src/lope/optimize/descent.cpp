#include <lope/optimize/descent.h>
#include <lope/optimize/hessian_operator.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {

namespace {
// Iterations after which a minimisation counts as stuck even if every line search succeeds.
constexpr int patience = 100;

// Of the preconditioned gradient, at most this is left where an estimate that is right to 10% led. What is below the other part of what is
// allowed may be rounding.
constexpr double expected_part = 0.5, negligible_part = 0.1;

// Where more is left than this, there may be contacts that no inverse at hand knows: it is solved for to a hundredth.
constexpr double usual_part = 0.05, close_look = 0.01;

constexpr const char* no_way_down = "no step along the direction lowers the energy";

// How many times larger than estimated the rounding errors of energies may be.
constexpr double rounding_slack = 1e3;
}  // namespace

DescentRun::DescentRun(Objective& objective, std::span<double> x, const MinimizerOptions& options,
                       DescentWork& work)
    : objective_(objective),
      x_(x),
      options_(options),
      recorder_(options),
      tolerance_(resolved_tolerance(options.stopping, objective)),
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
  bool confirms = false;
  while (true) {
    if (recorder_.iterations() == begins_at_ + patience) settle();
    if (objective_.begin_iteration()) evaluate();
    if (confirms) {
      if (last_step_is_confirmed()) return recorder_.finish(Outcome::Converged, "");
      if (auto end = recorder_.must_end()) return recorder_.finish(std::move(*end));
      recorder_.count_step(1, 1);
      confirms = false;
    }
    if (!std::isfinite(gradient_norm_))
      return recorder_.finish(Outcome::Failed, "the gradient of the energy is not finite");
    if (gradient_test_holds()) {
      record();
      return recorder_.finish(Outcome::Converged, "");
    }
    const Verdict verdict = find_direction();
    if (verdict == Verdict::Search && step_test_holds()) {
      record();
      if (move()) {
        recorder_.set_result(value_, gradient_norm_);
        return recorder_.finish(Outcome::Converged, "");
      }
      if (!settle()) return recorder_.finish(Outcome::LineSearchStalled, no_way_down);
      continue;
    }
    record();
    if (verdict == Verdict::Converged) {
      confirms = take_last_step() && objective_.has_kinks();
      if (confirms) continue;
      if (!objective_.has_kinks() || promises_rounding_only()) return recorder_.finish(Outcome::Converged, "");
    }
    if (verdict == Verdict::Failed) return recorder_.finish(Outcome::Failed, failure_);
    if (auto end = recorder_.must_end()) return recorder_.finish(std::move(*end));
    if (!move() && !settle()) return recorder_.finish(Outcome::LineSearchStalled, no_way_down);
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

bool DescentRun::direction_is_small() {
  const ErrorBudget budget = objective_.budget(work_.direction, options_.stopping.tolerance);
  measure_ = budget.error;
  tolerance_ = budget.allowed;
  return budget.holds();
}

double DescentRun::strain(linalg::ConstVector e) {
  linalg::combine(-1, e, 0, work_.trial);
  const ErrorBudget budget = objective_.budget(work_.trial, options_.stopping.tolerance);
  const double strain = budget.error / budget.allowed;
  return objective_.has_kinks() ? std::max(1.0, strain) : strain;  // where it leads is looked at again
}

double DescentRun::forcing() const { return std::min(0.5, std::sqrt(gradient_norm_ / first_gradient_norm_)); }

void DescentRun::evaluate() {
  const ScopedTimer timer(recorder_.timings().evaluate);
  value_ = objective_.value();
  evaluate_gradient();
}

void DescentRun::evaluate_gradient() {
  objective_.gradient(work_.gradient);
  gradient_norm_ = space().norm(work_.gradient);
}

bool DescentRun::step_test_holds() {
  if (options_.stopping.test != StoppingTest::RmsStep) return false;
  measure_ = space().norm(work_.direction) / std::sqrt(static_cast<double>(objective_.fixed_blocks().size()));
  return measure_ <= tolerance_;
}

bool DescentRun::gradient_test_holds() {
  if (gradient_norm_ == 0) {
    measure_ = 0;
    return true;
  }
  if (!tests_gradient(options_.stopping.test)) return false;
  measure_ = gradient_measure(options_.stopping.test, objective_, work_.gradient);
  return measure_ <= tolerance_;
}

bool DescentRun::move() {
  const ScopedTimer timer(recorder_.timings().evaluate);
  const LineSearchResult found =
      search({x_, work_.direction, value_, space().dot(work_.gradient, work_.direction)});
  if (!found.success) return move_by_gradient(found.evaluations);
  recorder_.count_step(found.step, found.evaluations);
  linalg::copy(work_.trial, x_);
  value_ = found.value;
  evaluate_gradient();
  return true;
}

// Whether a step along the direction lowers the energy by no more than rounding may change it.
bool DescentRun::promises_rounding_only() {
  objective_.move_to(x_);
  return -space().dot(work_.gradient, work_.direction) <= rounding_slack * objective_.value_noise();
}

// Near a minimum energies differ by their rounding errors while gradients still tell: where the direction promises no
// more than such a difference, a full step that makes the gradient smaller is taken.
bool DescentRun::move_by_gradient(int evaluations) {
  if (!promises_rounding_only() || !(objective_.largest_step(work_.direction) > 1)) return false;
  const double slack = rounding_slack * objective_.value_noise();
  linalg::add_scaled(x_, 1, work_.direction, work_.trial);
  objective_.project(work_.trial);
  objective_.move_to(work_.trial);
  const double value = objective_.value(), norm = gradient_norm_;
  if (!(value <= value_ + slack)) return false;
  evaluate_gradient();
  if (!(gradient_norm_ < 0.5 * norm)) {
    objective_.move_to(x_);
    evaluate_gradient();
    return false;
  }
  recorder_.count_step(1, evaluations + 1);
  linalg::copy(work_.trial, x_);
  value_ = value;
  return true;
}

// What was estimated is known: it is not thrown away, unless the energy says otherwise. Whether it was taken.
bool DescentRun::take_last_step() {
  const ScopedTimer timer(recorder_.timings().evaluate);
  if (!(objective_.largest_step(work_.direction) > 1)) return false;
  const double noise = objective_.value_noise();
  linalg::add_scaled(x_, 1, work_.direction, work_.trial);
  objective_.project(work_.trial);
  objective_.move_to(work_.trial);
  const double value = objective_.value(value_ + noise);
  if (!(value <= value_ + noise)) return false;
  if (objective_.has_kinks()) norm_before_last_step_ = preconditioned_norm();
  linalg::copy(work_.trial, x_);
  value_ = value;
  evaluate_gradient();
  recorder_.set_result(value_, gradient_norm_);
  return true;
}

// An estimate knows the contacts of the point where it was made. Where it led there may be others, and the minimiser far from it:
// then the gradient there has not become small. How small it is, an inverse tells that is at hand: a weak one would underestimate smooth
// errors, so what it says here is also held against what it said before, and not believed where that fell less than it should. The larger one of both
// is added to the estimate, which did not see it.
bool DescentRun::last_step_is_confirmed() {
  const double part = preconditioned_norm() / norm_before_last_step_;
  const bool fell = part <= expected_part || part * measure_ <= negligible_part * tolerance_;
  if (!fell || !inverse_suits() || !objective_.is_balanced()) return false;
  if (part > usual_part && !solve_for_what_is_left()) return false;
  linalg::combine(-1, work_.direction, 0, work_.trial);
  const ErrorBudget left = objective_.budget(work_.trial, options_.stopping.tolerance);
  if (!left.holds()) return false;
  recorder_.add_to_measure(std::max(left.error / left.allowed * tolerance_, part * measure_));
  return true;
}

// direction ← H⁻¹g, H the raw Hessian with the contacts found here. False: it is not positive definite.
bool DescentRun::solve_for_what_is_left() {
  const ScopedTimer timer(recorder_.timings().solve);
  const HessianOperator hessian(objective_, HessianKind::Raw);
  const linalg::CgSummary solve = work_.close_look.solve(
      space(), [&](linalg::ConstVector x, linalg::Vector y) { hessian.multiply(x, y); }, inverse_at_hand(),
      work_.gradient, work_.direction,
      {.relative_tolerance = close_look, .max_iterations = options_.max_linear_iterations});
  recorder_.count_solve(solve.iterations);
  return solve.converged;
}

// √(gᵀDg); leaves D g in the direction.
double DescentRun::preconditioned_norm() {
  const ScopedTimer timer(recorder_.timings().solve);
  inverse_at_hand().apply(work_.gradient, work_.direction);
  return std::sqrt(std::abs(space().dot(work_.gradient, work_.direction)));
}

}  // namespace lope::optimize
