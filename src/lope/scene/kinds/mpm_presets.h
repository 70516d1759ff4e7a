// Materials of material points by name: those of HOT's Tables 1 and 2 and of the papers on snow and sand. Presets of
// elastic bodies (presets.h) may be used as well.
#pragma once

#include <lope/material/parameters.h>
#include <lope/material/plasticity.h>

#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

struct PointPreset {
  std::string_view name;
  material::Density model;
  double young, poisson, density;
  material::Plasticity plasticity;
  std::string_view source;
};

const std::vector<PointPreset>& point_presets();
const PointPreset* find_point_preset(std::string_view name);
// Those of both tables.
std::vector<std::string> point_preset_names();

}  // namespace lope::scene
