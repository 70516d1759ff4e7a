// The table of energy densities: one line per density. Scenes choose from it by name, tests loop over it.
#pragma once

#include <lope/material/parameters.h>

#include <span>
#include <string_view>

namespace lope::material {

struct DensityEntry {
  Density density;
  std::string_view name;         // as in scene files
  std::string_view description;  // one line
  bool defined_only_for_positive_J;
};

std::span<const DensityEntry> densities();
const DensityEntry& entry(Density density);
// Null if there is no density of that name.
const DensityEntry* find_density(std::string_view name);

}  // namespace lope::material
