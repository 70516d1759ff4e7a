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

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

NonlinearMultigrid::NonlinearMultigrid(const NonlinearMultigridOptions& options)
    : options_(options),
      multigrid_({.sweeps = options.sweeps, .single_precision = options.single_precision}) {}

class NonlinearMultigrid::Run final : public DescentRun {
 public:
  using Choice = NonlinearMultigridOptions;

  Run(NonlinearMultigrid& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner), grid_(owner.multigrid_) {
    my_.error_.resize(objective.size());
  }

 private:
  // A correction of a cycle: a smoothing on one level, a V-cycle from one level downwards, or the linear full cycle that ends
  // there.
  struct Correction {
    enum class Kind { Smoothing, Cycle, FullCycle };
    Kind kind = Kind::Cycle;
    int level = 0;
  };

  Verdict find_direction() override {
    const bool begins = next_ == plan_.size();
    if (begins || my_.options_.matrix == Choice::Matrix::EveryCorrection) {
      if ((!ready_ || my_.options_.matrix != Choice::Matrix::Once) && !renew()) return Verdict::Failed;
    }
    if (begins) {
      plan();
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
    correct({Correction::Kind::Cycle, 0});
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
      failure_ = "this method needs a hierarchy of coarser levels, and what is to be minimised has none";
      return false;
    }
    grid_.set_hierarchy(std::move(hierarchy));
    grid_.set_projectors(objective_.projectors());
    ready_ = grid_.update(*hessian);
    recorder_.count_model();
    if (!ready_) failure_ = "the projected Hessian is not positive definite";
    my_.levels_.resize(index(grid_.levels()));
    for (int l = 0; l < grid_.levels(); ++l) {
      LevelWork& work = my_.levels_[index(l)];
      for (auto* vector : {&work.f, &work.x, &work.r, &work.c}) vector->resize(grid_.size(l));
    }
    return ready_;
  }

  // The corrections of one full cycle.
  void plan() {
    if (!plan_.empty()) return;
    const int coarsest = grid_.levels() - 1;
    switch (my_.options_.residual) {
      case Choice::Residual::EveryLevel:
        for (int top = coarsest; top >= 0; --top) {
          for (int l = top; l <= coarsest; ++l) plan_.push_back({Correction::Kind::Smoothing, l});
          for (int l = coarsest - 1; l >= top; --l) plan_.push_back({Correction::Kind::Smoothing, l});
        }
        break;
      case Choice::Residual::EveryCycle:
        for (int top = coarsest; top >= 0; --top) plan_.push_back({Correction::Kind::Cycle, top});
        break;
      case Choice::Residual::LastCycle:
        if (coarsest >= 1) plan_.push_back({Correction::Kind::FullCycle, 1});
        if (coarsest >= 2) plan_.push_back({Correction::Kind::Cycle, (coarsest + 1) / 2});
        plan_.push_back({Correction::Kind::Cycle, 0});
        break;
      case Choice::Residual::Never:
        plan_.push_back({Correction::Kind::FullCycle, 0});
        break;
    }
    steps_.assign(plan_.size(), 1.0);
  }

  // Leaves a correction of −∇E in direction().
  void correct(const Correction& correction) {
    const ScopedTimer timer(recorder_.timings().solve);
    recorder_.count_solve(1);
    std::vector<LevelWork>& level = my_.levels_;
    linalg::combine(-1, gradient(), 0, level[0].f);
    const int deepest = correction.kind == Correction::Kind::FullCycle ? grid_.levels() - 1 : correction.level;
    for (int l = 0; l < deepest; ++l) grid_.restrict_residual(l, level[index(l)].f, level[index(l) + 1].f);
    LevelWork& at = level[index(correction.level)];
    switch (correction.kind) {
      case Correction::Kind::Smoothing:
        if (correction.level == grid_.levels() - 1) {
          grid_.coarse_solve(at.f, at.x);
        } else {
          grid_.smooth(correction.level, at.f, at.x, my_.options_.sweeps, linalg::BlockMultigrid::Start::Zero);
        }
        break;
      case Correction::Kind::Cycle:
        grid_.cycle(correction.level, at.f, at.x);
        break;
      case Correction::Kind::FullCycle:
        full_cycle(correction.level);
        break;
    }
    for (int l = correction.level; l > 0; --l) grid_.prolong(l - 1, level[index(l)].x, level[index(l) - 1].x);
    linalg::copy(level[0].x, direction());
    if (correction.kind != Correction::Kind::Cycle || correction.level != 0 || !tests_displacement()) return;
    direction_is_small();
    may_be_near_ = measure_ <= may_become_near * tolerance_;
  }

  // From the coarsest level to `top`, one V-cycle each, started from the result of the one before.
  void full_cycle(int top) {
    std::vector<LevelWork>& level = my_.levels_;
    int l = grid_.levels() - 1;
    grid_.coarse_solve(level[index(l)].f, level[index(l)].x);
    while (--l >= top) {
      LevelWork& at = level[index(l)];
      // A V-cycle leaves corrections of coarser levels in their x, which are not needed any more.
      grid_.prolong(l, level[index(l) + 1].x, at.x);
      grid_.residual(l, at.f, at.x, at.r);
      grid_.cycle(l, at.r, at.c);
      linalg::combine(1, at.c, 1, at.x);
    }
  }

  linalg::Preconditioner& inverse_at_hand() override { return grid_; }

  bool descends() {
    const double slope = space().dot(gradient(), direction());
    return slope < 0 && std::isfinite(slope);
  }

  bool is_near() {
    correct({Correction::Kind::Cycle, 0});
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
        estimate_displacement(space(), *hessian, grid_, my_.cg_, gradient(), my_.error_,
                              options_.max_linear_iterations);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy && !e.saddle) return Estimate::Doubtful;
    linalg::combine(-1, my_.error_, 0, direction());
    newton_ = my_.options_.newton_near_the_end || e.saddle;
    if (e.saddle) return Estimate::Large;
    return direction_is_small() ? Estimate::Small : Estimate::Large;
  }

  NonlinearMultigrid& my_;
  linalg::BlockMultigrid& grid_;
  bool ready_ = false;
  std::vector<Correction> plan_;
  std::size_t next_ = 0;        // correction of the plan
  std::vector<double> steps_;   // where the line search of each begins
  bool may_be_near_ = true;     // by the last V-cycle over all levels
  bool newton_ = false;         // the direction is an estimate of all that remains
};

MinimizerSummary NonlinearMultigrid::minimize(Objective& objective, std::span<double> x, const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

}  // namespace lope::optimize
