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

// Rows that separate have p = 0 and leave the system: (ΛAΛ + I − Λ) p = −Λb.
class PolicyRule final : public linalg::LinearInverse {
 public:
  PolicyRule(const MixedLcp& problem, linalg::MaskedInverse& inverse)
      : problem_(problem), inverse_(inverse) {}

  void set_rows(linalg::RowFlags separated) { separated_ = separated; }
  void adjust_start(linalg::Vector p) const { clear_separated(p); }
  // y = A x becomes the product with this rule's matrix.
  void complete_product(linalg::ConstVector, linalg::Vector y) const { clear_separated(y); }
  void complete_right(linalg::Vector right) const { clear_separated(right); }
  std::vector<std::uint8_t> next_rows(linalg::ConstVector p, linalg::ConstVector w) const {
    return policy_at(problem_, p, w);
  }
  void apply(linalg::ConstVector r, linalg::Vector z) override { inverse_.apply(r, z); }
  bool is_linear() const override { return inverse_.is_linear(); }
  bool is_symmetric() const override { return inverse_.is_symmetric(); }

 private:
  void clear_separated(linalg::Vector x) const {
    parallel_for(x.size(), grain, [&](std::size_t i) {
      if (separated_[i] != 0) x[i] = 0;
    });
  }

  const MixedLcp& problem_;
  linalg::MaskedInverse& inverse_;
  linalg::RowFlags separated_;
};

// Rows that separate are penalised: (A + ρΠ) p = −b. The inverse is nearly block diagonal because ρ is large.
class PenaltyRule final : public linalg::LinearInverse {
 public:
  PenaltyRule(const MixedLcp& problem, linalg::MaskedInverse& inverse, double rho)
      : problem_(problem), inverse_(inverse), rho_(rho), w_(problem.size()) {}

  void set_rows(linalg::RowFlags penalized) { penalized_ = penalized; }
  // A penalised row's equation is solved for p_i at once: starting from its old value would make the first
  // residual ρ times that value.
  void adjust_start(linalg::Vector p) {
    linalg::multiply(problem_.a, p, w_);
    for_penalized(p.size(), [&](std::size_t i) { p[i] = -(problem_.b[i] + w_[i]) / rho_; });
  }
  void complete_product(linalg::ConstVector x, linalg::Vector y) const {
    for_penalized(y.size(), [&](std::size_t i) { y[i] += rho_ * x[i]; });
  }
  void complete_right(linalg::Vector) const {}
  std::vector<std::uint8_t> next_rows(linalg::ConstVector p, linalg::ConstVector) const {
    std::vector<std::uint8_t> rows(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) rows[i] = problem_.bounded[i] != 0 && p[i] < 0;
    return rows;
  }
  void apply(linalg::ConstVector r, linalg::Vector z) override {
    inverse_.apply(r, z);
    for_penalized(z.size(), [&](std::size_t i) { z[i] = r[i] / rho_; });
  }
  bool is_linear() const override { return inverse_.is_linear(); }
  bool is_symmetric() const override { return inverse_.is_symmetric(); }

 private:
  template <class Body>
  void for_penalized(std::size_t size, const Body& body) const {
    parallel_for(size, grain, [&](std::size_t i) {
      if (penalized_[i] != 0) body(i);
    });
  }

  const MixedLcp& problem_;
  linalg::MaskedInverse& inverse_;
  double rho_;
  linalg::RowFlags penalized_;
  std::vector<double> w_;
};

