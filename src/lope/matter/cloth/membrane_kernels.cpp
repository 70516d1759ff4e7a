#include <lope/matter/cloth/membrane_kernels_impl.h>
#include <lope/matter/kernel_isa.h>

namespace lope::matter::membrane {

template <Isa isa>
const Kernels& compiled_kernels() {
  return KernelsOf<pack_width, KernelTag>::table;
}
template const Kernels& compiled_kernels<kernel_isa>();

}  // namespace lope::matter::membrane
