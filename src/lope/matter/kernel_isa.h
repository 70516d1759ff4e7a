// For the sources that are compiled once per instruction set, and for no others: which one it is this time. CMakeLists.txt
// says so with LOPE_KERNEL_ISA, an enumerator of Isa.
#pragma once

#include <lope/base/cpu.h>

namespace lope::matter {

constexpr Isa kernel_isa = Isa::LOPE_KERNEL_ISA;
constexpr int pack_width = kernel_isa == Isa::Avx512 ? 8 : kernel_isa == Isa::Avx2 ? 4 : 2;  // doubles

namespace {
struct KernelTag {};  // a type of this translation unit alone (math/pack.h)
}  // namespace

}  // namespace lope::matter
