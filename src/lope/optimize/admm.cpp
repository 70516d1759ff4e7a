#include <lope/base/parallel.h>
#include <lope/optimize/admm.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::optimize {
namespace {

constexpr std::size_t grain = 4096;

// a_k ← f(k) for all k, in parallel.
template <class Function>
void for_all(std::span<double> a, const Function& f) {
  parallel_for(a.size(), grain, [&](std::size_t k) { a[k] = f(k); });
}

}  // namespace

class AdmmPd::Run {
 public:
  Run(AdmmPd& owner, Objective& objective, SplitObjective& split, std::span<double> x,
      const MinimizerOptions& options)
      : my_(owner),
        objective_(objective),
        split_(split),
        x_(x),
        options_(options),
        tolerance_(resolved_tolerance(options.stopping, objective)),
        recorder_(options) {
    for (auto* work : {&my_.gradient_, &my_.right_, &my_.step_}) work->resize(objective.size());
    my_.best_.assign(x.begin(), x.end());
    for (auto* work : {&my_.reduced_, &my_.target_, &my_.local_, &my_.multiplier_})
      work->assign(split.reduced_size(), 0.0);
    const auto blocks = objective.size() / static_cast<std::size_t>(objective.block_size());
    my_.component_right_.resize(blocks);
    my_.component_step_.resize(blocks);
  }

  MinimizerSummary minimize() {
    if (!factorize()) return recorder_.finish(Outcome::Failed, "the global matrix is not positive definite");
    evaluate();
    if (!std::isfinite(value_))
      return recorder_.finish(Outcome::Failed, "the energy of the starting point is not finite");
    measure_ = std::numeric_limits<double>::infinity();
    reduce();
    while (true) {
      objective_.begin_iteration();
      const bool done = test();
      recorder_.record(value_, gradient_norm_, measure_, tolerance_, x_);
      if (done) return recorder_.finish(Outcome::Converged, "");
      if (auto end = recorder_.must_end()) {
        linalg::copy(my_.best_, x_);
        return recorder_.finish(std::move(*end));
      }
      iterate();
      evaluate();
    }
  }

 private:
  bool factorize() {
    const ScopedTimer timer(recorder_.timings().factorize);
    return my_.factorize(objective_);
  }

  void evaluate() {
    const ScopedTimer timer(recorder_.timings().evaluate);
    objective_.move_to(x_);
    value_ = objective_.value();
    objective_.gradient(my_.gradient_);
    gradient_norm_ = objective_.space().norm(my_.gradient_);
    if (std::isfinite(value_) && gradient_norm_ < best_gradient_norm_) {
      best_gradient_norm_ = gradient_norm_;
      linalg::copy(x_, my_.best_);
    }
  }

  void reduce() {
    const ScopedTimer timer(recorder_.timings().evaluate);
    split_.reduce(x_, my_.reduced_);
  }

  bool test() {
    if (gradient_norm_ == 0) {
      measure_ = 0;
      return true;
    }
    if (tests_gradient(options_.stopping.test)) {
      measure_ = gradient_measure(options_.stopping.test, objective_, my_.gradient_);
      return measure_ <= tolerance_;
    }
    if (recorder_.iterations() == 0 || !is_small(my_.step_) || recorder_.iterations() < next_estimate_ ||
        !std::isfinite(value_)) {
      return false;
    }
    return estimate();
  }

  // An estimate costs many back-substitutions: after one that says no, twice as many iterations pass before
  // the next.
  bool estimate() {
    const ScopedTimer timer(recorder_.timings().solve);
    next_estimate_ = 2 * recorder_.iterations();
    my_.jacobi_.update(objective_.hessian(HessianKind::Projected));
    const DisplacementEstimate e =
        estimate_displacement(objective_.space(), objective_.hessian(HessianKind::Raw), my_.jacobi_, my_.cg_,
                              my_.gradient_, my_.right_, options_.max_linear_iterations);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy) return false;
    linalg::combine(-1, my_.right_, 0, my_.right_);
    if (!is_small(my_.right_)) return false;
    linalg::combine(1, my_.right_, 1, x_);
    return true;
  }

  // The displacement test for d.
  bool is_small(linalg::ConstVector d) {
    const ErrorBudget budget = objective_.budget(d, options_.stopping.tolerance);
    measure_ = budget.error;
    tolerance_ = budget.allowed;
    return budget.holds();
  }

  void iterate() {
    auto &reduced = my_.reduced_, &target = my_.target_, &local = my_.local_, &multiplier = my_.multiplier_;
    {
      const ScopedTimer timer(recorder_.timings().evaluate);
      for_all(target, [&](std::size_t k) { return reduced[k] + multiplier[k]; });
      split_.minimize_locally(target, local);
      for_all(multiplier, [&](std::size_t k) { return target[k] - local[k]; });
      // x is found as a step from where it is: the force there, divided by the constant matrix.
      for_all(target, [&](std::size_t k) { return reduced[k] - local[k] + multiplier[k]; });
      split_.quadratic_gradient(x_, my_.right_);
      split_.add_transposed(target, my_.right_);
    }
    {
      const ScopedTimer timer(recorder_.timings().solve);
      my_.solve_globally(objective_.block_size());
      recorder_.count_solve(0);
    }
    linalg::combine(-1, my_.step_, 0, my_.step_);
    linalg::combine(1, my_.step_, 1, x_);
    recorder_.count_step(1, 1);
    reduce();
  }

  AdmmPd& my_;
  Objective& objective_;
  SplitObjective& split_;
  std::span<double> x_;
  const MinimizerOptions& options_;
  double tolerance_;
  Recorder recorder_;
  double value_ = 0, gradient_norm_ = 0, measure_ = 0;
  double best_gradient_norm_ = std::numeric_limits<double>::infinity();
  int next_estimate_ = 0;
};

bool AdmmPd::factorize(Objective& objective) {
  const Objective::ScalarModel model = objective.scalar_model();
  const std::uint64_t pattern = model.matrix->pattern().id();
  if (factor_ready_ && pattern == factor_pattern_ && model.version == factor_version_) return true;
  factor_ready_ = factor_.update(*model.matrix);
  factor_pattern_ = pattern;
  factor_version_ = model.version;
  return factor_ready_;
}

// step = (L ⊗ I)⁻¹ right, one coordinate after another.
void AdmmPd::solve_globally(int block_size) {
  const auto b = static_cast<std::size_t>(block_size);
  for (std::size_t c = 0; c < b; ++c) {
    for_all(component_right_, [&](std::size_t i) { return right_[i * b + c]; });
    factor_.apply(component_right_, component_step_);
    parallel_for(component_step_.size(), grain,
                 [&](std::size_t i) { step_[i * b + c] = component_step_[i]; });
  }
}

MinimizerSummary AdmmPd::minimize(Objective& objective, std::span<double> x,
                                  const MinimizerOptions& options) {
  SplitObjective* split = objective.split();
  if (split == nullptr || objective.scalar_model().matrix == nullptr) {
    MinimizerSummary summary;
    summary.reason = "admm-pd solves inertia and elasticity only: it knows no contact";
    return summary;
  }
  return Run(*this, objective, *split, x, options).minimize();
}

}  // namespace lope::optimize
