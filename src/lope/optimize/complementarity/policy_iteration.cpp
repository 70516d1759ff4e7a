#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/policy_iteration.h>
#include <lope/optimize/complementarity/recorder.h>

#include <utility>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
constexpr int default_limit = 200;
constexpr const char* not_definite =
    "the matrix is not positive definite on the free rows: no preconditioner";

// How exactly the next system is solved: in proportion to the residual, and tighter from one system to the
// next, so that errors of the inner solves cannot keep the policies moving.
class InnerTolerance {
 public:
  InnerTolerance(double tolerance, double forcing) : smallest_(0.5 * tolerance), forcing_(forcing) {}
  double next(double residual) {
    last_ = std::max(smallest_, std::min(forcing_ * residual, 0.5 * last_));
    return last_;
  }

 private:
  double smallest_;
  double forcing_;
  double last_ = std::numeric_limits<double>::infinity();
};

int limit_of(const LcpOptions& options) {
  return options.max_iterations > 0 ? options.max_iterations : default_limit;
}

linalg::CgOptions cg_options(double tolerance, const LcpOptions& options, const LcpRecorder& recorder) {
  linalg::CgOptions result;
  result.max_norm_tolerance = tolerance;
  result.max_iterations = static_cast<int>(options.max_inner_iterations - recorder.inner_iterations());
  return result;
}

std::vector<std::uint8_t> first_policy(const MixedLcp& problem, linalg::ConstVector p, linalg::ConstVector w,
                                       const LcpOptions& options) {
  if (options.policy.empty()) return policy_at(problem, p, w);
  std::vector<std::uint8_t> policy(options.policy.begin(), options.policy.end());
  for (std::size_t i = 0; i < policy.size(); ++i) policy[i] = policy[i] != 0 && problem.bounded[i] != 0;
  return policy;
}

// The inverse of A + ρΠ, nearly block diagonal because ρ is large.
class PenalizedInverse final : public linalg::LinearInverse {
 public:
  PenalizedInverse(linalg::MaskedInverse& free, linalg::RowFlags penalized, double rho)
      : free_(free), penalized_(penalized), rho_(rho) {}
  void apply(linalg::ConstVector r, linalg::Vector z) override {
    free_.apply(r, z);
    parallel_for(r.size(), grain, [&](std::size_t i) {
      if (penalized_[i] != 0) z[i] = r[i] / rho_;
    });
  }
  bool is_linear() const override { return free_.is_linear(); }
  bool is_symmetric() const override { return free_.is_symmetric(); }

 private:
  linalg::MaskedInverse& free_;
  linalg::RowFlags penalized_;
  double rho_;
};

}  // namespace

PolicyIteration::PolicyIteration(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options)
    : inverse_(std::move(inverse)), options_(options) {}

LcpSummary PolicyIteration::solve(linalg::Vector p, const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem_->a;
  LcpRecorder recorder(*problem_, p, options);
  double residual = recorder.record();
  if (residual <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    if (!inverse_->set_matrix(a)) return recorder.failed(not_definite);
  }
  std::vector<std::uint8_t> policy = first_policy(*problem_, p, recorder.w(), options);
  std::vector<double> right(p.size());
  std::vector<double> change(p.size());
  InnerTolerance inner(options.tolerance, options_.forcing);
  const linalg::LinearOperator masked = [&](linalg::ConstVector x, linalg::Vector y) {
    linalg::multiply(a, x, y);
    parallel_for(y.size(), grain, [&](std::size_t i) {
      if (policy[i] != 0) y[i] = 0;
    });
  };
  while (recorder.iterations() < limit_of(options) &&
         recorder.inner_iterations() < options.max_inner_iterations) {
    {
      const ScopedTimer timer(recorder.setup());
      if (!inverse_->set_fixed(policy)) return recorder.failed(not_definite);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (policy[i] != 0) p[i] = 0;
    }
    linalg::multiply(a, p, right);
    parallel_for(p.size(), grain,
                 [&](std::size_t i) { right[i] = policy[i] != 0 ? 0 : -problem_->b[i] - right[i]; });
    const double tolerance = inner.next(residual);
    const linalg::CgSummary solved =
        cg_.solve(masked, *inverse_, right, change, cg_options(tolerance, options, recorder));
    linalg::combine(1, change, 1, p);
    recorder.count_iteration();
    recorder.count_inner(solved.iterations);
    residual = recorder.record();
    if (residual <= options.tolerance) return recorder.converged();
    if (!std::isfinite(residual))
      return recorder.failed("a linear solve broke down: the residual is not a number");
    policy = policy_at(*problem_, p, recorder.w());
  }
  return recorder.out_of_iterations(recorder.iterations());
}

