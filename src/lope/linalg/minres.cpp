#include <lope/linalg/minres.h>

#include <cmath>

namespace lope::linalg {

// Lanczos vectors v_j with z_j = M⁻¹v_j and γ_j² = z_jᵀv_j; Givens rotations (c, s) turn the tridiagonal matrix of the
// recurrence into a triangular one; η is the size of the residual.
MinresSummary Minres::solve(const Space& space, const LinearOperator& a, Preconditioner& m, ConstVector b, Vector x,
                            const CgOptions& options) {
  const std::size_t n = b.size();
  for (auto* work : {&v_, &previous_v_, &next_v_, &z_, &next_z_, &w_, &previous_w_, &next_w_}) work->assign(n, 0.0);
  MinresSummary summary;
  fill(x, 0);
  copy(b, v_);
  m.apply(v_, z_);
  double gamma = std::sqrt(std::max(space.dot(z_, v_), 0.0)), previous_gamma = 1;
  const double start = gamma;
  if (start == 0) {
    summary.converged = true;
    summary.relative_residual = 0;
    return summary;
  }
  double eta = gamma, c = 1, previous_c = 1, s = 0, previous_s = 0;
  while (summary.iterations < options.max_iterations) {
    ++summary.iterations;
    combine(1 / gamma, z_, 0, z_);
    a(z_, next_v_);
    const double delta = space.dot(next_v_, z_);
    combine(-delta / gamma, v_, 1, next_v_);
    combine(-gamma / previous_gamma, previous_v_, 1, next_v_);
    m.apply(next_v_, next_z_);
    const double next_gamma = std::sqrt(std::max(space.dot(next_z_, next_v_), 0.0));

    const double rotated = c * delta - previous_c * s * gamma;
    const double pivot = std::hypot(rotated, next_gamma);
    const double above = s * delta + previous_c * c * gamma, above_that = previous_s * gamma;
    if (pivot == 0) return summary;  // A is singular on the Krylov space
    previous_c = c;
    previous_s = s;
    c = rotated / pivot;
    s = next_gamma / pivot;

    combine(1, z_, 0, next_w_);
    combine(-above_that, previous_w_, 1, next_w_);
    combine(-above, w_, 1, next_w_);
    combine(1 / pivot, next_w_, 0, next_w_);
    combine(c * eta, next_w_, 1, x);
    eta = -s * eta;
    summary.relative_residual = std::abs(eta) / start;
    if (summary.relative_residual <= options.relative_tolerance) {
      summary.converged = true;
      return summary;
    }
    if (next_gamma == 0) return summary;
    previous_v_.swap(v_);
    v_.swap(next_v_);
    z_.swap(next_z_);
    previous_w_.swap(w_);
    w_.swap(next_w_);
    previous_gamma = gamma;
    gamma = next_gamma;
  }
  return summary;
}

}  // namespace lope::linalg
