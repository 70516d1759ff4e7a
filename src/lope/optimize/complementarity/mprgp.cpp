#include <lope/base/parallel.h>
#include <lope/optimize/complementarity/mprgp.h>
#include <lope/optimize/complementarity/recorder.h>

#include <utility>

namespace lope::optimize::complementarity {
namespace {

constexpr std::size_t grain = 8192;
constexpr int default_limit = 20000;
// CG steps between evaluations of the true residual when the recursive one does not call for it.
constexpr int steps_between_records = 50;

double largest_row_sum(const MixedLcp& problem) {
  const linalg::CsrMatrix& a = problem.a;
  return problem.space().max(problem.size(), grain, [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        sum += std::abs(a.value[static_cast<std::size_t>(k)]);
      largest = std::max(largest, sum);
    }
    return largest;
  });
}

class Run {
 public:
  Run(const MixedLcp& problem, linalg::MaskedInverse& inverse, linalg::Vector p, const LcpOptions& options,
      LcpRecorder& recorder)
      : problem_(problem),
        inverse_(inverse),
        p_(p),
        options_(options),
        recorder_(recorder),
        g_(p.size()),
        z_(p.size()),
        d_(p.size()),
        ad_(p.size()),
        fixed_(p.size()),
        step_(1.9 / largest_row_sum(problem)) {}

  LcpSummary solve() {
    double residual = evaluate();
    if (residual <= options_.tolerance) return recorder_.converged();
    if (!inverse_is_ready(true)) return not_definite();
    bool restart = true;
    const int limit = options_.max_iterations > 0 ? options_.max_iterations : default_limit;
    while (recorder_.iterations() < limit && recorder_.inner_iterations() < options_.max_inner_iterations) {
      if (!proportional()) {
        proportion();
        recorder_.count_iteration();
        residual = evaluate();
        restart = true;
      } else {
        if (restart) {
          if (!inverse_is_ready(false)) return not_definite();
          begin_directions();
          restart = false;
        }
        if (conjugate_step()) {
          if (small_gradient() || ++steps_ % steps_between_records == 0) residual = evaluate();
        } else {
          recorder_.count_iteration();
          residual = evaluate();
          restart = true;
        }
      }
      if (residual <= options_.tolerance) return recorder_.converged();
      if (!std::isfinite(residual))
        return recorder_.failed("the matrix is not positive definite: the residual is not a number");
    }
    return recorder_.out_of_iterations(recorder_.iterations());
  }

 private:
  LcpSummary not_definite() {
    return recorder_.failed("the matrix is not positive definite on the free rows: no preconditioner");
  }
  bool at_bound(std::size_t i) const { return problem_.bounded[i] != 0 && p_[i] <= 0; }

  // The true gradient in place of the recursive one; the objective there.
  double renew_gradient() {
    linalg::multiply(problem_.a, p_, g_);
    linalg::combine(1, problem_.b, 1, g_);
    return lcp_objective(problem_, p_, g_);
  }
  double evaluate() {
    objective_ = renew_gradient();
    return recorder_.record(g_);
  }

  // Makes the preconditioner that of the current face.
  bool inverse_is_ready(bool first) {
    const ScopedTimer timer(recorder_.setup());
    if (first && !inverse_.set_matrix(problem_.a)) return false;
    bool same = !first;
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const std::uint8_t now = at_bound(i);
      same = same && now == fixed_[i];
      fixed_[i] = now;
    }
    return same || inverse_.set_fixed(fixed_);
  }

  // ‖β‖² ≤ Γ² φ̃ᵀφ with the reduced free gradient φ̃_i = min(p_i/α, φ_i).
  bool proportional() const {
    return problem_.space().sum(p_.size(), grain, [&](std::size_t begin, std::size_t end) {
             double sum = 0;
             for (std::size_t i = begin; i < end; ++i) {
               if (at_bound(i)) {
                 const double chopped = std::min(g_[i], 0.0);
                 sum -= chopped * chopped;
               } else {
                 sum += (problem_.bounded[i] != 0 ? std::min(p_[i] / step_, g_[i]) : g_[i]) * g_[i];
               }
             }
             return sum;
           }) >= 0;
  }

