#include <lope/optimize/gast15.h>
#include <lope/optimize/stopping.h>

#include <algorithm>
#include <cmath>

namespace lope::optimize {

class Gast15::Run final : public DescentRun {
 public:
  Run(Gast15& owner, Objective& objective, std::span<double> x, const MinimizerOptions& options)
      : DescentRun(objective, x, options, owner.work_), my_(owner) {
    for (auto* work : {&my_.right_, &my_.error_}) work->resize(objective.size());
  }

 private:
  Verdict find_direction() override {
    const linalg::BlockMatrix& hessian = assemble();
    const bool definite = newton_step(hessian);
    if (tests_displacement()) {
      direction_is_small();
      if (definite && may_be_last() && estimate(hessian)) return Verdict::Converged;
    }
    make_downhill();
    clamp_length();
    return Verdict::Search;
  }

  LineSearchResult search(const LineSearchStart& from) override {
    // Nodes that slide into a crease are kinks of the path, at which a Wolfe search ends; then the next one.
    if (recorder_.settled()) return line_search().backtrack(objective_, from, {}, trial());
    return line_search().strong_wolfe(objective_, from, {}, trial());
  }

  linalg::Preconditioner& inverse_at_hand() override { return preconditioner(); }
  linalg::Preconditioner& preconditioner() {
    if (my_.gast_.as_printed) return my_.identity_;
    return my_.jacobi_;
  }

  const linalg::BlockMatrix& assemble() {
    const ScopedTimer timer(recorder_.timings().hessian);
    const linalg::BlockMatrix& hessian = objective_.hessian(HessianKind::Raw);
    preconditioner().update(hessian);
    return hessian;
  }

  double linear_tolerance() const {
    if (my_.gast_.as_printed) return std::min(0.5, std::sqrt(std::max(gradient_norm_, tolerance_)));
    return forcing();
  }

  // False where CG met negative curvature.
  bool newton_step(const linalg::BlockMatrix& hessian) {
    const ScopedTimer timer(recorder_.timings().solve);
    linalg::combine(-1, gradient(), 0, my_.right_);
    const auto product = [&](linalg::ConstVector p, linalg::Vector hp) { hessian.multiply(p, hp); };
    const linalg::CgSummary solve = my_.cg_.solve(
        space(), product, preconditioner(), my_.right_, direction(),
        {.relative_tolerance = linear_tolerance(), .max_iterations = options_.max_linear_iterations});
    recorder_.count_solve(solve.iterations);
    return !solve.negative_curvature;
  }

  // A trustworthy estimate is a better direction, too.
  bool estimate(const linalg::BlockMatrix& hessian) {
    const ScopedTimer timer(recorder_.timings().solve);
    const DisplacementEstimate e = estimate_displacement(space(), hessian, preconditioner(), my_.cg_, gradient(),
                                                         my_.error_, options_.max_linear_iterations);
    recorder_.count_solve(e.iterations);
    if (!e.trustworthy) return false;
    linalg::combine(-1, my_.error_, 0, direction());
    return direction_is_small();
  }

  // OPT §3.1 "Downhill direction": Δx, else −Δx, else steepest descent. For a CG iterate x·b = xᵀHx, and
  // √(bᵀM⁻¹b) √(xᵀHx) takes the place of the paper's ‖Δx‖‖∇E‖.
  void make_downhill() {
    preconditioner().apply(gradient(), my_.error_);
    const double slope = space().dot(direction(), gradient());
    const double steepest = space().dot(gradient(), my_.error_);
    const double enough = my_.gast_.as_printed ? 1e-2 * space().norm(direction()) * gradient_norm_
                                               : 1e-4 * std::sqrt(std::abs(slope) * steepest);
    if (slope > 0 && slope >= enough) {
      linalg::combine(-1, direction(), 0, direction());
    } else if (!(slope < -enough)) {
      linalg::combine(-1, my_.error_, 0, direction());
    }
  }

  void clamp_length() {
    const double length = space().norm(direction());
    if (length > my_.gast_.length_clamp) {
      linalg::combine(my_.gast_.length_clamp / length, direction(), 0, direction());
    }
  }

  Gast15& my_;
};

MinimizerSummary Gast15::minimize(Objective& objective, std::span<double> x,
                                  const MinimizerOptions& options) {
  return Run(*this, objective, x, options).minimize();
}

}  // namespace lope::optimize
