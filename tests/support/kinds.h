// Bodies, states and matter as what they are, for tests that know it.
#pragma once

#include <lope/matter/liquid/liquid_matter.h>
#include <lope/matter/solid/solid.h>
#include <lope/step/simulation.h>

namespace lope::kinds {

inline matter::SolidBody& solid(step::Model& model, std::size_t i = 0) {
  return as<matter::SolidBody>(model.bodies.at(i));
}
inline const matter::SolidBody& solid(const step::Model& model, std::size_t i = 0) {
  return as<matter::SolidBody>(model.bodies.at(i));
}
inline matter::NodalState& nodes(step::State& state, std::size_t i = 0) {
  return as<matter::NodalState>(state.bodies.at(i));
}

// The liquid is the last body of models that have one.
inline bool has_liquid(const step::Model& model) {
  return !model.bodies.empty() && model.bodies.back()->kind() == "liquid";
}
inline matter::LiquidBody& liquid(step::Model& model) { return as<matter::LiquidBody>(model.bodies.back()); }
inline const matter::LiquidBody& liquid(const step::Model& model) {
  return as<matter::LiquidBody>(model.bodies.back());
}
inline const matter::liquid::State& liquid(const step::State& state) {
  return as<matter::LiquidState>(state.bodies.back()).liquid;
}
inline matter::LiquidMatter& liquid_matter(step::Simulation& simulation) {
  return dynamic_cast<matter::LiquidMatter&>(simulation.matter(simulation.model().bodies.size() - 1));
}
inline matter::liquid::GridFields liquid_grid(step::Simulation& simulation) {
  const step::State& state = simulation.state();
  return liquid_matter(simulation).grid(as<matter::LiquidState>(state.bodies.back()), state.time);
}

}  // namespace lope::kinds
