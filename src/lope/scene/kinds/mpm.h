// The material points of a scene file: [mpm], bodies of kind mpm, `boundary` of [[obstacle]].
#pragma once

#include <lope/scene/kind.h>

namespace lope::scene {

const Kind& mpm_kind();

}  // namespace lope::scene
