#include <lope/optimize/gast15.h>
#include <lope/optimize/recorder.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lope::optimize {
namespace {

constexpr double in_doubt = 4;  // as in newton.cpp

class Identity final : public linalg::Preconditioner {
 public:
  bool update(const linalg::BlockMatrix&) override { return true; }
  void apply(linalg::ConstVector r, linalg::Vector z) override { linalg::copy(r, z); }
};

}  // namespace

class Gast15::Run {
 public:
  Run(Gast15& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : my_(owner),
        objective_(objective),
        x_(x),
        options_(options),
        tolerance_(resolved_tolerance(options.stopping, objective)),
        recorder_(options, tolerance_) {
    for (auto* work : {&my_.gradient_, &my_.right_, &my_.direction_, &my_.error_, &my_.trial_}) {
      work->resize(objective.size());
    }
  }

  MinimizerSummary minimize() {
    objective_.project(x_);
    evaluate(x_);
    if (!std::isfinite(value_))
      return recorder_.finish(Outcome::Failed, "the energy of the starting point is not finite");
    while (true) {
      objective_.begin_iteration();
      if (test_gradient()) return converged();
      newton_step();
      if (test_displacement()) return converged();
      recorder_.record(value_, gradient_norm_, measure_, x_);
      if (recorder_.iterations() >= options_.max_iterations) {
        return recorder_.finish(Outcome::IterationLimit,
                                fmt::format("not converged after {} iterations", options_.max_iterations));
      }
      make_downhill();
      if (!search())
        return recorder_.finish(Outcome::LineSearchStalled, "no step along the direction lowers the energy");
    }
  }

 private:
  void evaluate(linalg::ConstVector point) {
    const ScopedTimer timer(recorder_.timings().evaluate);
    objective_.move_to(point);
    value_ = objective_.value();
    objective_.gradient(my_.gradient_);
    gradient_norm_ = first_gradient_norm_ = linalg::norm(my_.gradient_);
  }

  bool displacement_test() const { return options_.stopping.test == StoppingTest::Displacement; }

  MinimizerSummary converged() {
    recorder_.record(value_, gradient_norm_, measure_, x_);
    return recorder_.finish(Outcome::Converged, "");
  }

  bool test_gradient() {
    if (gradient_norm_ == 0) {
      measure_ = 0;
      return true;
    }
    if (displacement_test()) return false;
    measure_ = gradient_measure(options_.stopping.test, objective_, my_.gradient_);
    return measure_ <= tolerance_;
  }

  linalg::Preconditioner& preconditioner() {
    if (my_.gast_.precondition) return my_.jacobi_;
    return identity_;
  }

  double forcing() const {
    if (my_.gast_.paper_forcing) return std::min(0.5, std::sqrt(std::max(gradient_norm_, tolerance_)));
    return std::min(0.5, std::sqrt(gradient_norm_ / first_gradient_norm_));
  }

  void newton_step() {
    const linalg::BlockMatrix* hessian = nullptr;
    {
      const ScopedTimer timer(recorder_.timings().hessian);
      hessian = &objective_.hessian(HessianKind::Raw);
      preconditioner().update(*hessian);
    }
    const ScopedTimer timer(recorder_.timings().solve);
    linalg::combine(-1, my_.gradient_, 0, my_.right_);
    const auto product = [&](linalg::ConstVector p, linalg::Vector hp) { hessian->multiply(p, hp); };
    const linalg::CgSummary solve =
        my_.cg_.solve(product, preconditioner(), my_.right_, my_.direction_,
                      {.relative_tolerance = forcing(), .max_iterations = options_.max_linear_iterations});
    recorder_.count_solve(solve.iterations);
    definite_ = !solve.negative_curvature;
  }

  bool test_displacement() {
    if (!displacement_test()) return false;
    measure_ = linalg::max_block_norm(my_.direction_, objective_.block_size());
    if (!definite_ || measure_ > in_doubt * tolerance_) return false;
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e = estimate_displacement(objective_, preconditioner(), my_.cg_, my_.gradient_,
                                                         my_.error_, options_.max_linear_iterations);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy) return false;
    measure_ = e.largest;
    linalg::combine(-1, my_.error_, 0, my_.direction_);
    return measure_ <= tolerance_;
  }

  // OPT §3.1 "Downhill direction": Δx, else −Δx, else steepest descent; then the clamp on its length. For a CG iterate
  // x·b = xᵀHx, and √(bᵀM⁻¹b) √(xᵀHx) takes the place of ‖Δx‖‖∇E‖.
  void make_downhill() {
    preconditioner().apply(my_.gradient_, my_.error_);
    const double slope = linalg::dot(my_.direction_, my_.gradient_);
    const double steepest = linalg::dot(my_.gradient_, my_.error_);
    const double enough = my_.gast_.downhill * std::sqrt(std::abs(slope) * steepest);
    if (slope > 0 && slope >= enough) {
      linalg::combine(-1, my_.direction_, 0, my_.direction_);
    } else if (!(slope < -enough)) {
      linalg::combine(-1, my_.error_, 0, my_.direction_);
    }
    const double length = linalg::norm(my_.direction_);
    if (length > my_.gast_.length_clamp) {
      linalg::combine(my_.gast_.length_clamp / length, my_.direction_, 0, my_.direction_);
    }
  }

  bool search() {
    const ScopedTimer timer(recorder_.timings().evaluate);
    const LineSearchStart from{x_, my_.direction_, value_, linalg::dot(my_.gradient_, my_.direction_)};
    const LineSearchResult found = my_.line_search_.strong_wolfe(objective_, from, {}, my_.trial_);
    if (!found.success) return false;
    recorder_.count_step(found.step, found.evaluations);
    linalg::copy(my_.trial_, x_);
    value_ = found.value;
    objective_.gradient(my_.gradient_);
    gradient_norm_ = linalg::norm(my_.gradient_);
    return std::isfinite(gradient_norm_);
  }

  Gast15& my_;
  Objective& objective_;
  std::span<double> x_;
  const MinimizerOptions& options_;
  double tolerance_;
  Recorder recorder_;
  Identity identity_;
  double value_ = 0, gradient_norm_ = 0, first_gradient_norm_ = 0, measure_ = 0;
  bool definite_ = true;
};

MinimizerSummary Gast15::minimize(Objective& objective, std::span<double> x,
                                  const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

}  // namespace lope::optimize
