#include <lope/matter/solid/first_root.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace lope::matter {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double at(const Cubic& p, double a) { return ((p[3] * a + p[2]) * a + p[1]) * a + p[0]; }

// Cofactor matrix: d det/dF.
Mat2 cofactors(const Mat2& F) { return (Mat2() << F(1, 1), -F(1, 0), -F(0, 1), F(0, 0)).finished(); }
Mat3 cofactors(const Mat3& F) {
  Mat3 result;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, e = (j + 2) % 3;
      result(i, j) = F(a, c) * F(b, e) - F(a, e) * F(b, c);
    }
  }
  return result;
}

// Real roots of p', ascending, +infinity where there are fewer than two.
std::array<double, 2> turning_points(const Cubic& p) {
  const double a = 3 * p[3], half_b = p[2], c = p[1];  // a α² + 2 half_b α + c
  const double discriminant = half_b * half_b - a * c;
  if (discriminant < 0) return {infinity, infinity};
  const double q = -(half_b + std::copysign(std::sqrt(discriminant), half_b));
  double first = a != 0 ? q / a : infinity, second = q != 0 ? c / q : infinity;
  if (std::isnan(first)) first = infinity;
  if (std::isnan(second)) second = infinity;
  return {std::min(first, second), std::max(first, second)};
}

// The sign change of p in [low, high], p(low) > 0 ≥ p(high): the lower end of a bracket a few roundings wide. The
// bracket may span hundreds of orders of magnitude (a turning point far out), so halvings are counted generously.
double bisect(const Cubic& p, double low, double high) {
  constexpr int halvings = 2200;
  for (int i = 0; i < halvings && high - low > 4e-16 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (at(p, middle) > 0 ? low : high) = middle;
  }
  return low;
}

}  // namespace

template <>
Cubic determinant_along<2>(const Mat2& F, const Mat2& G) {
  return {F.determinant(), cofactors(F).cwiseProduct(G).sum(), G.determinant(), 0};
}
template <>
Cubic determinant_along<3>(const Mat3& F, const Mat3& G) {
  return {F.determinant(), cofactors(F).cwiseProduct(G).sum(), cofactors(G).cwiseProduct(F).sum(),
          G.determinant()};
}

double first_root(const Cubic& p) {
  for (const double coefficient : p) {
    if (!std::isfinite(coefficient)) return 0;
  }
  if (p[0] <= 0) return 0;
  double low = 0;
  for (const double turn : turning_points(p)) {
    if (!(turn > low) || std::isinf(turn)) continue;
    if (at(p, turn) <= 0) return bisect(p, low, turn);
    low = turn;
  }
  // Monotone from here on: there is a root only if the leading coefficient is negative.
  const double leading = p[3] != 0 ? p[3] : p[2] != 0 ? p[2] : p[1];
  if (leading >= 0) return infinity;
  double high = std::max(2 * low, 1e-100);
  while (at(p, high) > 0) {
    low = high;
    high *= 2;
    if (std::isinf(high)) return infinity;
  }
  return bisect(p, low, high);
}

}  // namespace lope::matter
