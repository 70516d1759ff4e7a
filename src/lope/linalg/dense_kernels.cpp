#include <lope/linalg/dense_kernels.h>
#include <lope/linalg/dense_kernels_tables.h>

#include <cassert>

namespace lope::linalg {
namespace {

const DenseKernelTables& tables(Isa isa) {
  assert(cpu_supports(isa));
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return dense_kernels_avx512;
  if (isa == Isa::Avx2) return dense_kernels_avx2;
#endif
  return dense_kernels_baseline;
}

}  // namespace

template <>
const DenseKernels<double>& dense_kernels(Isa isa) {
  return *tables(isa).in_double;
}
template <>
const DenseKernels<float>& dense_kernels(Isa isa) {
  return *tables(isa).in_float;
}

}  // namespace lope::linalg
