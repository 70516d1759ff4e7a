#include <lope/linalg/cholesky.h>
#include <lope/linalg/conjugate_gradient.h>
#include <lope/linalg/space.h>
#include <lope/optimize/line_search.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <papers/decomposition.h>

namespace lope::bench {
namespace {

using optimize::Outcome;
using Set = std::vector<int>;

constexpr double in_doubt = 4;  // directions this many accuracies long are worth an estimate

// The principal submatrix on a set of rows, factorised.
class LocalFactor {
 public:
  bool update(const linalg::BlockMatrix& matrix, const Set& rows) {
    const auto b = static_cast<std::size_t>(matrix.block_size());
    if (!local_) {
      const Set sets[] = {rows};
      auto sum = matrix.pattern().direct_sum(sets);
      local_.emplace(sum.pattern, matrix.block_size());
      slots_ = std::move(sum.slot);
    }
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      std::copy_n(matrix.block(slots_[k]), b * b, local_->block(static_cast<std::int64_t>(k)));
    }
    right_.resize(rows.size() * b);
    solution_.resize(right_.size());
    return factor_.update(*local_);
  }
  std::span<double> right() { return right_; }
  const std::vector<double>& solve() {
    factor_.apply(right_, solution_);
    return solution_;
  }

 private:
  std::optional<linalg::BlockMatrix> local_;
  std::vector<std::int64_t> slots_;
  linalg::Cholesky factor_;
  std::vector<double> right_, solution_;
};

void gather(const Set& rows, std::size_t b, std::span<const double> from, std::span<double> to) {
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::copy_n(from.data() + static_cast<std::size_t>(rows[k]) * b, b, to.data() + k * b);
}

// Whether the minimisation is over, for methods that know a gradient and the length of their last movement.
class Test {
 public:
  Test(optimize::Objective& objective, const optimize::MinimizerOptions& options)
      : objective_(objective),
        options_(options),
        tolerance_(optimize::resolved_tolerance(options.stopping, objective)),
        gradient(objective.size()),
        recorder(options),
        error_(objective.size()) {}

  void evaluate(std::span<const double> x) {
    const ScopedTimer timer(recorder.timings().evaluate);
    objective_.move_to(x);
    value = objective_.value();
    objective_.gradient(gradient);
    gradient_norm = linalg::local_space().norm(gradient);
  }

  bool done(double movement) {
    if (optimize::tests_gradient(options_.stopping.test)) {
      measure = optimize::gradient_measure(options_.stopping.test, objective_, gradient);
      return measure <= tolerance_;
    }
    measure = gradient_norm == 0 ? 0 : movement;
    if (measure > in_doubt * tolerance_ || recorder.iterations() < next_estimate_) return gradient_norm == 0;
    const ScopedTimer timer(recorder.timings().solve);
    next_estimate_ = recorder.iterations() + std::max(1, recorder.iterations() / 4);
    jacobi_.update(objective_.hessian(optimize::HessianKind::Projected));
    const auto estimate =
        optimize::estimate_displacement(objective_.space(), objective_.hessian(optimize::HessianKind::Raw),
                                        jacobi_, cg_, gradient, error_, options_.max_linear_iterations);
    recorder.count_solve(estimate.iterations);
    if (!estimate.trustworthy) return false;
    measure = estimate.largest;
    return measure <= tolerance_;
  }

  // Records the iterate; true when it is the last one.
  bool ends(std::span<const double> x, bool done_here, optimize::MinimizerSummary& summary) {
    recorder.record(value, gradient_norm, measure, tolerance_, x);
    if (done_here) {
      summary = recorder.finish(Outcome::Converged, "");
    } else if (recorder.iterations() >= options_.max_iterations) {
      summary = recorder.finish(Outcome::IterationLimit,
                                fmt::format("not converged after {} iterations", options_.max_iterations));
    } else {
      return false;
    }
    return true;
  }

 private:
  optimize::Objective& objective_;
  const optimize::MinimizerOptions& options_;
  double tolerance_;

 public:
  std::vector<double> gradient;
  optimize::Recorder recorder;
  double value = 0, gradient_norm = 0, measure = 0;

 private:
  linalg::BlockJacobi jacobi_;
  linalg::ConjugateGradient cg_;
  std::vector<double> error_;
  int next_estimate_ = 0;
};

class Decomposition final : public optimize::Minimizer {
 public:
  Decomposition(Sweep sweep, int subdomains) : sweep_(sweep), subdomains_(subdomains) {}

