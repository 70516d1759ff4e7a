// From validated bodies of kind solid to those of a Model.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/polymorphic.h>
#include <lope/matter/solid/solid.h>
#include <lope/scene/document.h>

#include <vector>

namespace lope::scene {

// Meshes the bodies, chooses the vertices of regions and handles, computes the state at the start.
Expected<std::vector<Polymorphic<matter::Body>>> build_solids(const std::vector<const Value*>& bodies);

}  // namespace lope::scene
