#include <lope/scene/kinds/mpm_presets.h>
#include <lope/scene/presets.h>

#include <algorithm>
#include <numbers>

namespace lope::scene {

const std::vector<PointPreset>& point_presets() {
  using material::Density;
  using material::Flow;
  constexpr double degree = std::numbers::pi / 180;
  static const std::vector<PointPreset> presets{
      {"soft", Density::FixedCorotated, 2e5, 0.33, 2000, {}, "the soft parts of HOT's boxes and boards; HOT Table 2"},
      {"tissue", Density::FixedCorotated, 5e4, 0.45, 900, {}, "within HOT Table 1"},
      {"pvc", Density::FixedCorotated, 3e9, 0.35, 1400, {.flow = Flow::VonMises, .yield = 2.5e7}, "within HOT Table 1"},
      {"ceramic", Density::FixedCorotated, 2e11, 0.25, 4000, {}, "within HOT Table 1; it does not break"},
      {"aluminium", Density::FixedCorotated, 6.9e10, 0.33, 2700, {.flow = Flow::VonMises, .yield = 2.4e8}, "HOT Table 2"},
      {"steel", Density::FixedCorotated, 2e11, 0.29, 7850, {.flow = Flow::VonMises, .yield = 2.5e8},
       "mild structural steel; Gere & Goodno, Mechanics of Materials, app. I"},
      // What flows far has the elasticity whose flow can be part of a step (material/yielding_hencky.h); below yield they are the same.
      {"sauce", Density::StvkHencky, 2.1e5, 0.33, 2700, {.flow = Flow::VonMises, .yield = 720}, "HOT Table 2"},
      {"clay", Density::StvkHencky, 1e6, 0.4, 1800, {.flow = Flow::Bingham, .yield = 5e3, .viscosity = 500},
       "soft modelling clay; order of magnitude"},
      {"snow", Density::FixedCorotated, 1.4e5, 0.2, 400,
       {.flow = Flow::Snow, .compression = 0.025, .stretch = 0.0075, .hardening = 10}, "Stomakhin et al. 2013, Table 2"},
      {"sand", Density::StvkHencky, 3.537e5, 0.3, 2200, {.flow = Flow::DruckerPrager, .friction_angle = 35 * degree},
       "Klár et al. 2016, Table 1, with a constant friction angle of dry sand"},
  };
  return presets;
}

const PointPreset* find_point_preset(std::string_view name) {
  const auto& all = point_presets();
  const auto at = std::find_if(all.begin(), all.end(), [&](const PointPreset& preset) { return preset.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> point_preset_names() {
  std::vector<std::string> names;
  for (const PointPreset& preset : point_presets()) names.emplace_back(preset.name);
  for (const MaterialPreset& preset : material_presets()) {
    if (!find_point_preset(preset.name)) names.emplace_back(preset.name);
  }
  return names;
}

}  // namespace lope::scene
