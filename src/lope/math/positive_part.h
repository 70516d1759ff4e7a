// The nearest positive semidefinite matrix to a symmetric one, by Eigen's eigenvalue decomposition. For few matrices at a time:
// many go through math/psd.h in batches.
#pragma once

#include <lope/math/types.h>

namespace lope::math {

// The symmetric matrix with its negative eigenvalues put to 0.
Mat3 positive_part(const Mat3& symmetric);

}  // namespace lope::math
