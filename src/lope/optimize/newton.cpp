#include <lope/optimize/newton.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lope::optimize {
namespace {

// CG iterations that an estimate may take with a factor in hand: more means that the factor is of no use
// here, unless there are couplings, which most factors do not see.
constexpr int factored_estimate_limit = 30;

// With a preconditioner that acts on smooth errors as well, |Dg| tells within a small factor how far the
// minimiser is; below this many times the accuracy the raw Hessian is tried first.
constexpr double raw_first = 10;

// A line search that ends below this part of the direction says that the direction was too long.
constexpr double short_step = 0.25;

// CG iterations are cheap, compared with another Hessian.
constexpr double loosest_tolerance = 0.1;

// Of the projection: less is none; what is tried first where none is not enough.
constexpr double least_projection = 0.02, first_projection = 0.1;
// Of itself, after a good step.
constexpr double less_projection = 0.9;

// Iterations of a minimisation in which that is done. If they were not enough it starts again without: on long ways around sharp edges a plane says
// little of an obstacle, and curved searches alone do better.
constexpr int most_revised_iterations = 80;

// Of a correction: the inverse at hand is that of other constraints, and its norm hides what is stiff now.
constexpr double correction_tolerance = 1e-3;

// Directions that are found for one iterate while what is active where they lead changes. Rarely more than three are needed.
constexpr int most_revisions = 10;

// Far from a solution the raw Hessian may be near singular: more MINRES iterations than this buy nothing.
constexpr int minres_limit = 1000;

}  // namespace

class ProjectedNewton::Run final : public DescentRun {
 public:
  Run(ProjectedNewton& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner) {
    if (!keeps() || !my_.kept_ || my_.kept_->point.size() != objective.size()) {
      drop_inverse();
      my_.inverse_.forget();
    }
    for (auto* work : {&my_.error_, &my_.right_, &my_.way_, &my_.left_, &my_.start_}) work->resize(objective.size());
    objective.project_partly(1);
  }
  ~Run() override { objective_.project_partly(1); }

 private:
  // Where constraints decide which unknowns are free, a direction knows the active ones of the point where it begins. It is corrected for
  // those that are active where the quadratic model says that it leads, until these are the same: the semi-smooth Newton method, or primal-dual active
  // set, for the model (Hintermüller, Ito & Kunisch 2002). A stiff body would otherwise release and catch one node after another. Soft ones
  // seldom do, and every correction is one more linear solve.
  Verdict find_direction() override {
    if (!revises() || stiff_ == false) return find_direction_among_active();
    if (recorder_.iterations() == 0) linalg::copy(x_, my_.start_);
    if (recorder_.iterations() >= most_revised_iterations) {
      start_again();
      return find_direction_among_active();
    }
    corrected_ = false;
    const Verdict verdict = find_direction_among_active();
    if (verdict == Verdict::Failed || !is_worth_revising()) return verdict;
    const Verdict revised = revise(verdict);
    if (!corrected_ || revised != Verdict::Search || space().dot(gradient(), direction()) < 0) return revised;
    // Those that are active went round in circles, and the direction leads uphill.
    objective_.begin_iteration();
    evaluate();
    corrected_ = false;
    return find_direction_among_active();
  }

  bool revises() const { return !started_again_ && !fresh_ && !my_.newton_.matrix_free && objective_.revises(); }
  bool is_worth_revising() { return stiff_ ? *stiff_ : is_stiff(assemble(kind_)); }
  void start_again() {
    started_again_ = true;
    begins_at_ = recorder_.iterations();
    corrected_ = false;
    drop_inverse();
    linalg::copy(my_.start_, x_);
    objective_.forget();
    objective_.move_to(x_);
    objective_.begin_iteration();
    evaluate();
  }

  Verdict revise(Verdict verdict) {
    for (int revision = 0; revision < most_revisions; ++revision) {
      const Revision found = objective_.revise(kind_, direction(), my_.left_);
      if (found == Revision::None) return verdict;
      if (found == Revision::Changed) {
        evaluate();
        suits_constraints_ = false;
      } else if (!suits_constraints_) {
        drop_inverse();
      }
      corrected_ = true;
      if (!correct()) return Verdict::Failed;
      verdict = tests_displacement() && direction_is_small() && kind_ == HessianKind::Raw && inverse_suits()
                    ? Verdict::Converged
                    : Verdict::Search;
    }
    return Verdict::Search;
  }

