#include <lope/linalg/block_kernels.h>
#include <lope/linalg/block_kernels_tables.h>

#include <cassert>

namespace lope::linalg {

const BlockKernels& block_kernels([[maybe_unused]] Isa isa, int block_size) {
  assert(cpu_supports(isa) && block_size >= 1 && block_size <= 3);
#if defined(__x86_64__)
  if (isa != Isa::Baseline) return block_kernels_avx2[block_size - 1];
#endif
  return block_kernels_baseline[block_size - 1];
}

}  // namespace lope::linalg
