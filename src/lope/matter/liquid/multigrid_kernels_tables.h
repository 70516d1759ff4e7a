// The kernels of each instruction set: an implementation detail of multigrid_kernels.
#pragma once

#include <lope/matter/liquid/multigrid_kernels.h>

namespace lope::matter::multigrid {

extern const Kernels<2>& plane_kernels_baseline;
extern const Kernels<3>& space_kernels_baseline;
extern const Kernels<2>& plane_kernels_avx2;
extern const Kernels<3>& space_kernels_avx2;

}  // namespace lope::matter::multigrid
