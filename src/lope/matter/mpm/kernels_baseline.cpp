#include <lope/matter/mpm/kernels_impl.h>

namespace lope::matter::mpm {
namespace {
struct BaselineTag {};
}  // namespace

template <>
const Kernels& baseline_kernels<2>() {
  return KernelsOf<2, 2, BaselineTag>::table;
}
template <>
const Kernels& baseline_kernels<3>() {
  return KernelsOf<3, 2, BaselineTag>::table;
}

}  // namespace lope::matter::mpm
