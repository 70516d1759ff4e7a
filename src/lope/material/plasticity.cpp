#include <lope/material/evaluate.h>
#include <lope/material/plasticity.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace lope::material {
namespace {

constexpr std::array<FlowEntry, 5> table = {{
    {Flow::None, "none", "elastic"},
    {Flow::VonMises, "von-mises", "metals: flows where von Mises' stress exceeds the yield stress"},
    {Flow::Bingham, "bingham", "sauces, clay: as von-mises, with a viscosity"},
    {Flow::Snow, "snow", "stretches are clamped, and flow hardens or softens"},
    {Flow::DruckerPrager, "sand", "Drucker–Prager: friction between grains, no tension"},
}};

// Stretches below this are not those of matter any more: logarithms are taken of it.
constexpr double least_stretch = 1e-6;
constexpr double largest_hardening = 5;  // of the exponent

template <int d>
Vec<d> logarithms(const Vec<d>& sigma) {
  return sigma.cwiseMax(least_stretch).array().log().matrix();
}

// Along ε(t) = mean + t dev ε to where q is `wanted`; q at t = 1 is larger.
template <int d>
double radial_return(const Parameters& elastic, const Vec<d>& mean, const Vec<d>& deviator, double q, double wanted) {
  if (elastic.density == Density::StvkHencky) return wanted / q;
  const auto stress_at = [&](double t) {
    return equivalent_stress<d>(elastic, (mean + t * deviator).array().exp().matrix());
  };
  double low = 0, high = 1;
  for (int k = 0; k < 100 && high - low > 1e-15 * high; ++k) {
    const double middle = 0.5 * (low + high);
    (stress_at(middle) <= wanted ? low : high) = middle;
  }
  return low;
}

// The part of the excess over the yield stress that a step leaves.
double left_of_excess(const Parameters& elastic, const Plasticity& plasticity, double h) {
  if (plasticity.flow != Flow::Bingham || !(plasticity.viscosity > 0)) return 0;
  return 1 / (1 + 3 * elastic.mu * h / plasticity.viscosity);
}

template <int d>
Vec<d> flow_of_metal(const Parameters& elastic, const Plasticity& plasticity, const Vec<d>& sigma, double h,
                     double& variable) {
  const double q = equivalent_stress<d>(elastic, sigma.cwiseMax(least_stretch));
  if (!(q > plasticity.yield)) return sigma;
  const double wanted = plasticity.yield + left_of_excess(elastic, plasticity, h) * (q - plasticity.yield);
  const Vec<d> strain = logarithms<d>(sigma), mean = Vec<d>::Constant(strain.mean());
  const Vec<d> deviator = strain - mean;
  const double t = radial_return<d>(elastic, mean, deviator, q, wanted);
  variable += std::sqrt(2.0 / 3.0) * (1 - t) * deviator.norm();
  return (mean + t * deviator).array().exp().matrix();
}

template <int d>
Vec<d> flow_of_snow(const Plasticity& plasticity, const Vec<d>& sigma, double& variable) {
  const Vec<d> kept = sigma.cwiseMax(1 - plasticity.compression).cwiseMin(1 + plasticity.stretch);
  const double before = sigma.cwiseMax(least_stretch).prod(), after = kept.prod();
  variable *= before / after;
  return kept;
}

// Drucker–Prager: the largest |dev ε| at this trace of the strain.
template <int d>
double sand_yield(const Parameters& elastic, const Plasticity& plasticity, double trace) {
  if (!(trace < 0)) return 0;
  const double sine = std::sin(plasticity.friction_angle);
  const double alpha = std::sqrt(2.0 / 3.0) * 2 * sine / (3 - sine);
  return -alpha * (d * elastic.lambda + 2 * elastic.mu) / (2 * elastic.mu) * trace;
}

template <int d>
Vec<d> flow_of_sand(const Parameters& elastic, const Plasticity& plasticity, const Vec<d>& sigma, double& variable) {
  const Vec<d> trial = logarithms<d>(sigma);
  const Vec<d> strain = trial + Vec<d>::Constant(variable / d);
  const double trace = strain.sum();
  const Vec<d> deviator = strain - Vec<d>::Constant(trace / d);
  const double size = deviator.norm();
  if (trace >= 0) {
    variable = trace;
    return Vec<d>::Ones();
  }
  variable = 0;
  const double allowed = sand_yield<d>(elastic, plasticity, trace);
  const Vec<d> kept = size > allowed ? Vec<d>(Vec<d>::Constant(trace / d) + allowed / size * deviator) : strain;
  return kept.array().exp().matrix();
}

}  // namespace