// Guesses rows, solves the rule's system for the change of p, guesses again.
template <class Rule>
LcpSummary guess_and_solve(const MixedLcp& problem, linalg::MaskedInverse& inverse,
                           linalg::ConjugateGradient& cg, Rule rule, double forcing, linalg::Vector p,
                           const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem.a;
  LcpRecorder recorder(problem, p, options);
  double residual = recorder.record();
  if (residual <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    if (!inverse.set_matrix(a)) return recorder.failed(not_definite);
  }
  std::vector<std::uint8_t> rows = first_policy(problem, p, recorder.w(), options);
  std::vector<double> right(p.size()), change(p.size());
  InnerTolerance inner(options.tolerance, forcing);
  const linalg::LinearOperator product = [&](linalg::ConstVector x, linalg::Vector y) {
    linalg::multiply(a, x, y);
    rule.complete_product(x, y);
  };
  while (recorder.iterations() < limit_of(options) &&
         recorder.inner_iterations() < options.max_inner_iterations) {
    {
      const ScopedTimer timer(recorder.setup());
      if (!inverse.set_fixed(rows)) return recorder.failed(not_definite);
    }
    rule.set_rows(rows);
    rule.adjust_start(p);
    product(p, right);
    parallel_for(p.size(), grain, [&](std::size_t i) { right[i] = -problem.b[i] - right[i]; });
    rule.complete_right(right);
    const linalg::CgOptions inner_options = cg_options(inner.next(residual), options, recorder);
    recorder.count_inner(cg.solve(problem.space(), product, rule, right, change, inner_options).iterations);
    linalg::combine(1, change, 1, p);
    recorder.count_iteration();
    residual = recorder.record();
    if (residual <= options.tolerance) return recorder.converged();
    if (!std::isfinite(residual))
      return recorder.failed("a linear solve broke down: the residual is not a number");
    rows = rule.next_rows(p, recorder.w());
  }
  return recorder.out_of_iterations(recorder.iterations());
}

}  // namespace

PolicyIteration::PolicyIteration(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options)
    : MaskedLcpSolver(std::move(inverse)), options_(options) {}

LcpSummary PolicyIteration::solve(linalg::Vector p, const LcpOptions& options) {
  return guess_and_solve(problem(), inverse(), cg(), PolicyRule(problem(), inverse()), options_.forcing, p,
                         options);
}

PenaltyMethod::PenaltyMethod(std::unique_ptr<linalg::MaskedInverse> inverse, const PolicyOptions& options)
    : MaskedLcpSolver(std::move(inverse)), options_(options) {}

LcpSummary PenaltyMethod::solve(linalg::Vector p, const LcpOptions& options) {
  const double rho = 1e3 / options.tolerance;
  return guess_and_solve(problem(), inverse(), cg(), PenaltyRule(problem(), inverse(), rho), options_.forcing,
                         p, options);
}

LinearSolve::LinearSolve(std::unique_ptr<linalg::MaskedInverse> inverse)
    : MaskedLcpSolver(std::move(inverse)) {}

LcpSummary LinearSolve::solve(linalg::Vector p, const LcpOptions& options) {
  const linalg::CsrMatrix& a = problem().a;
  LcpRecorder recorder(problem(), p, options, true);
  if (recorder.record() <= options.tolerance) return recorder.converged();
  {
    const ScopedTimer timer(recorder.setup());
    if (!inverse().set_matrix(a)) return recorder.failed(not_definite);
  }
  std::vector<double> right(p.size());
  std::vector<double> change(p.size());
  // Once is enough but for rounding: CG's own residual drifts from the true one.
  constexpr int restarts = 5;
  while (recorder.iterations() < restarts && recorder.inner_iterations() < options.max_inner_iterations) {
    linalg::combine(-1, recorder.w(), 0, right);
    const auto product = [&](linalg::ConstVector x, linalg::Vector y) { linalg::multiply(a, x, y); };
    const linalg::CgSummary solved =
        cg().solve(problem().space(), product, inverse(), right, change,
                   cg_options(0.9 * options.tolerance, options, recorder));
    linalg::combine(1, change, 1, p);
    recorder.count_iteration();
    recorder.count_inner(solved.iterations);
    if (recorder.record() <= options.tolerance) return recorder.converged();
  }
  return recorder.out_of_iterations(static_cast<int>(recorder.inner_iterations()));
}

}  // namespace lope::optimize::complementarity
