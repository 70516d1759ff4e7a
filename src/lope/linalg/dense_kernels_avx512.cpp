// The dense kernels for AVX-512: 24 accumulators of 32 registers.
#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/dense_kernels_tables.h>

namespace lope::linalg {
namespace {
constexpr int vector_bytes = 64;
constexpr int sliver_vectors = 3;
constexpr int tile_columns = 8;
}  // namespace
}  // namespace lope::linalg

#include <lope/linalg/dense_kernels_body.h>

namespace lope::linalg {
const DenseKernelTables dense_kernels_avx512 = {&Kernels<double>::table, &Kernels<float>::table};
}  // namespace lope::linalg
