// What there is to see of a body (geometry/drawable.h) as arrays.
#pragma once

#include <lope/geometry/drawable.h>

#include "common.h"

namespace lope::python {

// Owns its arrays; each is made when it is asked for and shows them without a copy.
using DrawablePtr = std::shared_ptr<const geometry::Drawable>;

}  // namespace lope::python
