#include <lope/material/registry.h>

#include <array>
#include <cassert>

namespace lope::material {
namespace {

constexpr std::array<DensityEntry, 7> table = {{
    {Density::FixedCorotated, "fixed-corotated", "corotated shear, (J-1)^2 volume term; robust default",
     false},
    {Density::StableNeoHookean, "stable-neo-hookean", "rubber and flesh; smooth and defined everywhere",
     false},
    {Density::NeoHookean, "neo-hookean", "rubber with an infinite barrier against inversion", true},
    {Density::Arap, "arap", "as rigid as possible; no resistance to volume change as such", false},
    {Density::Corotated, "corotated", "corotated linear elasticity", false},
    {Density::StvkHencky, "stvk-hencky", "quadratic in logarithmic strain; metals and sand", true},
    {Density::NeoHookeanExtrapolated, "neo-hookean-extrapolated",
     "neo-Hookean continued smoothly through inversion", false},
}};

}  // namespace

std::span<const DensityEntry> densities() { return table; }

const DensityEntry& entry(Density density) {
  for (const DensityEntry& candidate : table) {
    if (candidate.density == density) return candidate;
  }
  assert(false && "a density without a line in the table");
  return table.front();
}

const DensityEntry* find_density(std::string_view name) {
  for (const DensityEntry& candidate : table) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace lope::material
