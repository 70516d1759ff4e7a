// Level sets made of others: unions, complements (containers), and rigidly moved ones.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/geometry/motion.h>

#include <vector>

namespace lope::geometry {

// φ = min over the parts (the first of equals): the exact distance outside; inside, where parts overlap, the
// depth below the surface of one part, so that closest_point may still be inside another part:
// project_to_free_side goes on. At least one part: asserted.
LevelSetPtr union_of(std::vector<LevelSetPtr> parts);

// φ → −φ: what was free is solid, e.g. the inside of a box becomes the only free place.
LevelSetPtr complement_of(LevelSetPtr inner);

// A level set carried along by a rigid motion: cheap to make, once per time.
LevelSetPtr moved(LevelSetPtr at_rest, const RigidPose& pose);

}  // namespace lope::geometry
