// The tables that the translation units of the block kernels export to block_kernels.cpp, by block size − 1. AVX-512 has
// none of its own: blocks are too small for wider vectors.
#pragma once

#include <lope/linalg/block_kernels.h>

namespace lope::linalg {

extern const BlockKernels block_kernels_baseline[3];
extern const BlockKernels block_kernels_avx2[3];

}  // namespace lope::linalg
