// What `lope check` says of liquids.
#pragma once

#include <lope/scene/checking.h>

namespace lope::scene {

void check_liquids(Checking& checking);

// About what a liquid needs at the start.
double liquid_bytes(int dimension, double particles, double cells);

}  // namespace lope::scene
