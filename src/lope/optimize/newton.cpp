#include <lope/optimize/newton.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lope::optimize {
namespace {

// CG iterations that an estimate may take with a factor in hand: more means that the factor is of no use
// here.
constexpr int factored_estimate_limit = 30;

// A direction this many times longer than the accuracy is not yet worth a careful estimate.
constexpr double in_doubt = 4;

// Far from a solution the raw Hessian may be near singular: more MINRES iterations than this buy nothing.
constexpr int minres_limit = 1000;

bool wants_displacement(const MinimizerOptions& options) {
  return options.stopping.test == StoppingTest::Displacement;
}

}  // namespace

// One minimisation: the objective, the iterate and the bookkeeping that belong together while it lasts.
class ProjectedNewton::Run {
 public:
  Run(ProjectedNewton& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : my_(owner),
        objective_(objective),
        x_(x),
        options_(options),
        tolerance_(resolved_tolerance(options.stopping, objective)),
        recorder_(options, tolerance_) {
    my_.factor_ready_ = false;
    for (auto* work : {&my_.gradient_, &my_.direction_, &my_.error_, &my_.trial_, &my_.right_}) {
      work->resize(objective.size());
    }
  }

  MinimizerSummary minimize() {
    start();
    if (!std::isfinite(value_))
      return recorder_.finish(Outcome::Failed, "the energy of the starting point is not finite");
    while (true) {
      objective_.begin_iteration();
      if (test_gradient()) return converged();
      if (estimate_with_old_factor()) return converged();
      if (!find_direction()) {
        record(measure_);
        return recorder_.finish(Outcome::Failed, "the projected Hessian is not positive definite");
      }
      if (estimate_with_new_direction()) return converged();
      record(measure_);
      if (recorder_.iterations() >= options_.max_iterations) {
        return recorder_.finish(Outcome::IterationLimit,
                                fmt::format("not converged after {} iterations", options_.max_iterations));
      }
      if (!search())
        return recorder_.finish(Outcome::LineSearchStalled, "no step along the direction lowers the energy");
    }
  }

 private:
  void start() {
    const ScopedTimer timer(recorder_.timings().evaluate);
    objective_.move_to(x_);
    value_ = objective_.value();
    objective_.gradient(my_.gradient_);
    gradient_norm_ = first_gradient_norm_ = linalg::norm(my_.gradient_);
  }

  void record(double measure) { recorder_.record(value_, gradient_norm_, measure, x_); }

  MinimizerSummary converged() {
    record(measure_);
    return recorder_.finish(Outcome::Converged, "");
  }

  bool test_gradient() {
    if (gradient_norm_ == 0) {
      measure_ = 0;
      return true;
    }
    if (wants_displacement(options_)) return false;
    measure_ = gradient_measure(options_.stopping.test, objective_, my_.gradient_);
    return measure_ <= tolerance_;
  }

  linalg::Preconditioner& preconditioner() {
    if (my_.newton_.solver == LinearSolver::Direct) return my_.cholesky_;
    return my_.jacobi_;
  }

  // Solves with the raw Hessian to 10%. If that is trustworthy, its result is the direction, and the test is
  // made.
  bool estimate() {
    const ScopedTimer timer(recorder_.timings().solve);
    estimated_ = false;
    const int limit =
        my_.newton_.solver == LinearSolver::Direct ? factored_estimate_limit : options_.max_linear_iterations;
    const DisplacementEstimate e =
        estimate_displacement(objective_, preconditioner(), my_.cg_, my_.gradient_, my_.error_, limit);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy) return false;
    estimated_ = true;
    measure_ = e.largest;
    linalg::combine(-1, my_.error_, 0, my_.direction_);
    return measure_ <= tolerance_;
  }

  // One back-substitution with the factor of an earlier iterate tells whether this one may be the last.
  bool estimate_with_old_factor() {
    estimated_ = false;
    if (!wants_displacement(options_) || my_.newton_.solver != LinearSolver::Direct || !my_.factor_ready_)
      return false;
    {
      const ScopedTimer timer(recorder_.timings().solve);
      my_.cholesky_.apply(my_.gradient_, my_.error_);
    }
    measure_ = linalg::max_block_norm(my_.error_, objective_.block_size());
    return measure_ <= in_doubt * tolerance_ && estimate();
  }

  bool estimate_with_new_direction() {
    if (!wants_displacement(options_) || estimated_) return false;
    measure_ = linalg::max_block_norm(my_.direction_, objective_.block_size());
    return measure_ <= in_doubt * tolerance_ && estimate();
  }

  bool find_direction() {
    if (estimated_) return true;  // the estimate is a Newton direction already
    linalg::combine(-1, my_.gradient_, 0, my_.right_);
    const linalg::BlockMatrix& hessian = assemble();
    return my_.newton_.solver == LinearSolver::Direct ? solve_directly(hessian) : solve_iteratively(hessian);
  }

