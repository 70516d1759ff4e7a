#include <lope/matter/liquid/multigrid_kernels_body.h>
#include <lope/matter/liquid/multigrid_kernels_tables.h>

namespace lope::matter::multigrid {

const Kernels<2>& plane_kernels_baseline = table<2>;
const Kernels<3>& space_kernels_baseline = table<3>;

}  // namespace lope::matter::multigrid
