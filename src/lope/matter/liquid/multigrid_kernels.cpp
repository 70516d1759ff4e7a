#include <lope/base/cpu.h>
#include <lope/matter/liquid/multigrid_kernels.h>
#include <lope/matter/liquid/multigrid_kernels_tables.h>

namespace lope::matter::multigrid {
namespace {

// A row is eight single-precision numbers: wider vectors than AVX2's would not be filled.
bool use_avx2() {
#if defined(__x86_64__)
  return cpu_supports(Isa::Avx2);
#else
  return false;
#endif
}

}  // namespace

template <>
const Kernels<2>& kernels(bool portable) {
#if defined(__x86_64__)
  if (!portable && use_avx2()) return plane_kernels_avx2;
#endif
  return plane_kernels_baseline;
}
template <>
const Kernels<3>& kernels(bool portable) {
#if defined(__x86_64__)
  if (!portable && use_avx2()) return space_kernels_avx2;
#endif
  return space_kernels_baseline;
}

}  // namespace lope::matter::multigrid
