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

// CG iterations with an earlier iterate's factor that cost less than a new factor.
constexpr int kept_factor_iterations = 6;

// Far from a solution the raw Hessian may be near singular: more MINRES iterations than this buy nothing.
constexpr int minres_limit = 1000;

}  // namespace

class ProjectedNewton::Run final : public DescentRun {
 public:
  Run(ProjectedNewton& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner) {
    my_.factor_ready_ = false;
    for (auto* work : {&my_.error_, &my_.right_}) work->resize(objective.size());
  }

 private:
  // An estimate of the remaining displacement is a Newton direction with the raw Hessian: it is used where it
  // can be trusted. Before a new factor is made, one back-substitution with the old one tells whether this
  // may be the last iterate.
  Verdict find_direction() override {
    if (tests_displacement() && direct() && my_.factor_ready_ && old_factor_is_content()) {
      const Estimate estimated = estimate();
      if (estimated == Estimate::Small) return Verdict::Converged;
      if (estimated == Estimate::Large) return Verdict::Search;
    }
    if (!solve()) {
      failure_ = "the projected Hessian is not positive definite";
      return Verdict::Failed;
    }
    if (!tests_displacement()) return Verdict::Search;
    measure_ = linalg::max_block_norm(direction(), objective_.block_size());
    return may_be_last() && estimate() == Estimate::Small ? Verdict::Converged : Verdict::Search;
  }

  LineSearchResult search(const LineSearchStart& from) override {
    return line_search().backtrack(objective_, from, {}, trial());
  }

  bool direct() const { return my_.newton_.solver == LinearSolver::Direct; }

  bool old_factor_is_content() {
    const ScopedTimer timer(recorder_.timings().solve);
    my_.cholesky_.apply(gradient(), my_.error_);
    measure_ = linalg::max_block_norm(my_.error_, objective_.block_size());
    return may_be_last();
  }

  enum class Estimate { Doubtful, Large, Small };
  Estimate estimate() {
    const linalg::BlockMatrix& hessian = assemble(HessianKind::Raw);
    const ScopedTimer timer(recorder_.timings().solve);
    const int limit = direct() ? factored_estimate_limit : options_.max_linear_iterations;
    linalg::Preconditioner& m = direct() ? static_cast<linalg::Preconditioner&>(my_.cholesky_)
                                       : my_.inverse_.preconditioner();
    const DisplacementEstimate e = estimate_displacement(hessian, m, my_.cg_, gradient(), my_.error_, limit);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy) return Estimate::Doubtful;
    measure_ = e.largest;
    linalg::combine(-1, my_.error_, 0, direction());
    return measure_ <= tolerance_ ? Estimate::Small : Estimate::Large;
  }

  const linalg::BlockMatrix& assemble(HessianKind kind) {
    const ScopedTimer timer(recorder_.timings().hessian);
    return objective_.hessian(kind);
  }

  bool solve() {
    linalg::combine(-1, gradient(), 0, my_.right_);
    const linalg::BlockMatrix& hessian = assemble(HessianKind::Projected);
    return direct() ? solve_directly(hessian) : solve_iteratively(hessian);
  }

  bool solve_directly(const linalg::BlockMatrix& hessian) {
    if (my_.factor_ready_ && conjugate_gradients(hessian, my_.cholesky_, 0.1, kept_factor_iterations))
      return true;
    {
      const ScopedTimer timer(recorder_.timings().factorize);
      my_.factor_ready_ = my_.cholesky_.update(hessian);
    }
    if (!my_.factor_ready_) return false;
    const ScopedTimer timer(recorder_.timings().solve);
    my_.cholesky_.apply(my_.right_, direction());
    recorder_.count_solve(0);
    return true;
  }

  bool solve_iteratively(const linalg::BlockMatrix& hessian) {
    if (my_.newton_.renew_always || !my_.factor_ready_) {
      const ScopedTimer timer(recorder_.timings().factorize);
      my_.factor_ready_ = my_.inverse_.renew(objective_, hessian);
      if (!my_.factor_ready_) return false;
    }
    conjugate_gradients(hessian, my_.inverse_.preconditioner(), forcing(), options_.max_linear_iterations);
    return true;  // every CG iterate is a descent direction
  }

  bool conjugate_gradients(const linalg::BlockMatrix& hessian, linalg::Preconditioner& m, double tolerance,
                           int limit) {
    const ScopedTimer timer(recorder_.timings().solve);
    const bool rounded = my_.newton_.rounded_products;
    if (rounded) my_.rounded_.update(hessian);
    const auto product = [&](linalg::ConstVector p, linalg::Vector hp) {
      rounded ? my_.rounded_.multiply(p, hp) : hessian.multiply(p, hp);
    };
    const linalg::CgSummary solve = my_.cg_.solve(product, m, my_.right_, direction(),
                                                  {.relative_tolerance = tolerance, .max_iterations = limit});
    recorder_.count_solve(solve.iterations);
    return solve.converged;
  }

  ProjectedNewton& my_;
};

MinimizerSummary ProjectedNewton::minimize(Objective& objective, std::span<double> x,
                                           const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

MinimizerSummary PlainNewton::minimize(Objective& objective, std::span<double> x,
                                       const MinimizerOptions& options) {
  const double tolerance = resolved_tolerance(options.stopping, objective);
  const bool displacement = options.stopping.test == StoppingTest::Displacement;
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
                        {.relative_tolerance = 1e-6,
                         .max_iterations = std::min(options.max_linear_iterations, minres_limit)});
      recorder.count_solve(solve.iterations);
      solved = solve.converged || !displacement;
      measure = displacement ? linalg::max_block_norm(direction_, objective.block_size())
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
