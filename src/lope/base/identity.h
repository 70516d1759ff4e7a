// Numbers that are different for any two things of one process: what is kept for a thing is keyed by its
// number, never by its size.
#pragma once

#include <cstdint>

namespace lope {

// Positive, and never the same twice.
std::uint64_t new_identity();

}  // namespace lope
