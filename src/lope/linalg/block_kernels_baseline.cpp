// The block kernels for the compiler's default instruction set (SSE2, NEON).
#include <lope/linalg/block_kernels_body.h>
#include <lope/linalg/block_kernels_tables.h>

namespace lope::linalg {

const BlockKernels block_kernels_baseline[3] = {Loops<1>::table, Loops<2>::table, Loops<3>::table};

}  // namespace lope::linalg
