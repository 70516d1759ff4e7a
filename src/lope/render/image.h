// The image that every part of this room draws into.
#pragma once

#include <lope/io/png.h>

namespace lope::render {

using io::Image;

}  // namespace lope::render
