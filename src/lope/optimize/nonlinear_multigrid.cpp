#include <lope/optimize/nonlinear_multigrid.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {
namespace {

// A V-cycle tells within a small factor how far the minimiser is; below this many times the accuracy the raw Hessian is asked.
constexpr double near_the_end = 10;
// And above this many times, one cycle will not do.
constexpr double may_become_near = 300;

}  // namespace

NonlinearMultigrid::NonlinearMultigrid(const NonlinearMultigridOptions& options)
    : options_(options),
      cycle_({.sweeps = options.sweeps, .single_precision = options.single_precision}) {}

class NonlinearMultigrid::Run final : public DescentRun {
 public:
  using Choice = NonlinearMultigridOptions;

  Run(NonlinearMultigrid& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner), cycle_(owner.cycle_) {
    for (auto* work : {&my_.error_, &my_.residual_}) work->resize(objective.size());
  }

 private:
  using Correction = FullMultigrid::Correction;

  Verdict find_direction() override {
    const bool begins = next_ == plan_.size();
    if (begins || my_.options_.matrix == Choice::Matrix::EveryCorrection) {
      if ((!ready_ || my_.options_.matrix != Choice::Matrix::Once) && !renew()) return Verdict::Failed;
    }
    if (begins) {
      if (plan_.empty()) plan_ = cycle_.plan(my_.options_.residual);
      steps_.resize(plan_.size(), 1.0);
      next_ = 0;
      newton_ = false;
      // Where a cycle ends with a V-cycle over all levels, that one has told already.
      const bool told = plan_.back().kind == Correction::Kind::Cycle;
      if (tests_displacement() && (may_be_near_ || !told) && is_near()) {
        const Estimate estimated = estimate();
        if (estimated == Estimate::Small) return Verdict::Converged;
        if (newton_) return Verdict::Search;
      }
    }
    // What a coarse level has to say may be below the rounding errors of the energy.
    const double noise = objective_.value_noise();
    correct(plan_[next_]);
    while (next_ + 1 < plan_.size() && !(-space().dot(gradient(), direction()) > noise)) correct(plan_[++next_]);
    if (!descends()) fall_back();
    return Verdict::Search;
  }

  void fall_back() {
    correct(whole_cycle);
    if (!descends()) linalg::combine(-1, gradient(), 0, direction());
  }

  LineSearchResult search(const LineSearchStart& from) override {
    if (newton_) {
      next_ = plan_.size();
      return line_search().backtrack(objective_, from, {}, trial());
    }
    const std::size_t slot = next_++;
    BacktrackingOptions options;
    if (my_.options_.remembers_steps) options.first_step = steps_[slot];
    LineSearchResult found = line_search().backtrack(objective_, from, options, trial());
    if (!found.success && slot + 1 < plan_.size()) {
      objective_.move_to(x_);
      fall_back();
      found = line_search().backtrack(
          objective_, {from.x, direction(), from.value, space().dot(gradient(), direction())}, {}, trial());
      next_ = plan_.size();
      return found;
    }
    if (found.success) steps_[slot] = std::min(1.0, found.step * (found.evaluations == 1 ? 2 : 1));
    return found;
  }

  bool renew() {
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      hessian = &objective_.hessian(HessianKind::Projected);
    }
    const ScopedTimer timer(recorder_.timings().factorize);
    linalg::HierarchyPtr hierarchy = objective_.hierarchy();
    if (!hierarchy) {
      failure_ = no_hierarchy;
      return false;
    }
    ready_ = cycle_.renew(*hessian, std::move(hierarchy), objective_.projectors());
    recorder_.count_model();
    if (!ready_) failure_ = "the projected Hessian is not positive definite";
    return ready_;
  }

  // Leaves a correction of −∇E in direction().
  void correct(const Correction& correction) {
    const ScopedTimer timer(recorder_.timings().solve);
    linalg::combine(-1, gradient(), 0, my_.residual_);
    const linalg::SmootherOptions& smoother = my_.options_.smoother;
    cycle_.grid().set_smoother(smoother);
    cycle_.correct(correction, my_.residual_, direction());
    recorder_.count_solve(1);
    if (!smoother.is_plain() && !descends()) {
      cycle_.grid().set_smoother({});
      cycle_.correct(correction, my_.residual_, direction());
      recorder_.count_solve(1);
    }
    if (correction.kind != Correction::Kind::Cycle || correction.level != 0 || !tests_displacement()) return;
    direction_is_small();
    may_be_near_ = measure_ <= may_become_near * tolerance_;
  }

  // A V-cycle with plain sweeps, which is linear and symmetric.
  linalg::Preconditioner& plain_cycle() {
    cycle_.grid().set_smoother({});
    return cycle_.grid();
  }
  linalg::Preconditioner& inverse_at_hand() override { return plain_cycle(); }

  bool descends() {
    const double slope = space().dot(gradient(), direction());
    return slope < 0 && std::isfinite(slope);
  }

  bool is_near() {
    correct(whole_cycle);
    return measure_ <= near_the_end * tolerance_;
  }

  enum class Estimate { Doubtful, Large, Small };
  Estimate estimate() {
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      hessian = &objective_.hessian(HessianKind::Raw);
    }
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e =
        estimate_displacement(space(), *hessian, plain_cycle(), my_.cg_, gradient(), my_.error_,
                              options_.max_linear_iterations);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy && !e.saddle) return Estimate::Doubtful;
    linalg::combine(-1, my_.error_, 0, direction());
    newton_ = my_.options_.newton_near_the_end || e.saddle;
    if (e.saddle) return Estimate::Large;
    return direction_is_small() ? Estimate::Small : Estimate::Large;
  }

  static constexpr Correction whole_cycle = {Correction::Kind::Cycle, 0};

  NonlinearMultigrid& my_;
  FullMultigrid& cycle_;
  bool ready_ = false;
  std::vector<Correction> plan_;
  std::size_t next_ = 0;        // correction of the plan
  std::vector<double> steps_;   // where the line search of each begins
  bool may_be_near_ = true;     // by the last V-cycle over all levels
  bool newton_ = false;         // the direction is an estimate of all that remains
};

MinimizerSummary NonlinearMultigrid::minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) {
  cycle_.grid().take_skipped();
  MinimizerSummary summary = Run(*this, objective, x, options).minimize();
  const auto skipped = cycle_.grid().take_skipped();
  skipped_ = skipped.of > 0 ? static_cast<double>(skipped.rows) / static_cast<double>(skipped.of) : 0;
  return summary;
}

}  // namespace lope::optimize