  // The direction obeys the constraints but leaves left_ of the model's gradient: solves for the rest.
  bool correct() {
    linalg::copy(direction(), my_.way_);
    linalg::combine(-1, my_.left_, 0, my_.right_);
    if (kind_ == HessianKind::Raw && !correct_raw()) kind_ = HessianKind::Projected;
    if (kind_ == HessianKind::Projected) {
      const linalg::BlockMatrix& hessian = assemble(kind_);
      if (!(direct() ? solve_directly(hessian, correction_tolerance) : solve_iteratively(hessian, correction_tolerance))) {
        failure_ = my_.inverse_.failure();
        return false;
      }
    }
    objective_.project_to_tangents(direction());
    linalg::combine(1, my_.way_, 1, direction());
    return true;
  }
  // False: it is not positive definite there, or there is no inverse at hand.
  bool correct_raw() {
    if (!my_.inverse_ready_ && !renew(assemble(HessianKind::Projected))) return false;
    const linalg::CgSummary found = conjugate_gradients(assemble(HessianKind::Raw), correction_tolerance, options_.max_linear_iterations);
    return !found.negative_curvature;
  }

  // An estimate of the remaining displacement is a Newton direction with the raw Hessian: it is used where it
  // can be trusted, and beside saddle points, where it leads along negative curvature, which the projected Hessian is
  // blind to. Before the projected system is solved, one application of an inverse in hand tells
  // whether this may be the last iterate.
  Verdict find_direction_among_active() {
    if (tests_displacement() && !fresh_ && near_the_end()) {
      const Estimate estimated = estimate();
      if (estimated == Estimate::Small) return Verdict::Converged;
      if (estimated == Estimate::Saddle || (estimated == Estimate::Large && takes_raw())) return Verdict::Search;
    }
    if (!solve()) {
      failure_ = my_.inverse_.failure();
      return Verdict::Failed;
    }
    if (!tests_displacement()) return Verdict::Search;
    direction_is_small();
    if (!may_be_last()) return Verdict::Search;
    linalg::copy(direction(), my_.right_);
    const Estimate estimated = estimate();
    if (estimated == Estimate::Large && !takes_raw()) {
      linalg::copy(my_.right_, direction());
      kind_ = HessianKind::Projected;
    }
    return estimated == Estimate::Small ? Verdict::Converged : Verdict::Search;
  }

  bool is_near() const { return measure_ <= raw_first * tolerance_; }
  // A step with the raw Hessian is right near the end. Farther away it may go much too far (over the kinks of friction,
  // say); after one that did, a projected one comes first.
  bool takes_raw() {
    raw_ = is_near() || !went_too_far_;
    return raw_;
  }

  LineSearchResult search(const LineSearchStart& from) override {
    const LineSearchResult found = line_search().backtrack(objective_, from, {.lengthens = !corrected_}, trial());
    if (fresh_) adapt_projection(found);
    went_too_far_ = raw_ && found.step < short_step;
    raw_ = false;
    return found;
  }

  // A first step that is shorter than 1 and passes was cut by a bound, not by the energy.
  void adapt_projection(const LineSearchResult& found) {
    const bool good = found.success && (found.evaluations == 1 || found.step >= 0.5);
    if (good)
      projection_ = projection_ < least_projection ? 0 : less_projection * projection_;
    else
      project_more();
  }
  void project_more() { projection_ = std::min(1.0, std::max(first_projection, 2 * projection_)); }

  bool direct() const { return my_.newton_.solver == LinearSolver::Direct; }
  linalg::Preconditioner& inverse_at_hand() override { return inverse(); }
  bool inverse_suits() const override {
    return !objective_.frees_more_than(my_.held_);
  }
  linalg::Preconditioner& inverse() {
    if (my_.newton_.matrix_free) return my_.diagonal_;
    return my_.inverse_.preconditioner();
  }

  bool near_the_end() {
    if (!my_.inverse_ready_ || !inverse().is_global()) return false;
    const ScopedTimer timer(recorder_.timings().solve);
    inverse().apply(gradient(), my_.error_);
    linalg::combine(-1, my_.error_, 0, direction());
    kind_ = HessianKind::Projected;
    direction_is_small();
    return inverse().is_near_inverse() ? may_be_last() : is_near();
  }

