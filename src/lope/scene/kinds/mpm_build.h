// From the [mpm] table, the bodies of material points and the obstacles of a resolved scene to the material points of a
// Model: one set of particles on one grid.
#pragma once

#include <lope/base/expected.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/scene/kind.h>

namespace lope::scene {

// `duration`: of the run, seconds. Fails where a shape cannot be read or has no end, where a handle chooses nothing or what another one
// holds, or where the cells are so small that what they need does not fit into
// this machine.
Expected<matter::MpmBody> build_mpm(const Value& root, double duration);

// What `lope check` says of them.
void check_mpm(const Kind& kind, Checking& checking);

}  // namespace lope::scene
