#include <lope/math/decompositions.h>
#include <lope/math/positive_part.h>

namespace lope::math {

Mat3 positive_part(const Mat3& symmetric) {
  const SymmetricEigen<3> eigen = symmetric_eigen(symmetric);
  return eigen.vectors * eigen.values.cwiseMax(0).asDiagonal() * eigen.vectors.transpose();
}

}  // namespace lope::math
