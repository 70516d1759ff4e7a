// How much memory this process has used, and how much is left.
#pragma once

namespace lope {

// Largest resident size so far, in bytes (0 where the system does not tell).
double peak_memory();

// What the machine has, in bytes (0 where the system does not tell).
double total_memory();

// What can be taken without pushing others out, in bytes (0 where the system does not tell).
double available_memory();

}  // namespace lope
