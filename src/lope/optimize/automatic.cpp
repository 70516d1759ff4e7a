#include <lope/linalg/sparse_cholesky_symbolic.h>
#include <lope/optimize/automatic.h>

#include <limits>

namespace lope::optimize {
namespace {

// Minimisations between two comparisons.
constexpr int period = 4;

// What is known of the method that is not in use counts for this much less after every comparison.
constexpr double fading = 0.985;

// What is expected of a factor before it has been tried, as measured on generated shapes (docs/benchmarks/dot.md): iterations
// of CG per solve, factors per minimisation, iterations of newton per iteration of dot, whose directions are better.
constexpr double expected_solve = 4;
constexpr double expected_factors = 0.2;
constexpr double expected_iterations = 1.25;

// Seconds: of a method that has failed.
constexpr double out_of_reach = 1e30;

// A factor of more entries than this (2 GB) is not tried.
constexpr double most_entries = 5e8;

// Of one core (AMD EPYC, Zen 3): seconds per unit of CholeskySize::time in single precision; bytes per second.
constexpr double factor_time = 0.3e-9;
constexpr double byte_rate = 13e9;

// Per scalar of the matrix, expressed in bytes: evaluations and Hessians of an iteration, making dot's preconditioner,
// applying it with a product.
constexpr double iteration_bytes = 230;
constexpr double two_level_bytes = 250;
constexpr double two_level_solve_bytes = 13;

}  // namespace

ProjectedNewtonOptions newton_options() {
  ProjectedNewtonOptions options;
  options.inverse = {.kind = InverseKind::Cholesky, .single_precision = true};
  options.keep_between = true;
  return options;
}

ProjectedNewtonOptions dot_options() {
  ProjectedNewtonOptions options;
  options.solver = LinearSolver::Iterative;
  options.inverse = {.kind = InverseKind::IncompleteCholesky, .coarse_size = 60};
  options.keep_between = true;
  return options;
}

OperationCosts operation_costs(const linalg::BlockMatrix& matrix) {
  const double b = matrix.block_size();
  const double scalars = static_cast<double>(matrix.pattern().blocks()) * b * b;
  const linalg::CholeskySize factor = linalg::cholesky_size(matrix.pattern(), matrix.block_size());
  OperationCosts costs;
  costs.factor = factor.entries > most_entries ? std::numeric_limits<double>::infinity() : factor_time * factor.time;
  costs.factor_solve = (2 * sizeof(float) * factor.entries + sizeof(double) * scalars) / byte_rate;
  costs.iteration = iteration_bytes * scalars / byte_rate;
  costs.two_level = two_level_bytes * scalars / byte_rate;
  costs.two_level_solve = two_level_solve_bytes * scalars / byte_rate;
  return costs;
}

Automatic::Automatic(double margin)
    : margin_(margin), methods_{ProjectedNewton(dot_options()), ProjectedNewton(newton_options())} {}

std::vector<double> Automatic::Account::numbers() const {
  return {static_cast<double>(choice), static_cast<double>(changed), static_cast<double>(served),
          static_cast<double>(iterations), static_cast<double>(solves), spent, cost[Dot], cost[Newton]};
}

Automatic::Account Automatic::Account::from(std::span<const double> numbers) {
  Account account;
  if (numbers.size() != account.numbers().size() || !linalg::local_space().all_finite(numbers))
    return account;  // another method's
  account.choice = numbers[0] == static_cast<double>(Newton) ? Newton : Dot;
  account.changed = numbers[1] != 0;
  account.served = static_cast<int>(numbers[2]);
  account.iterations = static_cast<int>(numbers[3]);
  account.solves = static_cast<int>(numbers[4]);
  account.spent = numbers[5];
  account.cost = {numbers[6], numbers[7]};
  return account;
}

MinimizerSummary Automatic::minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) {
  const bool buckles = objective.buckles() && account_.cost[Newton] < out_of_reach;
  if (buckles) account_.choice = Newton;
  MinimizerSummary summary = in_use().minimize(objective, x, options);
  if (summary.outcome == Outcome::Failed && account_.choice == Newton) {
    // No factor is to be had, for want of memory, say.
    account_ = {};
    account_.cost[Newton] = out_of_reach;
    in_use().recall(objective, nullptr);
    summary = in_use().minimize(objective, x, options);
  }
  const std::uint64_t pattern = in_use().pattern_id();
  if (costs_for_ == 0 || (pattern != 0 && pattern != costs_for_)) {
    const linalg::BlockMatrix& hessian = objective.hessian(HessianKind::Projected);
    costs_ = operation_costs(hessian);
    costs_for_ = hessian.pattern().id();
  }
  ++account_.served;
  account_.iterations += summary.iterations + 1;
  account_.solves += summary.linear_solves;
  account_.spent += cost_of(summary);
  if (summary.models > 0) account_.changed = false;
  if (!buckles) compare(objective);
  const KeptModelPtr model = in_use().kept();
  KeptModel kept = model ? *model : KeptModel();
  kept.account = account_.numbers();
  kept_ = std::make_shared<const KeptModel>(std::move(kept));
  return summary;
}

// The first model after a change belongs to the change.
double Automatic::cost_of(const MinimizerSummary& summary) const {
  const double models = summary.models - (account_.changed && summary.models > 0 ? 1 : 0);
  const double solves = static_cast<double>(summary.linear_iterations) + summary.linear_solves;
  return (summary.iterations + 1) * costs_.iteration +
         (account_.choice == Newton ? models * costs_.factor + solves * costs_.factor_solve
                                    : models * costs_.two_level + solves * costs_.two_level_solve);
}

// What newton would have cost, from what dot did.
double Automatic::expected_of_newton() const {
  return account_.served * expected_factors * costs_.factor +
         expected_iterations * (account_.iterations * costs_.iteration +
                                account_.solves * (1 + expected_solve) * costs_.factor_solve);
}

void Automatic::compare(Objective& objective) {
  if (account_.served < period) return;
  const Choice choice = account_.choice, other = choice == Dot ? Newton : Dot;
  Account next = account_;
  next.cost[choice] = account_.spent / account_.served;
  if (next.cost[other] >= 0) next.cost[other] *= fading;
  const double expected = next.cost[other] >= 0 ? next.cost[other] : expected_of_newton() / account_.served;
  next.served = next.iterations = next.solves = 0;
  next.spent = 0;
  next.changed = expected < margin_ * next.cost[choice];
  if (next.changed) next.choice = other;
  account_ = next;
  if (next.changed) in_use().recall(objective, nullptr);
}

void Automatic::recall(Objective& objective, const KeptModelPtr& kept) {
  if (kept == kept_) return;
  kept_ = kept;
  account_ = Account::from(kept ? std::span<const double>(kept->account) : std::span<const double>());
  const bool has_model = kept && !kept->point.empty();
  in_use().recall(objective, has_model ? std::make_shared<const KeptModel>(*kept) : nullptr);
}

}  // namespace lope::optimize
