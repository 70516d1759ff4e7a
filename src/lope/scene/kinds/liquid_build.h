// From the [liquid] table, the bodies of liquid and the emitters of a resolved scene to the liquid of a
// Model.
#pragma once

#include <lope/base/expected.h>
#include <lope/scene/document.h>
#include <lope/matter/liquid/liquid_matter.h>
#include <lope/step/model.h>

#include <vector>

namespace lope::scene {

// `obstacles`: those of the model. The grid begins at the lowest corner of the domain, the container or what
// is full at the start, the first of these that is given and has an end, so that straight walls lie on faces
// of cells where the resolution permits. The default domain holds the ways of all containers over `duration`,
// the sources and emitters, with a margin. Fails where a shape cannot be read, where nothing bounds the
// liquid's size, or where the cells are so small that their number exceeds what a grid can count.
Expected<matter::LiquidBody> build_liquid(const Value& root, const std::vector<step::Obstacle>& obstacles,
                                    double duration);

}  // namespace lope::scene
