#include <lope/optimize/lbfgs.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {
namespace {

constexpr double least_curvature = 1e-12;  // yᵀs relative to |y||s|
constexpr double least_first_step = 0.1;   // DOT eq. 14

}  // namespace

class Lbfgs::Run final : public DescentRun {
 public:
  Run(Lbfgs& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner) {
    my_.pairs_.resize(static_cast<std::size_t>(my_.lbfgs_.window));
    for (auto* work : {&my_.previous_x_, &my_.previous_gradient_, &my_.vector_}) work->resize(objective.size());
    for (Pair& pair : my_.pairs_) {
      pair.s.resize(objective.size());
      pair.y.resize(objective.size());
    }
    if (!keeps() || !my_.kept_ || my_.kept_->point.size() != objective.size()) {
      my_.kept_.reset();
      build_at_reference();
    }
  }

  // How D served, for the next minimisation.
  void judge(const MinimizerSummary& summary) {
    if (!keeps() || !my_.inverse_ready_) {
      my_.kept_.reset();
    } else if (fresh_) {
      fresh_->iterations = summary.iterations;
      my_.kept_ = std::move(fresh_);
    } else if (summary.iterations > 2 * my_.kept_->iterations + 2) {
      my_.kept_.reset();
    }
  }

 private:
  bool keeps() const { return my_.lbfgs_.keep_between && objective_.keeps_its_hessian(); }

  void build_at_reference() {
    const linalg::ConstVector at = options_.reference.empty() ? linalg::ConstVector(x_) : options_.reference;
    if (my_.inverse_.uses_hessian() || my_.lbfgs_.quadratic_first_step) {
      const ScopedTimer timer(recorder_.timings().evaluate);
      objective_.move_to(at);
      objective_.begin_iteration();
    }
    build_inverse(at);
  }

  // At the objective's current point.
  void build_inverse(linalg::ConstVector point) {
    last_renewal_ = recorder_.iterations();
    my_.inverse_ready_ = my_.build(objective_, recorder_.timings());
    if (my_.inverse_.uses_hessian()) recorder_.count_model();
    if (keeps()) fresh_ = std::make_shared<KeptModel>(model_at(point, objective_));
  }

  Verdict find_direction() override {
    remember_pair();
    if (my_.lbfgs_.renew_after > 0 && recorder_.iterations() - last_renewal_ >= my_.lbfgs_.renew_after &&
        my_.inverse_.uses_hessian()) {
      build_inverse(x_);
      first_ = last_;
      replaced_ = false;
    }
    if (!my_.inverse_ready_) {
      failure_ = my_.inverse_.failure();
      return Verdict::Failed;
    }
    quasi_newton_direction();
    newton_ = false;
    if (!tests_displacement()) return Verdict::Search;
    direction_is_small();
    return may_be_last() && estimate_is_small() ? Verdict::Converged : Verdict::Search;
  }

  LineSearchResult search(const LineSearchStart& from) override {
    BacktrackingOptions backtracking;
    backtracking.first_step = first_step(from.slope);
    if (my_.lbfgs_.as_printed) {
      backtracking.lengthens = false;
    } else {
      backtracking.first_step = std::max(backtracking.first_step, std::min(1.0, last_step_));
    }
    const LineSearchResult found = line_search().backtrack(objective_, from, backtracking, trial());
    last_step_ = found.step;
    return found;
  }

  linalg::Preconditioner& inverse_at_hand() override { return preconditioner(); }
  linalg::Preconditioner& preconditioner() {
    if (replaced_) return my_.jacobi_;
    return my_.inverse_.preconditioner();
  }

  Pair& pair(int k) { return my_.pairs_[static_cast<std::size_t>(k % my_.lbfgs_.window)]; }

  // The differences since the last iterate, if their curvature is positive.
  void remember_pair() {
    const ScopedTimer timer(recorder_.timings().solve);
    if (recorder_.iterations() > 0) {
      Pair& next = pair(last_);
      linalg::add_scaled(x_, -1, my_.previous_x_, next.s);
      linalg::add_scaled(gradient(), -1, my_.previous_gradient_, next.y);
      next.ys = space().dot(next.y, next.s);
      if (next.ys > least_curvature * space().norm(next.y) * space().norm(next.s)) {
        ++last_;
        first_ = std::max(first_, last_ - my_.lbfgs_.window);
      } else {
        first_ = std::max(first_, last_ - my_.lbfgs_.window + 1);  // its place was overwritten
      }
    }
    linalg::copy(x_, my_.previous_x_);
    linalg::copy(gradient(), my_.previous_gradient_);
  }

