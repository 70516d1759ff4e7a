#include <lope/matter/contact/friction_potential.h>

#include <cmath>
#include <limits>

namespace lope::matter {
namespace {

// f₀, f₀′/s (finite at 0) and f₀″ at s.
double energy(double s, double creep) {
  return s >= creep ? s - creep / 3 : s * s / creep - s * s * s / (3 * creep * creep);
}
double slope_over_slide(double s, double creep) { return s >= creep ? 1 / s : (2 - s / creep) / creep; }
double curvature(double s, double creep) { return s >= creep ? 0 : 2 * (1 - s / creep) / creep; }

}  // namespace

Vec3 FrictionPotential::sum(std::span<const double> x, const FrictionContact& contact) const {
  const auto d = static_cast<std::size_t>(dimension_);
  Vec3 result = Vec3::Zero();
  for (std::size_t k = 0; k < 4; ++k) {
    if (contact.weight[k] == 0) continue;
    for (std::size_t c = 0; c < d; ++c)
      result[static_cast<Eigen::Index>(c)] += contact.weight[k] * x[static_cast<std::size_t>(contact.node[k]) * d + c];
  }
  return result;
}

Vec3 FrictionPotential::slide(std::span<const double> x, const FrictionContact& contact) const {
  const Vec3 way = sum(x, contact) - contact.rest;
  return way - contact.normal.dot(way) * contact.normal;
}

double FrictionPotential::value() {
  double total = 0;
  for (const FrictionContact& contact : contacts_) total += contact.limit * energy(slide(point_, contact).norm(), contact.creep);
  return total;
}

// Rounding of the positions times the forces.
double FrictionPotential::value_noise() {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  double total = 0;
  for (const FrictionContact& contact : contacts_)
    total += 4 * epsilon * contact.limit * (contact.rest.norm() + sum(point_, contact).norm());
  return total;
}

Vec3 FrictionPotential::force(const FrictionContact& contact) const {
  const Vec3 way = slide(point_, contact);
  return -contact.limit * slope_over_slide(way.norm(), contact.creep) * way;
}

double FrictionPotential::loss() const {
  double total = 0;
  for (const FrictionContact& contact : contacts_) total -= force(contact).dot(slide(point_, contact));
  return total;
}

void FrictionPotential::add_gradient(std::span<double> g) {
  const auto d = static_cast<std::size_t>(dimension_);
  for (const FrictionContact& contact : contacts_) {
    const Vec3 f = force(contact);
    for (std::size_t k = 0; k < 4; ++k) {
      if (contact.weight[k] == 0) continue;
      for (std::size_t c = 0; c < d; ++c)
        g[static_cast<std::size_t>(contact.node[k]) * d + c] -= contact.weight[k] * f[static_cast<Eigen::Index>(c)];
    }
  }
}

// Raw: μλ (f₀′/s (Q − t tᵀ) + f₀″ t tᵀ), t the direction of sliding, which is positive semi-definite as it is.
// Projected: μλ f₀′/s Q.
Mat3 FrictionPotential::second_derivative(optimize::HessianKind kind, const FrictionContact& contact) const {
  const Vec3 way = slide(point_, contact);
  const double s = way.norm(), across = slope_over_slide(s, contact.creep);
  Mat3 result = across * (Mat3::Identity() - contact.normal * contact.normal.transpose());
  if (s > 0 && kind == optimize::HessianKind::Raw)
    result += (curvature(s, contact.creep) - across) / (s * s) * way * way.transpose();
  return contact.limit * result;
}

void FrictionPotential::add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) {
  blocks_.begin(hessian);
  for (const FrictionContact& contact : contacts_) {
    const Mat3 local = second_derivative(kind, contact);
    std::array<int, 4> nodes;
    for (std::size_t k = 0; k < 4; ++k) nodes[k] = contact.weight[k] != 0 ? contact.node[k] : -1;
    blocks_.add(nodes, 1, [&](std::size_t i, std::size_t j) -> Mat3 { return contact.weight[i] * contact.weight[j] * local; });
  }
  blocks_.finish();
}

void FrictionPotential::add_hessian_times(optimize::HessianKind kind, std::span<const double> p,
                                          std::span<double> y) {
  const auto d = static_cast<std::size_t>(dimension_);
  for (const FrictionContact& contact : contacts_) {
    const Vec3 product = second_derivative(kind, contact) * sum(p, contact);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t c = 0; c < d && contact.weight[k] != 0; ++c)
        y[static_cast<std::size_t>(contact.node[k]) * d + c] += contact.weight[k] * product[static_cast<Eigen::Index>(c)];
    }
  }
}

}  // namespace lope::matter
