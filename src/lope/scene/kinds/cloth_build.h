// From validated bodies of kind cloth to those of a Model.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/polymorphic.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/scene/document.h>
#include <lope/step/model.h>

#include <vector>

namespace lope::scene {

// Cloth meets bodies and surfaces where the world has barriers.
Expected<std::vector<Polymorphic<matter::Body>>> build_cloths(const std::vector<const Value*>& bodies, const step::Model& world);

// kg.
double mass_of(const matter::ClothBody& body);

}  // namespace lope::scene
