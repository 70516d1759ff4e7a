#include <lope/matter/cloth/membrane_kernels_impl.h>

namespace lope::matter::membrane {
namespace {
struct BaselineTag {};
}  // namespace

const Kernels& baseline_kernels() { return KernelsOf<2, BaselineTag>::table; }

}  // namespace lope::matter::membrane
