// Decompositions of small dense matrices by Eigen, compiled here once: its templates for them take the compiler seconds in every source
// that uses one.
#pragma once

#include <lope/math/types.h>

namespace lope::math {

// A = V diag(λ) Vᵀ; reads the lower triangle.
template <int n>
struct SymmetricEigen {
  Vec<n> values;  // ascending
  Mat<n> vectors;
};
// n = 1, 2, 3, 5, 12.
template <int n>
SymmetricEigen<n> symmetric_eigen(const Mat<n>& a);

// A⁻¹ of a positive definite matrix, by Cholesky's factorisation; false where it is not positive definite. smallest_pivot: of the
// diagonal of the factor. n = 1, 2, 3.
template <int n>
bool invert_definite(const Mat<n>& a, Mat<n>& inverse, double& smallest_pivot);

// The shortest x with the smallest |A x − b|: of a symmetric positive semi-definite matrix, and of any.
Vec3 solve_semidefinite(const Mat3& a, const Vec3& b);
Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace lope::math