std::span<const FlowEntry> flows() { return table; }

const FlowEntry* find_flow(std::string_view name) {
  const auto* at = std::find_if(table.begin(), table.end(), [&](const FlowEntry& entry) { return entry.name == name; });
  return at == table.end() ? nullptr : at;
}

double initial_plastic_variable(const Plasticity& plasticity) { return plasticity.flow == Flow::Snow ? 1 : 0; }

Parameters hardened(const Parameters& elastic, const Plasticity& plasticity, double variable) {
  if (plasticity.flow != Flow::Snow) return elastic;
  const double exponent = std::clamp(plasticity.hardening * (1 - variable), -largest_hardening, largest_hardening);
  const double factor = std::exp(exponent);
  return {elastic.density, factor * elastic.mu, factor * elastic.lambda};
}

template <int d>
double equivalent_stress(const Parameters& elastic, const Vec<d>& sigma) {
  const Vec<d> stress = sigma.cwiseProduct(principal_stress<d>(elastic, sigma));
  return std::sqrt(1.5) * (stress - Vec<d>::Constant(stress.mean())).norm();
}

template <int d>
Vec<d> flow(const Parameters& elastic, const Plasticity& plasticity, const Vec<d>& sigma, double h, double& variable) {
  switch (plasticity.flow) {
    case Flow::None:
      return sigma;
    case Flow::VonMises:
    case Flow::Bingham:
      return flow_of_metal<d>(elastic, plasticity, sigma, h, variable);
    case Flow::Snow:
      return flow_of_snow<d>(plasticity, sigma, variable);
    case Flow::DruckerPrager:
      assert(elastic.density == Density::StvkHencky);
      return flow_of_sand<d>(elastic, plasticity, sigma, variable);
  }
  return sigma;
}

bool has_potential(const Parameters& elastic, const Plasticity& plasticity) {
  return elastic.density == Density::StvkHencky && plasticity.flow != Flow::None && plasticity.flow != Flow::Snow;
}

bool is_lagged(const Plasticity& plasticity) { return plasticity.flow == Flow::DruckerPrager; }

template <int d>
Yielding yielding(const Parameters& elastic, const Plasticity& plasticity, double trace, double h, double variable) {
  assert(has_potential(elastic, plasticity));
  if (plasticity.flow == Flow::DruckerPrager)
    return {sand_yield<d>(elastic, plasticity, trace + variable), 0, variable, 0};
  // q = √(3/2) 2μ |dev ε|.
  return {plasticity.yield / (std::sqrt(6.0) * elastic.mu), left_of_excess(elastic, plasticity, h), 0, 1};
}

template Yielding yielding<2>(const Parameters&, const Plasticity&, double, double, double);
template Yielding yielding<3>(const Parameters&, const Plasticity&, double, double, double);
template double equivalent_stress<2>(const Parameters&, const Vec2&);
template double equivalent_stress<3>(const Parameters&, const Vec3&);
template Vec2 flow<2>(const Parameters&, const Plasticity&, const Vec2&, double, double&);
template Vec3 flow<3>(const Parameters&, const Plasticity&, const Vec3&, double, double&);

}  // namespace lope::material