PenaltyMethod::PenaltyMethod(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options)
    : inverse_(std::move(inverse)), options_(options) {}

LcpSummary PenaltyMethod::solve(linalg::Vector p, const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem_->a;
  const double rho = 1e3 / options.tolerance;
  LcpRecorder recorder(*problem_, p, options);
  double residual = recorder.record();
  if (residual <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    if (!inverse_->set_matrix(a)) return recorder.failed(not_definite);
  }
  std::vector<std::uint8_t> penalized = first_policy(*problem_, p, recorder.w(), options);
  std::vector<double> right(p.size());
  std::vector<double> change(p.size());
  InnerTolerance inner(options.tolerance, options_.forcing);
  PenalizedInverse inverse(*inverse_, penalized, rho);
  const linalg::LinearOperator matrix = [&](linalg::ConstVector x, linalg::Vector y) {
    linalg::multiply(a, x, y);
    parallel_for(y.size(), grain, [&](std::size_t i) {
      if (penalized[i] != 0) y[i] += rho * x[i];
    });
  };
  while (recorder.iterations() < limit_of(options) &&
         recorder.inner_iterations() < options.max_inner_iterations) {
    {
      const ScopedTimer timer(recorder.setup());
      if (!inverse_->set_fixed(penalized)) return recorder.failed(not_definite);
    }
    // A penalised row's equation is solved for p_i at once: starting from its old value would make the first
    // residual ρ times that value.
    linalg::multiply(a, p, right);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (penalized[i] != 0) p[i] = -(problem_->b[i] + right[i]) / rho;
    }
    matrix(p, right);
    parallel_for(p.size(), grain, [&](std::size_t i) { right[i] = -problem_->b[i] - right[i]; });
    const double tolerance = inner.next(residual);
    const linalg::CgSummary solved =
        cg_.solve(matrix, inverse, right, change, cg_options(tolerance, options, recorder));
    linalg::combine(1, change, 1, p);
    recorder.count_iteration();
    recorder.count_inner(solved.iterations);
    residual = recorder.record();
    if (residual <= options.tolerance) return recorder.converged();
    if (!std::isfinite(residual))
      return recorder.failed("a linear solve broke down: the residual is not a number");
    for (std::size_t i = 0; i < p.size(); ++i) penalized[i] = problem_->bounded[i] != 0 && p[i] < 0;
  }
  return recorder.out_of_iterations(recorder.iterations());
}

LinearSolve::LinearSolve(std::unique_ptr<linalg::MaskedInverse> inverse) : inverse_(std::move(inverse)) {}

LcpSummary LinearSolve::solve(linalg::Vector p, const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem_->a;
  LcpRecorder recorder(*problem_, p, options, true);
  if (recorder.record() <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    if (!inverse_->set_matrix(a)) return recorder.failed(not_definite);
  }
  std::vector<double> right(p.size());
  std::vector<double> change(p.size());
  // Once is enough but for rounding: CG's own residual drifts from the true one.
  constexpr int restarts = 5;
  while (recorder.iterations() < restarts && recorder.inner_iterations() < options.max_inner_iterations) {
    linalg::combine(-1, recorder.w(), 0, right);
    const linalg::CgSummary solved =
        cg_.solve([&](linalg::ConstVector x, linalg::Vector y) { linalg::multiply(a, x, y); }, *inverse_,
                  right, change, cg_options(0.9 * options.tolerance, options, recorder));
    linalg::combine(1, change, 1, p);
    recorder.count_iteration();
    recorder.count_inner(solved.iterations);
    if (recorder.record() <= options.tolerance) return recorder.converged();
  }
  return recorder.out_of_iterations(static_cast<int>(recorder.inner_iterations()));
}

}  // namespace lope::optimize::complementarity
