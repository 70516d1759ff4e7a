// Kernels are compiled once per instruction set (kernel_isa.h, CMakeLists.txt) and chosen at run time.
#pragma once

#include <lope/base/cpu.h>

#include <cassert>

namespace lope::matter {

// table.operator()<isa>(), which returns a reference, for the instruction set given. It must be supported.
template <class Table>
decltype(auto) kernels_for([[maybe_unused]] Isa isa, const Table& table) {
  assert(cpu_supports(isa));
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return table.template operator()<Isa::Avx512>();
  if (isa == Isa::Avx2) return table.template operator()<Isa::Avx2>();
#endif
  return table.template operator()<Isa::Baseline>();
}

}  // namespace lope::matter
