// The dense kernels for AVX2 and FMA: 12 accumulators of 16 registers.
#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/dense_kernels_tables.h>

namespace lope::linalg {
namespace {
constexpr int vector_bytes = 32;
constexpr int sliver_vectors = 3;
constexpr int tile_columns = 4;
}  // namespace
}  // namespace lope::linalg

#include <lope/linalg/dense_kernels_body.h>

namespace lope::linalg {
const DenseKernelTables dense_kernels_avx2 = {&Kernels<double>::table, &Kernels<float>::table};
}  // namespace lope::linalg
