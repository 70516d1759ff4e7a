#include <lope/matter/cloth/membrane_kernels_impl.h>

namespace lope::matter::membrane {
namespace {
struct Avx512Tag {};
}  // namespace

const Kernels& avx512_kernels() { return KernelsOf<8, Avx512Tag>::table; }

}  // namespace lope::matter::membrane
