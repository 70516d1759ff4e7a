#include <lope/matter/kernel_isa.h>
#include <lope/matter/liquid/multigrid_kernels_coarse.h>
#include <lope/matter/liquid/multigrid_kernels_finest.h>
#include <lope/matter/liquid/multigrid_kernels_galerkin.h>

namespace lope::matter::multigrid {
namespace {

template <int Dim>
constexpr Kernels<Dim> table = {
    defect<Dim>,      relax<Dim>,           restrict_fine<Dim>,  prolong_fine<Dim>,
    product<Dim>,     clipping<Dim>,        step<Dim>,           collect<Dim>,
    chebyshev<Dim>,   restrict_coarse<Dim>, prolong_coarse<Dim>, galerkin_weights<Dim>,
    galerkin_row<Dim>};

}  // namespace

template <int Dim, Isa isa>
const Kernels<Dim>& compiled_kernels() {
  return table<Dim>;
}
template const Kernels<2>& compiled_kernels<2, kernel_isa>();
template const Kernels<3>& compiled_kernels<3, kernel_isa>();

}  // namespace lope::matter::multigrid