  // direction ← −D_k ∇E by the two loops; whether it is one of descent.
  bool two_loops() {
    linalg::Vector q = my_.vector_;
    linalg::copy(gradient(), q);
    std::vector<double> alpha(static_cast<std::size_t>(last_ - first_));
    for (int k = last_ - 1; k >= first_; --k) {
      double& a = alpha[static_cast<std::size_t>(k - first_)];
      a = space().dot(pair(k).s, q) / pair(k).ys;
      linalg::combine(-a, pair(k).y, 1, q);
    }
    preconditioner().apply(q, direction());
    for (int k = first_; k < last_; ++k) {
      const double b = space().dot(pair(k).y, direction()) / pair(k).ys;
      linalg::combine(alpha[static_cast<std::size_t>(k - first_)] - b, pair(k).s, 1, direction());
    }
    linalg::combine(-1, direction(), 0, direction());
    recorder_.count_solve(0);
    const double slope = space().dot(gradient(), direction());
    return slope < 0 && std::isfinite(slope);
  }

  void quasi_newton_direction() {
    const ScopedTimer timer(recorder_.timings().solve);
    if (two_loops()) return;
    if (last_ > first_) {
      first_ = last_;
      if (two_loops()) return;
    }
    my_.jacobi_.update(objective_.hessian(HessianKind::Projected));
    replaced_ = true;
    two_loops();
  }

  // Solves with the raw Hessian; a trustworthy result becomes the direction, and so does one that leads away from a saddle
  // point.
  bool estimate_is_small() {
    const linalg::BlockMatrix* hessian = nullptr;
    // D iterates itself: CG within CG would be a waste.
    const bool nested = !preconditioner().is_linear() && !preconditioner().is_global();
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      if (nested) my_.jacobi_.update(objective_.hessian(HessianKind::Projected));
      hessian = &objective_.hessian(HessianKind::Raw);
    }
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e =
        estimate_displacement(space(), *hessian, nested ? my_.jacobi_ : preconditioner(), my_.cg_, gradient(),
                              my_.vector_, options_.max_linear_iterations,
                              [this](linalg::ConstVector error) { return strain(error); });
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy && !e.saddle) return false;
    if (my_.lbfgs_.as_printed) return !e.saddle && passes(my_.vector_);
    newton_ = true;
    linalg::combine(-1, my_.vector_, 0, direction());
    return !e.saddle && direction_is_small();
  }

  // Whether the estimated error e passes the test; only then it becomes the direction.
  bool passes(linalg::Vector e) {
    linalg::combine(-1, e, 0, e);
    const ErrorBudget budget = objective_.budget(e, options_.stopping.tolerance);
    measure_ = budget.error;
    tolerance_ = budget.allowed;
    if (!budget.holds()) return false;
    linalg::copy(e, direction());
    return true;
  }

  double first_step(double slope) {
    if (newton_ || !my_.lbfgs_.quadratic_first_step) return 1;
    my_.model_->multiply(direction(), my_.vector_);
    const double curvature = space().dot(direction(), my_.vector_);
    return curvature > 0 ? std::max(least_first_step, -slope / curvature) : 1;
  }

  Lbfgs& my_;
  std::shared_ptr<KeptModel> fresh_;  // of the D that was built in this minimisation, if it is to be kept
  int last_renewal_ = 0;      // iteration
  int first_ = 0, last_ = 0;  // the pairs in use
  double last_step_ = 0;      // found by the last line search
  bool newton_ = false;       // the direction is a Newton direction
  bool replaced_ = false;     // block Jacobi stands for D
};

LbfgsOptions dot_as_printed() {
  LbfgsOptions options;
  options.inverse = {.kind = InverseKind::Subdomains, .subdomains = 6, .weighting = linalg::Weighting::OneSided};
  options.as_printed = true;
  options.renew_after = 0;
  return options;
}

LbfgsOptions hot_options() {
  LbfgsOptions options;
  options.inverse = {.kind = InverseKind::Multigrid, .single_precision = true};
  options.window = 8;
  options.quadratic_first_step = false;
  return options;
}

// D, and H for the first steps of line searches, at the objective's current point.
bool Lbfgs::build(Objective& objective, MinimizerTimings& timings) {
  if (!inverse_.uses_hessian() && !lbfgs_.quadratic_first_step) {
    const ScopedTimer timer(timings.factorize);
    return inverse_.renew(objective);
  }
  const linalg::BlockMatrix* hessian = nullptr;
  {
    const ScopedTimer timer(timings.hessian);
    hessian = &objective.hessian(HessianKind::Projected);
    if (lbfgs_.quadratic_first_step) model_ = *hessian;
  }
  const ScopedTimer timer(timings.factorize);
  return inverse_.renew(objective, *hessian);
}

void Lbfgs::recall(Objective& objective, const KeptModelPtr& kept) {
  if (kept == kept_) return;
  kept_.reset();
  if (!kept || kept->point.empty() || !lbfgs_.keep_between || !objective.keeps_its_hessian()) return;
  MinimizerTimings not_of_a_minimisation;
  inverse_ready_ = at_kept_point(objective, *kept, [&] { return build(objective, not_of_a_minimisation); });
  if (inverse_ready_) kept_ = kept;
}

MinimizerSummary Lbfgs::minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) {
  Run run(*this, objective, x, options);
  MinimizerSummary summary = run.minimize();
  run.judge(summary);
  return summary;
}

}  // namespace lope::optimize
