#include <lope/math/positive_part.h>

#include <Eigen/Eigenvalues>

namespace lope::math {

Mat3 positive_part(const Mat3& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(symmetric);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
         eigen.eigenvectors().transpose();
}

}  // namespace lope::math
