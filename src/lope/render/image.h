// The image that every part of this room draws into: io's, sRGB bytes.
#pragma once

#include <lope/io/png.h>

namespace lope::render {

using Image = io::Image;

}  // namespace lope::render
