// Which energy density, with which constants.
#pragma once

#include <string_view>

namespace lope::material {

enum class Density {
  FixedCorotated,
  StableNeoHookean,
  NeoHookean,
  Arap,
  Corotated,
  StvkHencky,
  NeoHookeanExtrapolated,
};

// Lamé parameters in pascals.
struct Parameters {
  Density density = Density::FixedCorotated;
  double mu = 0;
  double lambda = 0;
};

// From Young's modulus (Pa) and Poisson's ratio; in 2D this is plane strain.
constexpr Parameters from_young_poisson(Density density, double young, double poisson) {
  return {density, young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

}  // namespace lope::material
