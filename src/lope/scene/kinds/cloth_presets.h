// Fabrics by name, with rounded values from the literature.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

struct ClothPreset {
  std::string_view name;
  double weight;              // kg/m²
  double warp, weft;          // stretch stiffness, N/m
  double poisson;             // of the two
  double shear;               // N/m
  double bend_warp, bend_weft;  // bending stiffness, N·m
  std::string_view source;
};

const std::vector<ClothPreset>& cloth_presets();

// nullptr for an unknown name.
const ClothPreset* find_cloth_preset(std::string_view name);

}  // namespace lope::scene
