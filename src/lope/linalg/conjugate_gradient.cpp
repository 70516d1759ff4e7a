#include <lope/linalg/conjugate_gradient.h>

#include <cmath>

namespace lope::linalg {

CgSummary ConjugateGradient::solve(const Space& space, const LinearOperator& a, LinearInverse& m, ConstVector b,
                                   Vector x, const CgOptions& options) {
  const std::size_t n = b.size();
  const bool flexible = !(m.is_linear() && m.is_symmetric());
  for (auto* work : {&r_, &z_, &p_, &ap_}) work->resize(n);
  if (flexible) previous_r_.resize(n);

  CgSummary summary;
  fill(x, 0);
  copy(b, r_);
  const auto small = [&] {
    return options.max_norm_tolerance > 0 && space.max_block_norm(r_, 1) <= options.max_norm_tolerance;
  };
  if (small()) {
    summary.converged = true;
    return summary;
  }
  m.apply(r_, z_);
  copy(z_, p_);
  double rz = space.dot(r_, z_);
  const double start = rz;
  if (!(start > 0)) {
    summary.converged = start == 0;
    summary.relative_residual = 0;
    return summary;
  }
  while (summary.iterations < options.max_iterations) {
    a(p_, ap_);
    ++summary.iterations;
    const double curvature = space.dot(p_, ap_);
    if (!(curvature > 0)) {
      summary.negative_curvature = true;
      if (options.follows_negative_curvature && curvature < 0) {
        combine(-rz / curvature, p_, 1, x);
      } else if (summary.iterations == 1) {
        copy(z_, x);
      }
      return summary;
    }
    const double alpha = rz / curvature;
    combine(alpha, p_, 1, x);
    if (flexible) copy(r_, previous_r_);
    combine(-alpha, ap_, 1, r_);
    if (small()) {
      summary.converged = true;
      return summary;
    }
    m.apply(r_, z_);
    const double next = space.dot(r_, z_);
    // Not positive only if M is not: one-sided weights of subdomains, say.
    summary.relative_residual = std::sqrt(std::abs(next) / start);
    const bool done =
        options.monitor
            ? options.monitor({summary.iterations, x, alpha, rz, std::abs(next), summary.relative_residual})
            : options.max_norm_tolerance == 0 && summary.relative_residual <= options.relative_tolerance;
    if (done) {
      summary.converged = true;
      return summary;
    }
    // Fletcher–Reeves for a fixed symmetric M; Polak–Ribière (flexible CG) otherwise.
    const double beta = flexible ? (next - space.dot(z_, previous_r_)) / rz : next / rz;
    combine(1, z_, beta, p_);
    rz = next;
  }
  return summary;
}

}  // namespace lope::linalg
