// What the processor can do, asked at run time: one program runs everywhere and uses the widest vectors it
// finds.
#pragma once

#include <span>

namespace lope {

// Instruction sets the batched kernels are compiled for. Baseline is whatever the compiler targets by default
// (SSE2 on x86-64, NEON on 64-bit ARM).
enum class Isa { Baseline, Avx2, Avx512 };

// True where both the processor and the operating system support it and the kernels were compiled for it.
bool cpu_supports(Isa isa);
// Every supported one, narrowest first (never empty).
std::span<const Isa> supported_isas();
// The widest supported one.
Isa best_isa();
const char* name(Isa isa);

}  // namespace lope
