#include <lope/math/decompositions.h>

#include <type_traits>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace lope::math {

namespace {
// Eigenvalues below this part of the largest count as zero.
constexpr double smallest_part = 1e-15;
// Sizes that are not unrolled share one decomposition without a heap.
constexpr int unrolled = 3, largest = 12;
template <int n>
using Working = std::conditional_t<n <= unrolled, Mat<n>, Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, largest, largest>>;
}  // namespace

template <int n>
SymmetricEigen<n> symmetric_eigen(const Mat<n>& a) {
  static_assert(n <= largest);
  const Eigen::SelfAdjointEigenSolver<Working<n>> eigen{Working<n>(a)};
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}
template SymmetricEigen<1> symmetric_eigen(const Mat<1>&);
template SymmetricEigen<2> symmetric_eigen(const Mat<2>&);
template SymmetricEigen<3> symmetric_eigen(const Mat<3>&);
template SymmetricEigen<5> symmetric_eigen(const Mat<5>&);
template SymmetricEigen<12> symmetric_eigen(const Mat<12>&);

template <int n>
bool invert_definite(const Mat<n>& a, Mat<n>& inverse, double& smallest_pivot) {
  const Eigen::LLT<Mat<n>> cholesky(a);
  if (cholesky.info() != Eigen::Success) return false;
  inverse = cholesky.solve(Mat<n>::Identity());
  smallest_pivot = cholesky.matrixLLT().diagonal().minCoeff();
  return true;
}
template bool invert_definite(const Mat<1>&, Mat<1>&, double&);
template bool invert_definite(const Mat<2>&, Mat<2>&, double&);
template bool invert_definite(const Mat<3>&, Mat<3>&, double&);

Vec3 solve_semidefinite(const Mat3& a, const Vec3& b) {
  const SymmetricEigen<3> eigen = symmetric_eigen(a);
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    if (eigen.values[k] > smallest_part * eigen.values[2]) x += eigen.vectors.col(k).dot(b) / eigen.values[k] * eigen.vectors.col(k);
  }
  return x;
}

Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

}  // namespace lope::math
