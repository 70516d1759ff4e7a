#include <lope/matter/mpm/kernels_impl.h>

namespace lope::matter::mpm {
namespace {
struct Avx2Tag {};
}  // namespace

template <>
const Kernels& avx2_kernels<2>() {
  return KernelsOf<2, 4, Avx2Tag>::table;
}
template <>
const Kernels& avx2_kernels<3>() {
  return KernelsOf<3, 4, Avx2Tag>::table;
}

}  // namespace lope::matter::mpm
