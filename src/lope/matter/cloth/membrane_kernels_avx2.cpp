#include <lope/matter/cloth/membrane_kernels_impl.h>

namespace lope::matter::membrane {
namespace {
struct Avx2Tag {};
}  // namespace

const Kernels& avx2_kernels() { return KernelsOf<4, Avx2Tag>::table; }

}  // namespace lope::matter::membrane
