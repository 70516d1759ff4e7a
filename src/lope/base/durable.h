// Making written bytes survive a power cut: the operating-system part of atomic file writing (see io/file.h).
#pragma once

#include <cstdio>

namespace lope {

// Hands everything written to `file` to the disk itself. False, with errno set, if the disk refuses (full,
// gone).
bool flush_to_disk(std::FILE* file);

}  // namespace lope
