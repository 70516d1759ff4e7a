// Cloth in scene files.
#pragma once

#include <lope/scene/kind.h>

namespace lope::scene {

const Kind& cloth_kind();

}  // namespace lope::scene
