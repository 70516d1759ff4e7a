// How much memory this process has used.
#pragma once

namespace lope {

// Largest resident size so far, in bytes (0 where the system does not tell).
double peak_memory();

}  // namespace lope