  enum class Estimate { Doubtful, Saddle, Large, Small };
  // An inverse in which more was held takes what moves easily since, a body that is let go, for as stiff as what it was held with: that little is
  // left is believed only from one that knows better.
  Estimate estimate() {
    const Estimate found = estimate_with_inverse();
    if (found != Estimate::Small || inverse_suits()) return found;
    return renew(assemble(HessianKind::Projected)) ? estimate_with_inverse() : Estimate::Doubtful;
  }
  Estimate estimate_with_inverse() {
    if (my_.newton_.matrix_free) {
      return estimate(HessianOperator(objective_, HessianKind::Raw), options_.max_linear_iterations);
    }
    const linalg::BlockMatrix& hessian = assemble(HessianKind::Raw);
    const bool factored = direct() && hessian.couplings().empty();
    return estimate(hessian, factored ? factored_estimate_limit : options_.max_linear_iterations);
  }
  Estimate estimate(const linalg::Operator& hessian, int limit) {
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e =
        estimate_displacement(space(), hessian, inverse(), my_.cg_, gradient(), my_.error_, limit,
                              [this](linalg::ConstVector error) { return strain(error); });
    recorder_.count_solve(e.iterations);
    if (!direct() && e.iterations > 2 * my_.newton_.slow_iterations) drop_inverse();
    if (!e.trustworthy && !e.saddle) return Estimate::Doubtful;
    linalg::combine(-1, my_.error_, 0, direction());
    objective_.project_to_tangents(direction());
    kind_ = HessianKind::Raw;
    if (e.saddle) return Estimate::Saddle;
    return direction_is_small() ? Estimate::Small : Estimate::Large;
  }

  const linalg::BlockMatrix& assemble(HessianKind kind) {
    const ScopedTimer timer(recorder_.timings().hessian);
    return objective_.hessian(kind);
  }

  bool solve() {
    linalg::combine(-1, gradient(), 0, my_.right_);
    kind_ = HessianKind::Projected;
    if (my_.newton_.matrix_free) return solve_without_matrix();
    if (fresh_) return solve_afresh();
    const linalg::BlockMatrix& hessian = assemble(HessianKind::Projected);
    if (!(direct() ? solve_directly(hessian, loosest_tolerance) : solve_iteratively(hessian, std::min(loosest_tolerance, forcing())))) return false;
    objective_.project_to_tangents(direction());
    return true;
  }

  bool keeps() const { return !fresh_ && my_.newton_.keep_between && objective_.keeps_its_hessian(); }

  bool renew(const linalg::BlockMatrix& hessian) {
    const ScopedTimer timer(recorder_.timings().factorize);
    my_.inverse_ready_ = my_.inverse_.renew(objective_, hessian, fresh_ && projection_ < 1);
    my_.held_ = objective_.choices();
    recorder_.count_model();
    suits_constraints_ = true;
    my_.kept_.reset();
    if (my_.inverse_ready_ && keeps())
      my_.kept_ = std::make_shared<const KeptModel>(model_at(x_, objective_));
    return my_.inverse_ready_;
  }

  // It is renewed in the next iteration, or in the next minimisation.
  void drop_inverse() {
    my_.inverse_ready_ = false;
    my_.kept_.reset();
  }

  // With a factor of this very iterate and as little projection as it takes.
  bool solve_afresh() {
    objective_.project_partly(projection_);
    const linalg::BlockMatrix* hessian = &assemble(HessianKind::Projected);
    while (!renew(*hessian)) {
      if (projection_ == 1) return false;
      project_more();
      objective_.project_partly(projection_);
      hessian = &assemble(HessianKind::Projected);
    }
    find_with_factor(*hessian, loosest_tolerance);
    return true;
  }

  bool solve_directly(const linalg::BlockMatrix& hessian, double tolerance) {
    if (my_.inverse_ready_ && my_.newton_.kept_iterations > 0 &&
        conjugate_gradients(hessian, tolerance, my_.newton_.kept_iterations).converged) {
      return true;
    }
    if (!renew(hessian)) return false;
    find_with_factor(hessian, tolerance);
    return true;
  }

  // Most factors do not see couplings, or see them rounded: with them a factor is only a preconditioner.
  void find_with_factor(const linalg::BlockMatrix& hessian, double tolerance) {
    if (!hessian.couplings().empty()) {
      conjugate_gradients(hessian, tolerance, options_.max_linear_iterations);
      return;
    }
    const ScopedTimer timer(recorder_.timings().solve);
    inverse().apply(my_.right_, direction());
    recorder_.count_solve(0);
  }

  bool solve_iteratively(const linalg::BlockMatrix& hessian, double tolerance) {
    if ((my_.newton_.renew_always || !my_.inverse_ready_) && !renew(hessian)) return false;
    const int used = conjugate_gradients(hessian, tolerance, options_.max_linear_iterations).iterations;
    if (used > my_.newton_.slow_iterations) drop_inverse();
    return true;  // every CG iterate is a descent direction
  }

