// Elastic bodies in scene files.
#pragma once

#include <lope/scene/kind.h>

namespace lope::scene {

const Kind& solid_kind();

}  // namespace lope::scene
