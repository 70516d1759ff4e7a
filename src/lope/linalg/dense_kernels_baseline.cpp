// The dense kernels for the compiler's default instruction set (SSE2, NEON).
#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/dense_kernels_tables.h>

namespace lope::linalg {
namespace {
constexpr int vector_bytes = 16;
constexpr int sliver_vectors = 2;
constexpr int tile_columns = 4;
}  // namespace
}  // namespace lope::linalg

#include <lope/linalg/dense_kernels_body.h>

namespace lope::linalg {
const DenseKernelTables dense_kernels_baseline = {&Kernels<double>::table, &Kernels<float>::table};
}  // namespace lope::linalg
