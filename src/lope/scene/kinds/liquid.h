// The liquid of a scene file: [liquid], bodies of kind liquid, [[emitter]].
#pragma once

#include <lope/scene/kind.h>

namespace lope::scene {

const Kind& liquid_kind();

}  // namespace lope::scene
