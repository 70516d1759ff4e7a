#include <lope/scene/kinds/cloth_presets.h>

namespace lope::scene {

const std::vector<ClothPreset>& cloth_presets() {
  // Mid-range values of what the Kawabata system (KES-F) measures at small loads, in SI: bending 1 gf·cm²/cm = 98.1 µN·m,
  // shear 1 gf/(cm·deg) = 56 N/m, stretch from the extension under 490 N/m. Fabrics of one name differ by factors of three.
  static const std::vector<ClothPreset> presets{
      {"cotton", 0.15, 6000, 4000, 0.2, 60, 8e-6, 5e-6, "plain-woven shirting; ranges in Hu 2004, ch. 3 to 6"},
      {"denim", 0.40, 12000, 7000, 0.2, 150, 5e-5, 3e-5, "twill of 12 oz; between light denim (15 to 22 µN·m) and raw one"},
      {"silk", 0.06, 4000, 3000, 0.2, 20, 2.5e-6, 2e-6, "habotai to crepe de Chine; ranges in Hu 2004, ch. 3 to 6"},
      {"wool", 0.20, 5000, 3500, 0.25, 40, 1.2e-5, 9e-6, "worsted suiting; the men's suitings of Kawabata 1980"},
      {"jersey", 0.18, 500, 300, 0.4, 50, 4e-6, 2.5e-6, "single-jersey knit, wale and course directions; 20 to 40 % at 490 N/m"},
      {"leather", 0.70, 25000, 20000, 0.35, 6000, 3e-4, 3e-4, "garment leather of 1 mm, E of 20 to 30 MPa"},
  };
  return presets;
}

const ClothPreset* find_cloth_preset(std::string_view name) {
  for (const ClothPreset& preset : cloth_presets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

}  // namespace lope::scene
