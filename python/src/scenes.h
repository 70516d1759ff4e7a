// Scenes as Python sees them: from files, text or dicts.
#pragma once

#include <lope/scene/scene.h>

#include "common.h"

namespace lope::python {

using ScenePtr = std::shared_ptr<const scene::Scene>;

// What Python can say as a value of a scene; `place` says where it stands: scene["body"][0].
scene::Value to_value(const py::handle& object, const std::string& place);
py::object from_value(const scene::Value& value);

}  // namespace lope::python
