#include <lope/base/random.h>
#include <lope/linalg/space.h>
#include <lope/optimize/check_derivatives.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lope::optimize {
namespace {

// Free blocks move, by up to 1 in every coordinate.
std::vector<double> random_direction(const Objective& objective, std::uint64_t seed, std::uint64_t first) {
  std::vector<double> p(objective.size());
  const auto block = static_cast<std::size_t>(objective.block_size());
  const auto fixed = objective.fixed_blocks();
  for (std::size_t k = 0; k < p.size(); ++k)
    p[k] = !fixed.empty() && fixed[k / block] ? 0 : 2 * random_unit(seed, first + k) - 1;
  return p;
}

// ‖a − b‖ as a part of ‖b‖; 0 where both are.
double relative_distance(const linalg::Space& space, std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  linalg::add_scaled(a, -1, b, difference);
  const double size = space.norm(b), distance = space.norm(difference);
  return distance == 0 ? 0 : distance / size;
}

}  // namespace

double DerivativeErrors::largest() const { return std::max({gradient, hessian, product}); }

DerivativeErrors check_derivatives(Objective& objective, std::span<const double> x, const DerivativeCheck& how) {
  const linalg::Space& space = objective.space();
  const std::size_t n = objective.size();
  const double t = how.step > 0 ? how.step : 1e-6 * objective.scales().length;
  std::vector<double> at(x.begin(), x.end()), trial(n), g(n), behind(n), ahead(n), hp(n), matrix_free(n);
  objective.project(at);
  DerivativeErrors errors;
  const auto see = [&](const std::vector<double>& p, double length, std::vector<double>& gradient) {
    linalg::add_scaled(at, length, p, trial);
    objective.move_to(trial);
    objective.gradient(gradient);
    return objective.value();
  };
  for (int k = 0; k < how.directions; ++k) {
    const std::vector<double> p = random_direction(objective, how.seed, static_cast<std::uint64_t>(k) * n);
    const double rise = (see(p, t, ahead) - see(p, -t, behind)) / (2 * t);
    linalg::combine(-1 / (2 * t), behind, 1 / (2 * t), ahead);
    objective.move_to(at);
    objective.gradient(g);
    const double slope = space.dot(g, p), size = space.norm(g) * space.norm(p);
    if (size > 0) errors.gradient = std::max(errors.gradient, std::abs(rise - slope) / size);
    for (const HessianKind kind : {HessianKind::Projected, HessianKind::Raw}) {
      objective.hessian(kind).multiply(p, hp);
      objective.hessian_times(kind, p, matrix_free);
      errors.product = std::max(errors.product, relative_distance(space, matrix_free, hp));
    }
    errors.hessian = std::max(errors.hessian, relative_distance(space, ahead, hp));
  }
  return errors;
}

}  // namespace lope::optimize
