#include <lope/scene/presets.h>

namespace lope::scene {

const std::vector<MaterialPreset>& material_presets() {
  // Mid-range values at room temperature and small strain. Rubbers, gels and tissues are nearly
  // incompressible (ν → 0.5); their ν is kept below the value at which linear elements lock hopelessly, the
  // bulk modulus is accordingly too small. Wood and bone are anisotropic in nature: the values are those
  // along the grain.
  static const std::vector<MaterialPreset> presets{
      {"steel", 200e9, 0.29, 7850, "structural steel; Gere & Goodno, Mechanics of Materials, app. I"},
      {"aluminium", 69e9, 0.33, 2700, "Gere & Goodno, Mechanics of Materials, app. I"},
      {"copper", 117e9, 0.34, 8960, "Gere & Goodno, Mechanics of Materials, app. I"},
      {"titanium", 110e9, 0.33, 4500, "Gere & Goodno, Mechanics of Materials, app. I"},
      {"glass", 70e9, 0.22, 2500, "soda-lime glass; Ashby, Materials Selection in Mechanical Design, app. A"},
      {"concrete", 30e9, 0.2, 2400, "Gere & Goodno, Mechanics of Materials, app. I"},
      {"wood", 11e9, 0.35, 700, "oak along the grain; USDA Forest Products Laboratory, Wood Handbook, ch. 5"},
      {"bone", 18e9, 0.3, 1900, "cortical bone, longitudinal; Reilly & Burstein 1975"},
      {"nylon", 2.7e9, 0.39, 1140, "PA 6, dry; Ashby, Materials Selection in Mechanical Design, app. A"},
      {"polyethylene", 0.2e9, 0.45, 920, "LDPE; Ashby, Materials Selection in Mechanical Design, app. A"},
      {"cork", 15e6, 0.05, 170, "Gibson, Easterling & Ashby 1981, The structure and mechanics of cork"},
      {"rubber", 2e6, 0.48, 950, "vulcanised natural rubber; Treloar, The Physics of Rubber Elasticity"},
      {"soft-rubber", 0.5e6, 0.47, 1000, "Shore A 10 to 15, by Gent's 1958 relation of hardness and E"},
      {"silicone", 0.1e6, 0.47, 1070, "platinum-cured silicone, Shore 00-30; manufacturers' data sheets"},
      {"elastomer", 1e5, 0.4, 1000,
       "the standard material of DOT and of the scenes here: soft, compressible"},
      {"foam", 6e4, 0.3, 40, "flexible polyurethane foam; Gibson & Ashby, Cellular Solids, ch. 5"},
      {"gelatine", 1e5, 0.45, 1060, "ballistic gelatine, 10 %; Cronin & Falzon 2011"},
      {"jelly", 5e3, 0.45, 1020,
       "weak gelatine gel, as in a dessert; range of Hall et al. 1997, Phantom materials for elastography"},
      {"flesh", 2.5e4, 0.45, 1060, "relaxed skeletal muscle, of which 10 to 60 kPa are reported"},
      {"fat", 3e3, 0.45, 920, "breast adipose tissue; Samani, Zubovits & Plewes 2007"},
      {"liver", 5e3, 0.45, 1060, "healthy human liver by transient elastography; Sandrin et al. 2003"},
  };
  return presets;
}

const MaterialPreset* find_preset(std::string_view name) {
  for (const MaterialPreset& preset : material_presets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

}  // namespace lope::scene
