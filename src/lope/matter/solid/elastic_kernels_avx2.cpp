#include <lope/matter/solid/elastic_kernels_impl.h>

namespace lope::matter::elastic {
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

}  // namespace lope::matter::elastic