  optimize::MinimizerSummary minimize(optimize::Objective& objective, std::span<double> x,
                                      const optimize::MinimizerOptions& options) override {
    Test test(objective, options);
    optimize::MinimizerSummary summary;
    test.evaluate(x);
    if (!take_matrix(objective, test))
      return test.recorder.finish(Outcome::Failed, "a subdomain's matrix is not positive definite");
    std::vector<double> direction(x.size()), trial(x.size());
    while (true) {
      objective.begin_iteration();
      {
        const ScopedTimer timer(test.recorder.timings().solve);
        sweep_ == Sweep::Jacobi ? jacobi(test.gradient, direction) : gauss_seidel(test.gradient, direction);
        test.recorder.count_solve(0);
      }
      if (test.ends(x, test.done(linalg::local_space().max_block_norm(direction, objective.block_size())), summary))
        return summary;
      const ScopedTimer timer(test.recorder.timings().evaluate);
      const optimize::LineSearchStart from{x, direction, test.value, linalg::local_space().dot(test.gradient, direction)};
      if (!(from.slope < 0))
        return test.recorder.finish(Outcome::LineSearchStalled, "the sweep is not a direction of descent");
      const auto found = line_search_.backtrack(objective, from, {}, trial);
      if (!found.success)
        return test.recorder.finish(Outcome::LineSearchStalled,
                                    "no step along the direction lowers the energy");
      test.recorder.count_step(found.step, found.evaluations);
      linalg::copy(trial, x);
      test.value = found.value;
      objective.gradient(test.gradient);
      test.gradient_norm = linalg::local_space().norm(test.gradient);
    }
  }

 private:
  bool take_matrix(optimize::Objective& objective, Test& test) {
    block_ = static_cast<std::size_t>(objective.block_size());
    if (sets_.empty()) {
      sets_ = objective.cover(subdomains_);
      factors_.resize(sets_.size());
      copies_.assign(objective.size() / block_, 0);
      for (const Set& set : sets_) {
        for (const int row : set) ++copies_[static_cast<std::size_t>(row)];
      }
    }
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(test.recorder.timings().hessian);
      hessian = &objective.hessian(optimize::HessianKind::Projected);
    }
    matrix_.emplace(*hessian);
    const ScopedTimer timer(test.recorder.timings().factorize);
    bool good = !sets_.empty();
    for (std::size_t j = 0; j < sets_.size(); ++j) good = factors_[j].update(*matrix_, sets_[j]) && good;
    return good;
  }

  void jacobi(const std::vector<double>& gradient, std::vector<double>& direction) {
    linalg::fill(direction, 0);
    for (std::size_t j = 0; j < sets_.size(); ++j) {
      gather(sets_[j], block_, gradient, factors_[j].right());
      const std::vector<double>& answer = factors_[j].solve();
      for (std::size_t k = 0; k < sets_[j].size(); ++k) {
        const auto row = static_cast<std::size_t>(sets_[j][k]);
        for (std::size_t c = 0; c < block_; ++c)
          direction[row * block_ + c] -= answer[k * block_ + c] / copies_[row];
      }
    }
  }

  // The residual of H d = −g, kept up to date while the subdomains answer one after another.
  void gauss_seidel(const std::vector<double>& gradient, std::vector<double>& direction) {
    linalg::fill(direction, 0);
    residual_.resize(gradient.size());
    linalg::combine(-1, gradient, 0, residual_);
    for (std::size_t j = 0; j < sets_.size(); ++j) {
      gather(sets_[j], block_, residual_, factors_[j].right());
      const std::vector<double>& answer = factors_[j].solve();
      for (std::size_t k = 0; k < sets_[j].size(); ++k)
        add_answer(static_cast<std::size_t>(sets_[j][k]), answer.data() + k * block_, direction);
    }
  }

  void add_answer(std::size_t row, const double* answer, std::vector<double>& direction) {
    for (std::size_t c = 0; c < block_; ++c) direction[row * block_ + c] += answer[c];
    const auto& pattern = matrix_->pattern();
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
      const double* block = matrix_->block(slot);  // of (row, column); (column, row) is its transpose
      double* r = residual_.data() +
                  static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]) * block_;
      for (std::size_t a = 0; a < block_; ++a) {
        for (std::size_t c = 0; c < block_; ++c) r[a] -= block[c * block_ + a] * answer[c];
      }
    }
  }

  Sweep sweep_;
  int subdomains_;
  std::size_t block_ = 0;
  std::vector<Set> sets_;
  std::vector<LocalFactor> factors_;
  std::vector<int> copies_;
  std::optional<linalg::BlockMatrix> matrix_;
  std::vector<double> residual_;
  optimize::LineSearch line_search_;
};

}  // namespace

std::unique_ptr<optimize::Minimizer> make_decomposition(Sweep sweep, int subdomains) {
  return std::make_unique<Decomposition>(sweep, subdomains);
}

}  // namespace lope::bench
