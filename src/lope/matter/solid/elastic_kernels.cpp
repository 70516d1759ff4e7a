#include <lope/matter/kernel_isa.h>
#include <lope/matter/solid/elastic_kernels_impl.h>

namespace lope::matter::elastic {

template <int d, Isa isa>
const Kernels& compiled_kernels() {
  return KernelsOf<d, pack_width, KernelTag>::table;
}
template const Kernels& compiled_kernels<2, kernel_isa>();
template const Kernels& compiled_kernels<3, kernel_isa>();

}  // namespace lope::matter::elastic
