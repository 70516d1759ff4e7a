#include <lope/matter/liquid/multigrid_kernels.h>
#include <lope/matter/liquid/multigrid_kernels_tables.h>

namespace lope::matter::multigrid {

// A row is eight single-precision numbers: wider vectors than AVX2's would not be filled.
template <>
const Kernels<2>& kernels([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa != Isa::Baseline) return plane_kernels_avx2;
#endif
  return plane_kernels_baseline;
}
template <>
const Kernels<3>& kernels([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa != Isa::Baseline) return space_kernels_avx2;
#endif
  return space_kernels_baseline;
}

}  // namespace lope::matter::multigrid
