#include <lope/optimize/projective_dynamics.h>
#include <lope/optimize/projective_step.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lope::optimize {
namespace {

using Global = ProjectiveDynamicsOptions::Global;

InverseOptions inverse_options(const ProjectiveDynamicsOptions& options) {
  InverseOptions inverse;
  inverse.kind = options.global == Global::Direct ? InverseKind::Laplacian : InverseKind::LaplacianSweeps;
  inverse.single_precision = options.global == Global::Direct;
  inverse.sweeps = {.sweeps = options.sweeps, .radius = options.radius};
  return inverse;
}

}  // namespace

class ProjectiveDynamics::Run final : public DescentRun {
 public:
  Run(ProjectiveDynamics& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner), step_(owner.options_.accelerates, x) {
    for (auto* work : {&my_.residual_, &my_.error_}) work->resize(objective.size());
    const ScopedTimer timer(recorder_.timings().factorize);
    ready_ = my_.renew(objective, failure_);
    if (ready_ && my_.has_levels()) plan_ = my_.cycle_->plan(my_.options_.residual);
    if (ready_ && !my_.has_levels()) plan_.resize(1);
    if (tests_displacement()) measure_ = std::numeric_limits<double>::infinity();  // not known yet
  }

 private:
  Verdict find_direction() override {
    if (!ready_) return Verdict::Failed;
    if (next_ == plan_.size()) next_ = 0;
    correct();
    if (!tests_displacement() || !ends_iteration()) return Verdict::Search;
    const bool small = direction_is_small();
    if (measure_ * estimated_.allowed < estimated_.error * tolerance_) {
      measure_ = estimated_.error;
      tolerance_ = estimated_.allowed;
    }
    if (!small || recorder_.iterations() < next_estimate_) return Verdict::Search;
    if (estimate_is_small()) return Verdict::Converged;
    correct();
    return Verdict::Search;
  }

  bool ends_iteration() const { return next_ + 1 == plan_.size(); }

  // −∇E is what the local step leaves; the global one makes the direction of it. A coarse level on which there is nothing to
  // correct is passed over.
  void correct() {
    const ScopedTimer timer(recorder_.timings().solve);
    linalg::combine(-1, gradient(), 0, my_.residual_);
    while (true) {
      if (my_.has_levels()) {
        my_.cycle_->correct(plan_[next_], my_.residual_, direction());
      } else {
        my_.inverse_.preconditioner().apply(my_.residual_, direction());
      }
      objective_.project_to_tangents(direction());
      recorder_.count_solve(my_.has_levels() ? 1 : 0);
      if (ends_iteration() || space().dot(gradient(), direction()) < 0) return;
      ++next_;
    }
  }

  LineSearchResult search(const LineSearchStart& from) override {
    const bool last = ends_iteration();
    ++next_;
    return step_.take(objective_, from, last, trial());
  }

  linalg::Preconditioner& inverse_at_hand() override {
    if (my_.has_levels()) return my_.cycle_->grid();
    return my_.inverse_.preconditioner();
  }

  // Of all that remains; if so it is the direction.
  bool estimate_is_small() {
    next_estimate_ = 2 * recorder_.iterations();
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      hessian = &objective_.hessian(HessianKind::Raw);
    }
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e = estimate_displacement(
        space(), *hessian, inverse_at_hand(), my_.cg_, gradient(), my_.error_, options_.max_linear_iterations,
        [this](linalg::ConstVector error) { return strain(error); });
    recorder_.count_solve(e.iterations);
    // Where the Hessian has negative curvature nobody knows how far it is.
    estimated_ = {std::numeric_limits<double>::infinity(), tolerance_};
    if (e.trustworthy && !e.saddle) {
      linalg::combine(-1, my_.error_, 0, direction());
      objective_.project_to_tangents(direction());
      if (direction_is_small()) return true;
      estimated_ = {measure_, tolerance_};
    }
    measure_ = estimated_.error;
    return false;
  }

  ProjectiveDynamics& my_;
  ProjectiveStep step_;
  bool ready_ = false;
  std::vector<FullMultigrid::Correction> plan_;  // of an iteration; without levels its one entry says nothing
  std::size_t next_ = 0;
  int next_estimate_ = 0;
  ErrorBudget estimated_ = {0, 1};  // by the last estimate, which said no
};

ProjectiveDynamics::ProjectiveDynamics(const ProjectiveDynamicsOptions& options)
    : options_(options), inverse_(inverse_options(options)) {}

bool ProjectiveDynamics::renew(Objective& objective, std::string& failure) {
  if (has_levels()) return renew_levels(objective, failure);
  if (inverse_.renew(objective)) return true;
  failure = inverse_.failure();
  return false;
}

bool ProjectiveDynamics::renew_levels(Objective& objective, std::string& failure) {
  const Objective::ScalarModel model = objective.scalar_model();
  linalg::HierarchyPtr hierarchy = objective.hierarchy();
  if (model.matrix == nullptr || !hierarchy) {
    failure = model.matrix == nullptr ? no_scalar_model : no_hierarchy;
    return false;
  }
  const std::uint64_t pattern = model.matrix->pattern().id();
  if (cycle_ && block_size_ == objective.block_size() && hierarchy_ == hierarchy->id() &&
      pattern_ == pattern && version_ == model.version) {
    return true;
  }
  if (!cycle_ || block_size_ != objective.block_size()) {
    block_size_ = objective.block_size();
    cycle_.emplace(linalg::BlockMultigridOptions{
        .sweeps = options_.sweeps, .components = block_size_, .single_precision = true});
    cycle_->grid().set_smoother({.radius = options_.radius});
  }
  hierarchy_ = hierarchy->id();
  pattern_ = pattern;
  version_ = 0;
  failure = "the constant matrix is not positive definite";
  if (!cycle_->renew(*model.matrix, std::move(hierarchy), {})) return false;
  version_ = model.version;
  return true;
}

MinimizerSummary ProjectiveDynamics::minimize(Objective& objective, std::span<double> x,
                                              const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

}  // namespace lope::optimize
