#include <lope/matter/mpm/kernels_impl.h>

namespace lope::matter::mpm {
namespace {
struct Avx512Tag {};
}  // namespace

template <>
const Kernels& avx512_kernels<2>() {
  return KernelsOf<2, 8, Avx512Tag>::table;
}
template <>
const Kernels& avx512_kernels<3>() {
  return KernelsOf<3, 8, Avx512Tag>::table;
}

}  // namespace lope::matter::mpm
