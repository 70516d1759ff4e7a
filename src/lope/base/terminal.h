// Whether somebody is watching.
#pragma once

#include <cstdio>

namespace lope {

// True if the stream is a terminal that can redraw a line.
bool is_terminal(std::FILE* stream);

}  // namespace lope