  // Along −β with the exact step: leaves bounds where that lowers the objective.
  void proportion() {
    for (std::size_t i = 0; i < p_.size(); ++i) d_[i] = at_bound(i) ? std::min(g_[i], 0.0) : 0;
    linalg::multiply(problem_.a, d_, ad_);
    const double curvature = problem_.space().dot(d_, ad_);
    if (curvature > 0) linalg::combine(-problem_.space().dot(g_, d_) / curvature, d_, 1, p_);
  }

  void precondition() {
    // The gradient at the bounds is none of the face's business; the inverse ignores it.
    inverse_.apply(g_, z_);
    gz_ = problem_.space().dot(g_, z_);
  }
  void begin_directions() {
    precondition();
    linalg::copy(z_, d_);
  }

  // One step of CG on the face if it is feasible; otherwise an expansion, and false.
  bool conjugate_step() {
    linalg::multiply(problem_.a, d_, ad_);
    recorder_.count_inner(1);
    const double curvature = problem_.space().dot(d_, ad_);
    const double length = gz_ / curvature;
    const double feasible = feasible_length();
    if (!(curvature > 0) || length > feasible) {
      expand(curvature > 0 ? length : feasible, feasible);
      return false;
    }
    linalg::combine(-length, d_, 1, p_);
    linalg::combine(-length, ad_, 1, g_);
    objective_ -= 0.5 * length * gz_;
    const double before = gz_;
    precondition();
    linalg::combine(1, z_, gz_ / before, d_);
    return true;
  }

  // How far p − t d stays feasible.
  double feasible_length() const {
    return -problem_.space().max(p_.size(), grain, [&](std::size_t begin, std::size_t end) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t i = begin; i < end; ++i) {
        if (problem_.bounded[i] != 0 && d_[i] > 0) largest = std::max(largest, -p_[i] / d_[i]);
      }
      return largest;
    });
  }

  // The whole CG step, projected, if that lowers the objective; otherwise to the boundary and a projected
  // gradient step.
  void expand(double length, double feasible) {
    if (!std::isfinite(length)) return;
    start_.assign(p_.begin(), p_.end());
    linalg::combine(-length, d_, 1, p_);
    project();
    if (renew_gradient() < objective_) return;
    linalg::add_scaled(start_, -feasible, d_, p_);
    renew_gradient();
    parallel_for(p_.size(), grain, [&](std::size_t i) {
      if (fixed_[i] == 0) p_[i] -= step_ * g_[i];
    });
    project();
  }

  void project() {
    parallel_for(p_.size(), grain, [&](std::size_t i) {
      if (problem_.bounded[i] != 0) p_[i] = std::max(p_[i], 0.0);
    });
  }

  bool small_gradient() const {
    return problem_.space().max(p_.size(), grain, [&](std::size_t begin, std::size_t end) {
             double largest = 0;
             for (std::size_t i = begin; i < end; ++i) {
               largest = std::max(largest, row_residual(problem_.bounded[i] != 0, p_[i], g_[i]));
             }
             return largest;
           }) <= 0.9 * options_.tolerance;
  }

  const MixedLcp& problem_;
  linalg::MaskedInverse& inverse_;
  linalg::Vector p_;
  const LcpOptions& options_;
  LcpRecorder& recorder_;
  std::vector<double> g_, z_, d_, ad_;
  std::vector<std::uint8_t> fixed_;
  double step_;
  double gz_ = 0;
  double objective_ = 0;
  std::vector<double> start_;
  int steps_ = 0;
};

}  // namespace

Mprgp::Mprgp(std::unique_ptr<linalg::MaskedInverse> inverse) : MaskedLcpSolver(std::move(inverse)) {}

LcpSummary Mprgp::solve(linalg::Vector p, const LcpOptions& options) {
  make_feasible(problem(), p);
  LcpRecorder recorder(problem(), p, options);
  return Run(problem(), inverse(), p, options, recorder).solve();
}

}  // namespace lope::optimize::complementarity