  // The diagonal is renewed in every iteration: it costs no more than a product.
  bool solve_without_matrix() {
    const HessianOperator hessian(objective_, HessianKind::Projected);
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      my_.diagonal_.update_from(hessian);
    }
    my_.inverse_ready_ = true;
    conjugate_gradients([&](linalg::ConstVector p, linalg::Vector hp) { hessian.multiply(p, hp); },
                        std::min(loosest_tolerance, forcing()), options_.max_linear_iterations);
    return true;
  }

  // Whether constraints hold matter so stiff that single precision loses its inertia.
  bool is_stiff(const linalg::BlockMatrix& hessian) {
    if (!stiff_) stiff_ = objective_.has_constraints() && !linalg::survives_rounding(hessian);
    return *stiff_;
  }

  linalg::CgSummary conjugate_gradients(const linalg::BlockMatrix& hessian, double tolerance, int limit) {
    const bool rounded = my_.newton_.rounded_products && !is_stiff(hessian);
    if (rounded) {
      const ScopedTimer timer(recorder_.timings().solve);
      my_.rounded_.update(hessian);
    }
    const auto product = [&](linalg::ConstVector p, linalg::Vector hp) {
      rounded ? my_.rounded_.multiply(p, hp) : hessian.multiply(p, hp);
    };
    return conjugate_gradients(product, tolerance, limit);
  }

  linalg::CgSummary conjugate_gradients(const linalg::LinearOperator& product, double tolerance, int limit) {
    const ScopedTimer timer(recorder_.timings().solve);
    const linalg::CgSummary summary =
        my_.cg_.solve(space(), product, inverse(), my_.right_, direction(),
                      {.relative_tolerance = tolerance, .max_iterations = limit});
    recorder_.count_solve(summary.iterations);
    return summary;
  }

  ProjectedNewton& my_;
  const bool fresh_ = direct() && my_.newton_.projects_partly && objective_.buckles();
  double projection_ = 1;      // with fresh_: how much of it is made
  HessianKind kind_ = HessianKind::Projected;  // that the direction was found with
  bool corrected_ = false;          // the direction
  bool started_again_ = false;
  bool suits_constraints_ = false;  // the inverse at hand: it is of a Hessian with those that are active
  std::optional<bool> stiff_;  // empty: not asked yet
  bool raw_ = false;           // the direction is a step with the raw Hessian, of no known size
  bool went_too_far_ = false;  // the last one was, and only a short part of it could be taken
};

MinimizerSummary ProjectedNewton::minimize(Objective& objective, std::span<double> x,
                                           const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

void ProjectedNewton::recall(Objective& objective, const KeptModelPtr& kept) {
  if (kept == kept_) return;
  kept_.reset();
  inverse_ready_ = false;
  if (newton_.matrix_free) return;
  if (!kept || kept->point.empty() || !newton_.keep_between || !objective.keeps_its_hessian()) return;
  inverse_ready_ = at_kept_point(objective, *kept, [&] { return inverse_.renew(objective); });
  if (!inverse_ready_) return;
  kept_ = kept;
  held_ = kept->choices;
}

MinimizerSummary PlainNewton::minimize(Objective& objective, std::span<double> x,
                                       const MinimizerOptions& options) {
  double tolerance = resolved_tolerance(options.stopping, objective);
  const bool displacement = !tests_gradient(options.stopping.test);
  Recorder recorder(options);
  gradient_.resize(objective.size());
  direction_.resize(objective.size());
  while (true) {
    objective.move_to(x);
    objective.begin_iteration();
    objective.gradient(gradient_);
    const double value = objective.value(), gradient_norm = objective.space().norm(gradient_);
    if (!std::isfinite(gradient_norm) || !std::isfinite(value)) {
      return recorder.finish(Outcome::Failed, "the iterates left the range where the energy is finite");
    }
    double measure = 0;
    bool solved = true;  // a displacement from a failed solve means nothing
    linalg::fill(direction_, 0);
    if (gradient_norm > 0) {
      const linalg::BlockMatrix& hessian = objective.hessian(HessianKind::Raw);
      jacobi_.update(hessian);
      const auto product = [&](linalg::ConstVector p, linalg::Vector hp) { hessian.multiply(p, hp); };
      const linalg::MinresSummary solve =
          minres_.solve(objective.space(), product, jacobi_, gradient_, direction_,
                        {.relative_tolerance = 1e-6,
                         .max_iterations = std::min(options.max_linear_iterations, minres_limit)});
      recorder.count_solve(solve.iterations);
      solved = solve.converged || !displacement;
      linalg::combine(-1, direction_, 0, direction_);
      if (displacement) {
        const ErrorBudget budget = objective.budget(direction_, options.stopping.tolerance);
        measure = budget.error;
        tolerance = budget.allowed;
      } else {
        measure = gradient_measure(options.stopping.test, objective, gradient_);
      }
    }
    recorder.record(value, gradient_norm, measure, tolerance, x);
    const bool converged = solved && measure <= tolerance;
    if (!converged) {
      if (auto end = recorder.must_end()) return recorder.finish(std::move(*end));
    }
    if (!converged || displacement) linalg::combine(1, direction_, 1, x);
    if (converged) return recorder.finish(Outcome::Converged, "");
    recorder.count_step(1, 1);
  }
}

}  // namespace lope::optimize
