// Material presets: real materials by name, with rounded literature values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

struct MaterialPreset {
  std::string_view name;
  double young;             // E, Pa
  double poisson;           // ν
  double density;           // ρ, kg/m³
  std::string_view source;  // where the values come from
};

const std::vector<MaterialPreset>& material_presets();

// nullptr for an unknown name.
const MaterialPreset* find_preset(std::string_view name);

}  // namespace lope::scene
