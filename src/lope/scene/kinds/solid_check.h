// What `lope check` says of elastic bodies.
#pragma once

#include <lope/matter/solid/solid.h>
#include <lope/scene/checking.h>

namespace lope::scene {

void check_solids(const Kind& kind, Checking& checking);

// The memory of one body.
MemoryEstimate estimate_memory(const matter::SolidBody& body);

}  // namespace lope::scene
