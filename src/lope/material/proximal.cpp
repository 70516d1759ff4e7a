#include <lope/material/dispatch.h>
#include <lope/material/proximal.h>
#include <lope/material/registry.h>
#include <lope/math/decompositions.h>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace lope::material {
namespace {

constexpr int most_iterations = 40, most_halvings = 30;
constexpr double smallest_start = 0.05;  // a stretch that a density with a logarithm starts from

// −H⁻¹g; where H is not positive definite its eigenvalues are replaced by their magnitudes, at least `least`.
// Out of line, so that it is compiled once and not for every density.
template <int d>
[[gnu::noinline]] Vec<d> newton_direction(const Mat<d>& H, const Vec<d>& g, double least) {
  if (const Eigen::LLT<Mat<d>> factor(H); factor.info() == Eigen::Success) return -factor.solve(g);
  const math::SymmetricEigen<d> eigen = math::symmetric_eigen<d>(H);
  const Vec<d> scaled =
      (eigen.vectors.transpose() * g).cwiseQuotient(eigen.values.cwiseAbs().cwiseMax(least));
  return -(eigen.vectors * scaled);
}

template <class Model, int d>
class LocalProblem {
 public:
  LocalProblem(const Parameters& parameters, double weight, const Vec<d>& target)
      : lame_{parameters.mu, parameters.lambda}, weight_(weight), target_(target) {}

  double value(const Vec<d>& sigma) const {
    return Model::template energy<double, d>(lame_, column(sigma)) +
           0.5 * weight_ * (sigma - target_).squaredNorm();
  }

  Vec<d> gradient(const Vec<d>& sigma) const {
    Column<double, d> g;
    Model::template gradient<double, d>(lame_, column(sigma), g);
    Vec<d> result = weight_ * (sigma - target_);
    for (int i = 0; i < d; ++i) result[i] += g[i];
    return result;
  }

  Vec<d> direction(const Vec<d>& sigma, const Vec<d>& g) const {
    StretchHessian<double, d> h;
    Model::template hessian<double, d>(lame_, column(sigma), h);
    Mat<d> H = weight_ * Mat<d>::Identity();
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) H(i, j) += h.stretch(i, j);
    }
    return newton_direction<d>(H, g, 0.1 * weight_);
  }

  Vec<d> minimize(Vec<d> sigma) const {
    double best = value(sigma);
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
      const Vec<d> g = gradient(sigma), step = direction(sigma, g);
      const double slope = g.dot(step);
      if (!(slope < 0) || step.norm() <= 1e-12 * (1 + sigma.norm())) break;
      double length = 1;
      int halvings = 0;
      for (; halvings < most_halvings; ++halvings, length /= 2) {
        const double there = value(sigma + length * step);
        if (there <= best + 1e-4 * length * slope) {
          best = there;
          break;
        }
      }
      if (halvings == most_halvings) break;
      sigma += length * step;
    }
    return sigma;
  }

 private:
  static Column<double, d> column(const Vec<d>& sigma) {
    Column<double, d> c;
    for (int i = 0; i < d; ++i) c[i] = sigma[i];
    return c;
  }
  Lame<double> lame_;
  double weight_;
  const Vec<d>& target_;
};

}  // namespace

template <int d>
Vec<d> proximal_stretches(const Parameters& parameters, double weight, const Vec<d>& target) {
  Vec<d> start = target;
  if (entry(parameters.density).defined_only_for_positive_J) start = start.cwiseMax(smallest_start);
  Vec<d> result = start;
  visit_density(parameters.density, [&](auto model) {
    result = LocalProblem<decltype(model), d>(parameters, weight, target).minimize(start);
  });
  return result;
}

template Vec<2> proximal_stretches<2>(const Parameters&, double, const Vec<2>&);
template Vec<3> proximal_stretches<3>(const Parameters&, double, const Vec<3>&);

}  // namespace lope::material