  const linalg::BlockMatrix& assemble() {
    const ScopedTimer timer(recorder_.timings().hessian);
    return objective_.hessian(HessianKind::Projected);
  }

  bool solve_directly(const linalg::BlockMatrix& hessian) {
    if (my_.factor_ready_ && my_.newton_.kept_factor_iterations > 0 &&
        conjugate_gradients(hessian, my_.cholesky_, 0.1, my_.newton_.kept_factor_iterations)) {
      return true;
    }
    {
      const ScopedTimer timer(recorder_.timings().factorize);
      my_.factor_ready_ = my_.cholesky_.update(hessian);
    }
    if (!my_.factor_ready_) return false;
    const ScopedTimer timer(recorder_.timings().solve);
    my_.cholesky_.apply(my_.right_, my_.direction_);
    recorder_.count_solve(0);
    return true;
  }

  bool solve_iteratively(const linalg::BlockMatrix& hessian) {
    {
      const ScopedTimer timer(recorder_.timings().factorize);
      my_.jacobi_.update(hessian);
    }
    const double forcing = std::min(0.5, std::sqrt(gradient_norm_ / first_gradient_norm_));
    conjugate_gradients(hessian, my_.jacobi_, forcing, options_.max_linear_iterations);
    return true;  // every CG iterate is a descent direction
  }

  bool conjugate_gradients(const linalg::BlockMatrix& hessian, linalg::Preconditioner& m, double tolerance,
                           int limit) {
    const ScopedTimer timer(recorder_.timings().solve);
    const auto product = [&](linalg::ConstVector p, linalg::Vector hp) { hessian.multiply(p, hp); };
    const linalg::CgSummary solve = my_.cg_.solve(product, m, my_.right_, my_.direction_,
                                                  {.relative_tolerance = tolerance, .max_iterations = limit});
    recorder_.count_solve(solve.iterations);
    return solve.converged;
  }

  bool search() {
    const ScopedTimer timer(recorder_.timings().evaluate);
    const LineSearchStart from{x_, my_.direction_, value_, linalg::dot(my_.gradient_, my_.direction_)};
    const LineSearchResult found = my_.line_search_.backtrack(objective_, from, {}, my_.trial_);
    if (!found.success) return false;
    recorder_.count_step(found.step, found.evaluations);
    linalg::copy(my_.trial_, x_);
    value_ = found.value;
    objective_.gradient(my_.gradient_);
    gradient_norm_ = linalg::norm(my_.gradient_);
    return std::isfinite(gradient_norm_);
  }

  ProjectedNewton& my_;
  Objective& objective_;
  std::span<double> x_;
  const MinimizerOptions& options_;
  double tolerance_;
  Recorder recorder_;
  double value_ = 0, gradient_norm_ = 0, first_gradient_norm_ = 0, measure_ = 0;
  bool estimated_ = false;  // measure_ and direction_ come from a trustworthy estimate at this iterate
};

MinimizerSummary ProjectedNewton::minimize(Objective& objective, std::span<double> x,
                                           const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

MinimizerSummary PlainNewton::minimize(Objective& objective, std::span<double> x,
                                       const MinimizerOptions& options) {
  const double tolerance = resolved_tolerance(options.stopping, objective);
  Recorder recorder(options, tolerance);
  gradient_.resize(objective.size());
  direction_.resize(objective.size());
  while (true) {
    objective.move_to(x);
    objective.begin_iteration();
    objective.gradient(gradient_);
    const double value = objective.value(), gradient_norm = linalg::norm(gradient_);
    if (!std::isfinite(gradient_norm) || !std::isfinite(value)) {
      return recorder.finish(Outcome::Failed, "the iterates left the range where the energy is finite");
    }
    double measure = 0;
    bool solved = true;  // a displacement from a failed solve means nothing
    if (gradient_norm > 0) {
      const linalg::BlockMatrix& hessian = objective.hessian(HessianKind::Raw);
      jacobi_.update(hessian);
      const auto product = [&](linalg::ConstVector p, linalg::Vector hp) { hessian.multiply(p, hp); };
      const linalg::MinresSummary solve =
          minres_.solve(product, jacobi_, gradient_, direction_,
                        {.relative_tolerance = 1e-6, .max_iterations = std::min(options.max_linear_iterations, minres_limit)});
      recorder.count_solve(solve.iterations);
      solved = solve.converged || !wants_displacement(options);
      measure = wants_displacement(options) ? linalg::max_block_norm(direction_, objective.block_size())
                                            : gradient_measure(options.stopping.test, objective, gradient_);
    }
    recorder.record(value, gradient_norm, measure, x);
    if (solved && measure <= tolerance) return recorder.finish(Outcome::Converged, "");
    if (recorder.iterations() >= options.max_iterations) {
      return recorder.finish(Outcome::IterationLimit,
                             fmt::format("not converged after {} iterations", options.max_iterations));
    }
    linalg::combine(-1, direction_, 1, x);
    recorder.count_step(1, 1);
  }
}

}  // namespace lope::optimize
